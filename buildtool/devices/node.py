"""Node as a device: it runs WebAssembly modules, and `native/wasm/lathe_run.mjs` is the program around them."""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections.abc import Mapping

from buildtool.devices.local import LocalDevice
from buildtool.errors import DeviceError

ABIS = ("wasm32", "wasm32-simd", "wasm32-relaxed-simd", "wasm32-simd-threads", "wasm32-relaxed-simd-threads")
LEAST = 18  # of its versions: vectors, modules and `fetch`
_RELAXED = 21  # the first that has relaxed instructions without being asked


class NodeDevice(LocalDevice):
    """The engine of Node on this machine. Its processor is this machine's, which the modules know nothing of."""

    def __init__(self, abi: str) -> None:
        command, self._version = launcher(abi), find()[1]
        super().__init__(abi, f"node {self._version}", command)

    def properties(self) -> Mapping[str, str]:
        return {**super().properties(), "machine": "wasm32", "node": self._version}


def launcher(abi: str) -> tuple[str, ...]:
    """What goes before a script that loads modules of an ABI. DeviceError where there is no Node."""
    program, version = find()
    relaxed = ("--experimental-wasm-relaxed-simd",) if "relaxed" in abi and _major(version) < _RELAXED else ()
    return program, "--no-warnings", *relaxed


def find() -> tuple[str, str]:
    """The program and its version. DeviceError where there is none, or too old a one."""
    program = shutil.which("node")
    if program is None:
        raise DeviceError(
            "'node' is missing: this machine cannot run WebAssembly modules",
            rule=f"they run in Node {LEAST} and later",
            remedy="install it with: lathe doctor --install, or: apt-get install nodejs",
        )
    version = _version(program)
    if _major(version) < LEAST:
        raise DeviceError(
            f"Node {version or 'of an unknown version'} is too old to run WebAssembly modules",
            rule=f"they run in Node {LEAST} and later",
            remedy="install a newer one",
        )
    return program, version


def _major(version: str) -> int:
    return int(version.partition(".")[0] or 0)


@functools.cache
def _version(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    number = said.removeprefix("v")
    return number if number.partition(".")[0].isdigit() else ""
