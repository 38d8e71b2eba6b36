"""ARM machines by qemu-user: a program of another architecture runs as a process of this one."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from buildtool.devices.local import LocalDevice
from buildtool.errors import DeviceError


@dataclass(frozen=True)
class Emulator:
    """How one ABI is emulated: the program, where its libraries are, and the processor it pretends to be."""

    program: str
    sysroot: str
    cpu: str
    package: str = "qemu-user"  # of Debian and Ubuntu


EMULATORS: Mapping[str, Emulator] = {
    "aarch64-linux-gnu": Emulator("qemu-aarch64", "/usr/aarch64-linux-gnu", "max"),
    "arm-linux-gnueabihf": Emulator("qemu-arm", "/usr/arm-linux-gnueabihf", "max"),
}


class QemuDevice(LocalDevice):
    """A processor that qemu imitates. `cpu` is one of `qemu-<machine> -cpu help`; empty: all that qemu knows."""

    def __init__(self, abi: str, cpu: str = "") -> None:
        emulator = EMULATORS[abi]
        self.cpu = cpu or emulator.cpu
        launcher = (find(emulator, abi), "-L", emulator.sysroot, "-cpu", self.cpu)
        if not Path(emulator.sysroot).is_dir():
            raise DeviceError(
                f"the C library of {abi} is missing (expected at {emulator.sysroot})",
                remedy="install the cross compiler: lathe doctor --install",
            )
        super().__init__(abi, f"qemu-user ({self.cpu})", launcher)

    @contextlib.contextmanager
    def counting(self, plugin: Path, written: Path) -> Iterator[None]:
        """Meanwhile the emulator counts what programs execute between markers (native/tools/qemu), into a file."""
        before = self._launcher
        self._launcher = (*before, "-plugin", f"{plugin},out={written}")
        try:
            yield
        finally:
            self._launcher = before

    def properties(self) -> Mapping[str, str]:
        return {**super().properties(), "cpu": self.cpu, "emulator": EMULATORS[self.abi].program}


def find(emulator: Emulator, abi: str) -> str:
    """The emulator's path; statically linked builds have a suffix."""
    for program in (emulator.program, f"{emulator.program}-static"):
        path = shutil.which(program)
        if path:
            return path
    raise DeviceError(
        f"{emulator.program} is missing: nothing here runs programs for {abi}",
        remedy=f"install it: lathe doctor --install, or apt-get install {emulator.package}",
    )
