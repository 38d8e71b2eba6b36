"""The order of native includes."""

from __future__ import annotations

import pytest

from scripts import check_includes


def test_the_tree_keeps_the_order() -> None:
    assert check_includes.main() == 0


@pytest.mark.parametrize(
    ("file", "header"),
    [
        ("native/kernel/math/math.h", "native/runtime/engine.h"),
        ("native/runtime/session.cc", "native/kernel/check.h"),
        ("native/kernel/gemm/panels.h", "native/ops/add/add_broadcast.h"),
        ("native/ops/add/add_f32_broadcast__portable.cc", "native/runtime/session.h"),
        ("native/kpu/kpu.c", "native/kernel/check.h"),
    ],
)
def test_an_include_against_the_order_is_a_problem(file: str, header: str) -> None:
    (problem,) = check_includes.problems_of(file, f'// Comment.\n#include "{header}"\n')
    assert problem.startswith(f"{file}:2: includes {header}\n")


def test_a_macro_in_front_of_an_include_is_a_problem() -> None:
    text = '#ifndef A_H_\n#define A_H_\n#define LATHE_LANES "4s"\n#include "native/kernel/check.h"\n#endif\n'
    (problem,) = check_includes.problems_of("native/kernel/gemm/a.h", text)
    assert problem.startswith("native/kernel/gemm/a.h:4: includes native/kernel/check.h\n")
    assert "before LATHE_LANES is defined" in problem


def test_includes_in_the_order_are_no_problem() -> None:
    text = '#include "native/kernel/check.h"\n#include "native/runtime/kernel.h"\n#include "lathe/c_api.h"\n'
    assert not list(check_includes.problems_of("native/ops/add/add_f32_broadcast__portable.cc", text))
