"""Kernels of floats on shapes and attributes that hypothesis draws, against references in double precision.

`make test` has a few of every family of cases, `make test-all` 200.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, partial
from pathlib import Path

import pytest

from buildtool.ir.types import DType
from buildtool.plan import manifest
from tests.native_builds import QEMU, cases_program, run_cases
from tests.ops.drawn.families import drawn, families
from tests.ops.drawn.files import describe, write_drawn
from tests.ops.native_cases import case_graph, fits
from tests.shared_folders import filled_once

FEW = 8
MANY = 200
_DESCRIPTIONS = "descriptions.txt"


@cache
def _program(abi: str) -> Path:
    return cases_program(abi, "" if abi in QEMU else "asan")


def _write(folder: Path, names: Collection[str], count: int) -> None:
    """The files of so many cases of each family, and what the cases are."""
    cases = [case for family in names for case in drawn(family, count)]
    assert len(cases) == count * len(names)
    write_drawn(folder, cases, manifest.load())
    (folder / _DESCRIPTIONS).write_text("".join(f"{describe(case)}\n" for case in cases), encoding="utf-8")


def _run(abi: str, folder: Path, without: Sequence[str] = ()) -> None:
    """The kernels on the cases of a folder; a failure tells what the cases were."""
    try:
        run_cases(_program(abi), folder, abi, without=without)
    except AssertionError as failure:
        failed = re.findall(r"FAILED.*?(drawn_\w+)", str(failure))
        lines = (folder / _DESCRIPTIONS).read_text(encoding="utf-8").splitlines()
        told = [line for line in lines if any(name.startswith(line.split(":")[0]) for name in failed)]
        raise AssertionError("\n".join([str(failure), *told])) from None


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_once(tmp_path_factory, "few-drawn", partial(_write, names=families(), count=FEW))


@pytest.mark.slow
def test_a_few_on_host_under_sanitizers(few: Path) -> None:
    _run("host", few)


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_a_few_on_arm(abi: str, few: Path) -> None:
    """Without the kernels that the host runs on the same cases, and products on large ones that are Winograd's."""
    _run(abi, few, without=("*__portable_*", "*_gemm__*_drawn_conv2d_winograd_*"))


@pytest.fixture(scope="module")
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    family: str = request.param
    return filled_once(tmp_path_factory, f"many-{family}", partial(_write, names=[family], count=MANY))


@pytest.mark.sweep
@pytest.mark.parametrize("many", list(families()), indirect=True)
def test_many_on_host_under_sanitizers(many: Path) -> None:
    _run("host", many)


@pytest.mark.sweep
@pytest.mark.arm
@pytest.mark.parametrize("many", list(families()), indirect=True)
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_many_on_arm(abi: str, many: Path) -> None:
    _run(abi, many)


@pytest.mark.sweep
def test_every_kernel_is_drawn_for() -> None:
    """A kernel with conditions needs a family that meets them."""
    runs: dict[tuple[str, DType], int] = {}
    kernels = manifest.load()
    for family in families():
        for case in drawn(family, MANY):
            graph = case_graph(case.op, case.inputs, frozenset(case.constants))
            dtype = case.types[0].dtype
            for kernel in kernels.of(case.op.name):
                if dtype in kernel.inputs[0]:
                    runs[kernel.name, dtype] = runs.get((kernel.name, dtype), 0) + fits(graph, kernel)
    assert not {kernel: count for kernel, count in runs.items() if count < MANY}
