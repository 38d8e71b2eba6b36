"""Faults of drivers give the right result from the CPU, or one clear error: the table of docs/how-to/opencl.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from buildtool.runtime import DeviceKind
from tests.targets.opencl.fault_runner import RUNS, run_apart

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

_COMMANDS = 9  # of a run of the small network: a copy there, five kernels, a copy back; copies take two


@dataclass(frozen=True)
class Fault:
    """`stage`: where an error is told; "device" or "cpu": what ran it without one. `told`: in the message or reason."""

    name: str
    shim: str
    stage: str
    told: str = ""
    kind: DeviceKind = DeviceKind.ANY
    check: bool = False
    memory: str = "image"
    library: str | None = None  # instead of the shim
    anew: bool = False


_FAULTS = (
    Fault("nothing", "", "device"),
    Fault("no_library", "", "cpu", "there is no OpenCL: /nonexistent.so", library="/nonexistent.so"),
    Fault("no_opencl_library", "", "cpu", "has no clGetPlatformIDs: OpenCL 1.2 is needed", library="libm.so.6"),
    Fault("no_platform", "no_platform", "cpu", "clGetPlatformIDs answers CL_PLATFORM_NOT_FOUND_KHR"),
    Fault("no_device", "fail:GetDeviceIDs:-1", "cpu", "none of 1 OpenCL platforms has a device"),
    Fault("empty_platform_first", "two_platforms", "device"),
    Fault("two_empty_platforms", "two_platforms,fail:GetDeviceIDs:-1", "cpu", "none of 2 OpenCL platforms"),
    Fault("not_available", "device:available=0", "cpu", "is not available"),
    Fault("too_old", "device:version=OpenCL 1.1", "cpu", "is older than OpenCL 1.2"),
    Fault("no_context", "fail:CreateContext:-6", "cpu", "clCreateContext answers CL_OUT_OF_HOST_MEMORY"),
    Fault("no_queue", "fail:CreateCommandQueue:-6", "cpu", "clCreateCommandQueue answers CL_OUT_OF_HOST_MEMORY"),
    Fault("no_images", "device:images=0", "device"),
    Fault("small_images", "image_limit:8x8", "device"),
    Fault("small_memory", "alloc_limit:1000", "cpu", "bytes is larger than the device"),
    Fault("small_buffers", "alloc_limit:1000", "cpu", "bytes is larger than the device", memory="buffer"),
    Fault(
        "wrong_kernel", "fail:BuildProgram:-11", "cpu", "does not compile unit 'to_device' (CL_BUILD_PROGRAM_FAILURE)"
    ),
    Fault("wrong_kernel_later", "fail:BuildProgram:-11:3", "cpu", "does not compile unit 'add'"),
    Fault("no_compiler", "fail:BuildProgram:-3", "cpu", "has no compiler, and no binary of unit", anew=True),
    Fault("compiler_not_asked", "fail:CreateProgramWithSource:-3", "device"),
    Fault("refused_binaries", "fail:CreateProgramWithBinary:-42", "device"),
    Fault("no_program", "fail:CreateProgramWithSource:-6", "cpu", "CL_OUT_OF_HOST_MEMORY", anew=True),
    Fault(
        "no_kernel",
        "fail:CreateKernel:-46:2",
        "session",
        "unit 'leaky_relu' has no kernel 'unary': CL_INVALID_KERNEL_NAME",
    ),
    Fault("no_argument", "fail:SetKernelArg:-50:7", "session", "of kernel 'conv2d' does not fit: CL_INVALID_ARG_VALUE"),
    Fault("unknown_group", "fail:GetKernelWorkGroupInfo:-30", "device"),
    Fault(
        "no_start", "fail:EnqueueNDRangeKernel:-54", "run", "clEnqueueNDRangeKernel answers CL_INVALID_WORK_GROUP_SIZE"
    ),
    Fault("no_end", "fail:Finish:-5", "run", "clFinish answers CL_OUT_OF_RESOURCES (-5); make a new engine"),
    Fault("no_map", "fail:EnqueueMapBuffer:-12", "run", "clEnqueueMapBuffer answers CL_MAP_FAILURE"),
    Fault("no_map_back", "fail:EnqueueMapBuffer:-12:1", "run", "clEnqueueMapBuffer answers CL_MAP_FAILURE"),
    Fault("no_unmap", "fail:EnqueueUnmapMemObject:-5", "run", "clEnqueueUnmapMemObject answers CL_OUT_OF_RESOURCES"),
    Fault("no_count", "fail:EnqueueWriteBuffer:-5", "run", "clEnqueueWriteBuffer answers", check=True),
    Fault("no_count_back", "fail:EnqueueReadBuffer:-5", "run", "clEnqueueReadBuffer answers", check=True),
    *(
        Fault(f"constant_{count}_memory", f"fail:CreateImage:-4:{count}", "cpu", "has no memory for")
        for count in range(2)
    ),
    *(
        Fault(f"tensor_{count}_memory", f"fail:CreateImage:-4:{count + 2}", "session", "has no memory for")
        for count in range(2)
    ),
    *(
        Fault(f"copy_{count}_memory", f"fail:CreateBuffer:-61:{count}", "session", "bytes: CL_INVALID_BUFFER_SIZE")
        for count in range(2)
    ),
    *(
        Fault(f"lost_after_{count}", f"lost_after:{count}", "run" if count < RUNS * _COMMANDS else "device")
        for count in range(RUNS * _COMMANDS + 1)
    ),
    *(
        Fault(f"wants_a_gpu_{name}", shim, stage, told, kind=DeviceKind.GPU)
        for name, shim, stage, told in (
            ("and_has_one", "", "device", ""),
            ("without_platform", "no_platform", "create", "the application asks for one: clGetPlatformIDs answers"),
            ("with_little_memory", "alloc_limit:1000", "create", "the application asks for one: node 'to x'"),
            ("without_memory", "fail:CreateImage:-4", "create", "has no memory for 2304 bytes"),
            ("that_compiles_nothing", "fail:BuildProgram:-11", "create", "does not compile unit"),
        )
    ),
)


def _case(fault: Fault, storage: Path) -> dict[str, Any]:
    words = {name: value for name, value in asdict(fault).items() if name not in ("name", "stage", "told")}
    return {**words, "kind": int(fault.kind), "storage": str(storage)}


@dataclass(frozen=True)
class Told:
    """What became of all of them, and how often each function of OpenCL worked."""

    results: Mapping[str, Mapping[str, Any]]
    end: str
    worked: Mapping[str, int]


@pytest.fixture(scope="module")
def told(program_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """All of them run in one process."""
    report = tmp_path_factory.mktemp("faults") / "calls"
    given = [_case(fault, program_store) for fault in (_FAULTS[0], *_FAULTS)]  # the first one fills the store
    given.append({**given[0], "shim": f"calls:{report}"})
    done = run_apart(given)
    lines = [json.loads(line) for line in done.stdout.splitlines()][1:]
    results = {fault.name: line for fault, line in zip(_FAULTS, lines, strict=False)}
    return Told(results, f"the process answered {done.returncode}: {done.stderr[-3000:]}", dict(_worked(report)))


def _worked(report: Path) -> Iterator[tuple[str, int]]:
    if report.is_file():
        for line in report.read_text(encoding="utf-8").splitlines():
            name, calls, failed = line.split()
            yield name, int(calls) - int(failed)


@pytest.mark.parametrize("fault", _FAULTS, ids=lambda fault: fault.name)
def test_fault(fault: Fault, told: Told) -> None:
    assert fault.name in told.results, told.end
    result = told.results[fault.name]
    if fault.stage in ("device", "cpu"):
        assert (result["stage"], result["runs"]) == ("done", RUNS), result
        assert result["on_device"] == (fault.stage == "device"), result
        assert fault.told in (result["reason"] or ""), result
        assert (result["reason"] is None) == result["on_device"], result
    else:
        assert result["stage"] == fault.stage, result
        assert fault.told in result["message"], result
        assert "error: " in result["message"], result


def test_nothing_leaks(told: Told) -> None:
    worked = told.worked
    assert worked, told.end
    assert worked["CreateBuffer"] + worked["CreateImage"] == worked["ReleaseMemObject"] > 0
    assert worked["CreateProgramWithSource"] + worked["CreateProgramWithBinary"] == worked["ReleaseProgram"] > 0
    assert worked["EnqueueMapBuffer"] >= worked["EnqueueUnmapMemObject"] > 0
    for kind in ("Kernel", "Context", "CommandQueue"):
        assert worked[f"Create{kind}"] == worked[f"Release{kind}"] > 0, kind
