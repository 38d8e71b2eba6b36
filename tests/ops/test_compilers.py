"""The native side compiled by other compilers, harder than usual, and under the thread sanitizer: the same results."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.native_builds import build, cases_program, run_cases, run_program

_PROGRAMS = ("core_test", "threads_test", "hostile_model_test", "cpp_api_test")


@pytest.mark.sweep
@pytest.mark.parametrize("optimisation", ["-O2", "-O3"])
@pytest.mark.parametrize("compilers", [("g++-12", "g++"), ("clang++-19", "clang++")], ids=["gcc", "clang"])
def test_native_side(compilers: tuple[str, ...], optimisation: str, case_folder: Path) -> None:
    found = next((path for name in compilers if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"{compilers[0]} is not installed")
    options = [f"-DCMAKE_CXX_COMPILER={found}", f"-DLATHE_OPTIMIZE={optimisation}"]
    variant = f"{Path(found).name}{optimisation}"
    folder = build(*_PROGRAMS, "op_cases_test", variant=variant, options=options) / "tests"
    for program in _PROGRAMS:
        assert "PASSED" in run_program(folder / program)
    run_cases(folder / "op_cases_test", case_folder, "host", functions=True)


@pytest.mark.sweep
def test_kernels_under_the_thread_sanitizer(case_folder: Path) -> None:
    run_cases(cases_program(variant="tsan"), case_folder, "host", functions=True)
