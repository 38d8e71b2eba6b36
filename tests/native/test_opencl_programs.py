"""The OpenCL programs of an engine and their store, under sanitizers."""

from __future__ import annotations

import pytest

from tests.native_builds import build, run_program

OWN_DRIVER = "*MachinesOwn*"


@pytest.mark.slow
@pytest.mark.parametrize("sanitizers", ["asan", "tsan"])
def test_programs_and_store(sanitizers: str) -> None:
    program = build("opencl_programs_test", variant=sanitizers) / "tests" / "opencl_programs_test"
    assert "PASSED" in run_program(program, ["env", f"GTEST_FILTER=-{OWN_DRIVER}"])


@pytest.mark.slow
def test_programs_of_a_real_driver() -> None:
    program = build("opencl_programs_test", variant="asan") / "tests" / "opencl_programs_test"
    # Drivers keep memory and threads until the end, over which the search for leaks stumbles now and then.
    told = ["env", f"GTEST_FILTER={OWN_DRIVER}", "ASAN_OPTIONS=detect_leaks=0"]
    output = run_program(program, told)
    assert "PASSED" in output or "SKIPPED" in output
