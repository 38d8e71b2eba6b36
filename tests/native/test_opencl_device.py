"""How OpenCL and a device on it are found, and the OpenCL that fails on request with which that is tested."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.native_builds import build, opencl_shim, run_program


@pytest.mark.slow
def test_devices_are_found_and_chosen() -> None:
    program = build("opencl_device_test", variant="asan") / "tests" / "opencl_device_test"
    # Drivers keep memory until the end.
    assert "PASSED" in run_program(program, ["env", "ASAN_OPTIONS=detect_leaks=0"])


@pytest.mark.slow
def test_the_shim_tells_what_was_called(tmp_path: Path) -> None:
    report = tmp_path / "calls"
    program = """if True:
        import ctypes, sys
        opencl, count = ctypes.CDLL(sys.argv[1]), ctypes.c_uint()
        assert opencl.clGetPlatformIDs(0, None, ctypes.byref(count)) == 0 and count.value > 0
        assert [opencl.clFinish(None) for _ in range(3)] == [-36, -36, -5]
    """
    environment = {**os.environ, "LATHE_SHIM": f"fail:Finish:-5:2,calls:{report}"}
    subprocess.run([sys.executable, "-c", program, opencl_shim()], env=environment, check=True)
    assert report.read_text(encoding="utf-8") == "Finish 3 3\nGetPlatformIDs 1 0\n"
