"""C that is made of operators' definitions: compiled here, it computes what the NumPy reference computes."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from buildtool import resources
from buildtool.ir.operator import Array
from buildtool.ops.abs import Abs
from buildtool.targets.micro.definitions.definition import functions
from buildtool.targets.micro.definitions.loops import C_TYPES, Function, literal
from buildtool.targets.micro.definitions.tracing import UntraceableError
from tests.ops.case import OpCase, cases_of, operators_with_cases
from tests.targets.micro.boards import WARNINGS

_MOST = 5  # cases of an operator: each second or third of many
#: Operators that decide by the values of their inputs, or make as many elements as the data says.
_WITHOUT = frozenset({"compress", "detection_output", "non_max_suppression", "non_zero", "topk_by_input", "unique"})


def _source(found: Function, name: str) -> list[str]:
    lines = []
    for index, array in enumerate(found.arrays):
        kind = C_TYPES[array.dtype.name]
        content = ", ".join(literal(each, kind) for each in array)
        lines.append(f"static const {kind} {name}_{index}[{array.size}] = {{{content}}};")
    text = found.text.replace("@", name).replace("static void", "void", 1)
    head = text[: text.index("{")].strip()
    return [*lines, f"{head};", text]


def _chosen(operator: str) -> list[OpCase]:
    """Some of each kind, without halves, without integers that C does not compute with, and without empty tensors."""
    cases = [
        case
        for case in cases_of(operator)
        if all(array.size and array.dtype.name in C_TYPES for array in case.inputs)
        and (operator != "bitcast" or case.op.to.numpy.name in C_TYPES)  # type: ignore[attr-defined]
    ]
    return cases[:: max(1, len(cases) // _MOST)][:_MOST] if cases else []


def _expected(case: OpCase) -> Sequence[Array]:
    with np.errstate(all="ignore"):
        return case.op.reference(*case.inputs)


@pytest.mark.slow
@pytest.mark.parametrize("operator", [each for each in operators_with_cases() if each not in _WITHOUT])
def test_definitions_are_computed(operator: str, tmp_path: Path) -> None:
    made: list[tuple[OpCase, int, Function]] = []
    lines = ['#include "definition.h"']
    for case in _chosen(operator):
        about = [
            array if index in case.constants else (array.shape, array.dtype.name)
            for index, array in enumerate(case.inputs)
        ]
        try:
            outputs = functions(case.op, about)
        except UntraceableError as problem:
            pytest.fail(f"{case}: {problem}")
        for index, later in enumerate(outputs):
            lines += _source(found := later(), f"f{len(made)}")
            made.append((case, index, found))
    assert made
    (tmp_path / "m.c").write_text("\n".join(lines) + "\n")
    flags = (*WARNINGS, "-Wno-unused-function", "-O1", "-shared", "-fPIC", "-std=gnu99")
    include = f"-I{resources.native_dir() / 'micro' / 'ops'}"
    subprocess.run(["gcc", *flags, include, "m.c", "-lm", "-o", "m.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "m.so"))
    for number, (case, index, found) in enumerate(made):
        expected = np.asarray(_expected(case)[index])
        inputs = [_in_c(array) for array in case.inputs]
        result = np.zeros(expected.shape, _in_c(expected).dtype)
        work = np.zeros(found.work // 8 + 1, np.float64)
        arguments = [inputs[each] for each in found.inputs] + [result] + ([work] if found.work else [])
        getattr(library, f"f{number}")(*(ctypes.c_void_p(each.ctypes.data) for each in arguments))
        _compare(result, expected, f"{case} {index}")


def _in_c(array: Array) -> Array:
    kind = {"float64": "float32", "bool": "uint8"}.get(array.dtype.name, array.dtype.name)
    return np.ascontiguousarray(array, kind)


def _compare(result: Array, expected: Array, name: str) -> None:
    if expected.dtype.kind != "f":
        apart = np.abs(result.astype(np.float64) - expected.astype(np.float64))
        rounded = name.startswith(("q", "requantize"))  # the last bit of a scale decides about halves
        assert apart.max(initial=0) <= int(rounded), name
        return
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5 * max(float(scale), 1e-3), err_msg=name)


@pytest.mark.parametrize("operator", sorted(_WITHOUT))
def test_what_has_no_loops_says_so(operator: str) -> None:
    """None of its cases, or an operator that can be left out of the list."""
    refused = 0
    for case in _chosen(operator):
        about = [
            array if index in case.constants else (array.shape, array.dtype.name)
            for index, array in enumerate(case.inputs)
        ]
        try:
            for later in functions(case.op, about):
                later()
        except UntraceableError as problem:
            refused += bool(str(problem))
    assert refused


def test_unsigned_integers_of_64_bits_are_refused() -> None:
    """The functions of integers have a sign: the upper half would be wrong."""
    with pytest.raises(UntraceableError, match="elements of type uint64"):
        functions(Abs(), [((3,), "uint64")])[0]()
