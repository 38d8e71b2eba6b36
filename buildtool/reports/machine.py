"""What each target needs, and what of it is on this machine; installs the rest where it may."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from buildtool.builders import android, android_check, firmware, hexagon, toolchain, wasm
from buildtool.devices import node
from buildtool.devices.choose import runs_here
from buildtool.devices.qemu import EMULATORS, find
from buildtool.errors import ConfigError, LatheError, Problem, ToolchainError
from buildtool.reports.table import Table
from buildtool.targets import registry
from buildtool.targets.protocol import CrossCompiler, FirmwareTarget
from buildtool.wording import did_you_mean

_NOT_BUILT = "this target is known, and Lathe cannot build for it yet"
_DRIVER_SECONDS = 30.0
#: Prints the names of OpenCL's platforms, from the library that built libraries would load.
_PLATFORMS = """
import ctypes, os
library = ctypes.CDLL(os.environ.get("LATHE_OPENCL_LIBRARY") or "libOpenCL.so.1")
count = ctypes.c_uint()
library.clGetPlatformIDs(0, None, ctypes.byref(count))
platforms = (ctypes.c_void_p * count.value)()
library.clGetPlatformIDs(count, platforms, None)
names = []
for platform in platforms:
    name = ctypes.create_string_buffer(256)
    library.clGetPlatformInfo(ctypes.c_void_p(platform), 0x0902, ctypes.c_size_t(256), name, None)
    names.append(name.value.decode(errors="replace"))
print(", ".join(names))
"""


@dataclass(frozen=True)
class Finding:
    """One thing that a target needs."""

    target: str
    what: str
    here: bool
    detail: str = ""  # its version or path; what is wrong where it is missing
    package: str = ""  # of Debian and Ubuntu; of Python where it starts with "pip:"
    required: bool = True  # for building; the rest is for running and validating


def examine(abis: Sequence[str] = (), unbuilt: Sequence[str] = ()) -> list[Finding]:
    """All needs of these ABIs, or of all that there are, and then of the ways to devices. `unbuilt`: targets that
    deployment files may name although nothing builds them yet.
    """
    known = registry.abis()
    unknown = [abi for abi in abis if abi not in (*known, *unbuilt)]
    if unknown:
        raise ConfigError(
            f"there is no target '{unknown[0]}'",
            rule=f"targets: {', '.join(known)}",
            remedy=did_you_mean(unknown[0], known) or "`lathe doctor` lists what all of them need",
        )
    missing = [Finding(abi, "support in Lathe", False, _NOT_BUILT) for abi in abis if abi in unbuilt]
    unusable = [
        Finding("packages", "extension", False, _said(problem), required=False) for problem in registry.not_loaded()
    ]
    wanted = [abi for abi in abis or known if abi not in unbuilt]
    devices = [] if abis else [*_ways_to_devices()]
    return [*(finding for abi in wanted for finding in _needs(abi)), *missing, *devices, *unusable]


def _said(problem: Problem) -> str:
    return f"{problem.what}: {problem.remedy}"


def packages(findings: Sequence[Finding]) -> list[str]:
    """The Debian packages that bring what is missing, each once."""
    names = [item.package for item in findings if not item.here and item.package and ":" not in item.package]
    return list(dict.fromkeys(names))


def install(names: Sequence[str], say: Callable[[str], None]) -> None:
    """Install Debian packages. ToolchainError where that cannot be done, with the command that would do it."""
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *names]
    if shutil.which("apt-get") is None:
        raise ToolchainError(
            "there is no apt-get on this machine",
            remedy=f"install these with your own package manager: {' '.join(names)}",
        )
    if os.geteuid() != 0:
        raise ToolchainError("installing packages requires root privileges", remedy=f"run: sudo {' '.join(command)}")
    say(f"$ {' '.join(command)}")
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        check=False,
    )
    if done.returncode:
        said = done.stdout.decode("utf-8", errors="replace").strip().splitlines()
        raise ToolchainError(
            f"apt-get failed: {said[-1] if said else done.returncode}", remedy="try again after: apt-get update"
        )


def document(findings: Sequence[Finding]) -> dict[str, Any]:
    """The findings by target, with a verdict each."""
    targets: dict[str, dict[str, Any]] = {}
    for item in findings:
        entry = targets.setdefault(item.target, {"target": item.target, "builds": True, "runs": True, "needs": []})
        entry["needs"].append({key: value for key, value in vars(item).items() if key != "target"})
        if not item.here:
            entry["runs"] = False
            entry["builds"] = entry["builds"] and not item.required
    return {"targets": list(targets.values()), "missing_packages": packages(findings)}


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The document for people."""
    table = Table(["target", "needs", "state", "found version, or how to install it"])
    for target in document["targets"]:
        for need in target["needs"]:
            state = "ok" if need["here"] else "missing"
            detail = need["detail"] if need["here"] else _how(need["package"]) or need["detail"]
            table.add(target["target"], need["what"], state, detail)
    missing = document["missing_packages"]
    last = f"to install what is missing: lathe doctor --install ({' '.join(missing)})" if missing else ""
    return [table, *([last] if last else [])]


def _how(package: str) -> str:
    kind, _, name = package.rpartition(":")
    return f"pip install {name}" if kind == "pip" else f"apt-get install {name}" if name else ""


def _needs(abi: str) -> Iterator[Finding]:
    for target in registry.all_targets().values():
        if isinstance(target, FirmwareTarget) and abi in registry.chips_of(target):
            yield from _cross_needs(abi, target.capabilities.abis[abi])
            return
    if abi in android.ABIS:
        yield from _android_needs(abi)
    elif abi in wasm.ABIS:
        yield from _wasm_needs(abi)
    else:
        packages = toolchain.packages(abi)
        for package in packages:
            what = "compiler" if len(packages) == 1 else f"compiler, C library ({package})"
            yield _program(abi, what, lambda: _compiler(abi), package)
    yield _program(abi, "CMake", lambda: str(toolchain.cmake_program()), "cmake")
    yield _program(abi, "Ninja", lambda: str(toolchain.ninja_program()), "ninja-build")
    if not runs_here(abi) and abi in EMULATORS:
        yield _program(abi, "emulator", lambda: find(EMULATORS[abi], abi), EMULATORS[abi].package, required=False)
    here = importlib.util.find_spec("onnxruntime") is not None
    detail = "compares with the source model" if here else ""
    yield Finding(abi, "onnxruntime", here, detail, "pip:onnxruntime", required=False)


def _ways_to_devices() -> Iterator[Finding]:
    """What runs models elsewhere than on the processor of this machine."""
    for program, purpose, package in (("adb", "Android devices", "adb"), ("ssh", "Linux devices", "openssh-client")):
        path = shutil.which(program) or ""
        yield Finding("devices", f"{program} ({purpose})", bool(path), path, package, required=False)
    names = _opencl_platforms()
    yield Finding("devices", "OpenCL (GPUs of this machine)", bool(names), names, "pocl-opencl-icd", required=False)
    for program, package in hexagon.PROGRAMS.items():
        found = hexagon.search(program)
        purpose = "dsp-sim" if program == "qemu-hexagon" else "programs for the Hexagon DSP"
        yield Finding("devices", f"{program} ({purpose})", bool(found), str(found or ""), package, required=False)


def _opencl_platforms() -> str:
    """The names of the platforms of this machine. Drivers are loaded by a process of their own: they may crash."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PLATFORMS], capture_output=True, text=True, check=False, timeout=_DRIVER_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _android_needs(abi: str) -> Iterator[Finding]:
    yield _program(abi, "Android NDK", _ndk, "")
    for program, package in android_check.PACKAGES.items():
        path = shutil.which(program) or ""
        yield Finding(abi, f"{program} (--ndk-check)", bool(path), path, package, required=False)
    linux = android_check.EXECUTED_BY[abi]
    if not runs_here(linux):
        emulator = EMULATORS[linux]
        yield _program(abi, "emulator (--ndk-check)", lambda: find(emulator, linux), emulator.package, required=False)
        look, package = lambda: _compiler(linux), toolchain.packages(linux)[0]
        yield _program(abi, "C library to execute with (--ndk-check)", look, package, required=False)


def _wasm_needs(abi: str) -> Iterator[Finding]:
    for program, package in wasm.PROGRAMS.items():
        yield _program(abi, program, functools.partial(_wasm_program, program, abi), package)
    for package in ("wasi-libc", "libclang-rt-19-dev-wasm32"):
        yield _program(abi, f"C library ({package})", lambda: str(wasm.toolchain(abi).version), package)
    yield _program(abi, "Node", lambda: " ".join(node.find()), "nodejs", required=False)


def _wasm_program(program: str, abi: str) -> str:
    return str(wasm.find(program, abi))


def _ndk() -> str:
    found = android.find_ndk()
    return f"{found.folder}: {found.revision}"


def _program(abi: str, what: str, look: Callable[[], str], package: str, required: bool = True) -> Finding:
    try:
        return Finding(abi, what, True, look(), package, required)
    except LatheError as error:
        problem = error.problems[0]
        return Finding(abi, what, False, f"{problem.what}: {problem.remedy}", package, required)


def _compiler(abi: str) -> str:
    found = toolchain.probe(abi)
    return f"{found.cxx}: {found.version}"


def _cross_needs(abi: str, compiler: CrossCompiler) -> Iterator[Finding]:
    def look() -> str:
        found = firmware.find(compiler, abi)
        return f"{found.gcc}: {found.version}"

    for package in compiler.packages:
        yield _program(abi, f"compiler, C library ({package})", look, package)
