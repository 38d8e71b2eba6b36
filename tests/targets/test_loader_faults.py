"""Every call of dlopen and dlsym fails once: a status with a message, or the CPU's result; never a crash.

Programs: tests/builders/test_system_failures.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.targets import loader_faults


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return loader_faults.shim(tmp_path_factory.mktemp("loader"))


@pytest.mark.opencl
@pytest.mark.slow
def test_opencl(shim: Path) -> None:
    told = loader_faults.run_apart("gpu", shim)
    assert told.pop() == {"call": "", "device": True, "reason": ""}
    calls = [one["call"] for one in told]
    assert {"dlopen libOpenCL.so.1", "dlsym clGetPlatformIDs", "dlsym lathe_api_gpu_kernels"} <= set(calls)
    assert len(calls) > 30
    for one in told:
        if "gpu_kernels" in one["call"]:  # of the Python module
            assert one["error"], one
        elif not one.get("device"):
            # An application that wants the GPU alone has an error; what it names is what failed.
            assert "error" in one, one
            assert one["call"].split()[1] in one["error"] or "OpenCL" in one["error"], one


@pytest.mark.slow
def test_hexagon(shim: Path) -> None:
    told = loader_faults.run_apart("dsp", shim)
    assert told.pop() == {"call": "", "device": True, "reason": ""}
    assert len(told) > 5
    for one in told:
        if "dsp_kernels" in one["call"]:
            assert one["error"], one
        elif not one["device"]:
            assert "FastRPC" in one["reason"] or "remote_session_control" in one["call"], one
            assert one["reason"], one
