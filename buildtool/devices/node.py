"""Node as a device: it runs WebAssembly modules, and `native/wasm/lathe_run.mjs` is the program around them."""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections.abc import Mapping

from buildtool.devices.local import LocalDevice
from buildtool.errors import DeviceError

ABIS = ("wasm32", "wasm32-simd")
LEAST = 18  # of its versions: vectors, modules and `fetch`


class NodeDevice(LocalDevice):
    """The engine of Node on this machine. Its processor is this machine's, which the modules know nothing of."""

    def __init__(self, abi: str) -> None:
        program, version = find()
        super().__init__(abi, f"node {version}", (program, "--no-warnings"))
        self._version = version

    def properties(self) -> Mapping[str, str]:
        return {**super().properties(), "machine": "wasm32", "node": self._version}


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
    if int(version.partition(".")[0] or 0) < LEAST:
        raise DeviceError(
            f"Node {version or 'of an unknown version'} is too old to run WebAssembly modules",
            rule=f"they run in Node {LEAST} and later",
            remedy="install a newer one",
        )
    return program, version


@functools.cache
def _version(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    number = said.removeprefix("v")
    return number if number.partition(".")[0].isdigit() else ""
