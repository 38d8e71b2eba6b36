"""ARM and RISC-V machines by qemu-user: a program of another architecture runs as a process of this one."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from buildtool.devices.device import Arguments, Gate
from buildtool.devices.local import LocalDevice, kill_group
from buildtool.errors import DeviceError

GDB_PORT = 5039  # where the emulator waits for a gdb that a person starts
_LISTENING = "00010000"  # the flags of such a socket


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
    "riscv64-linux-gnu": Emulator("qemu-riscv64", "/usr/riscv64-linux-gnu", "rv64,v=true,vext_spec=v1.0,vlen=256"),
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

    @contextlib.contextmanager
    def debugging(self, arguments: Arguments, server: Path | None = None) -> Iterator[Gate]:
        """The emulator is a server for gdb: on a socket that is a file, where nobody else on this machine gets in."""
        command = super().by_hand(arguments)[0].command
        with tempfile.TemporaryDirectory(prefix="lathe-gdb-") as folder:
            socket = f"{folder}/gdb"
            words = [*self._launcher, "-g", socket, *command]
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                _wait_for(socket, process)
                yield Gate(command, socket, EMULATORS[self.abi].sysroot)
            finally:
                kill_group(process)

    def by_hand(self, arguments: Arguments) -> tuple[Gate, list[str]]:
        command = super().by_hand(arguments)[0].command
        gate = Gate(command, f"127.0.0.1:{GDB_PORT}", EMULATORS[self.abi].sysroot)
        return gate, [shlex.join([*self._launcher, "-g", str(GDB_PORT), *command]) + " &"]

    def properties(self) -> Mapping[str, str]:
        return {**super().properties(), "cpu": self.cpu, "emulator": EMULATORS[self.abi].program}


def _wait_for(socket: str, process: subprocess.Popen[bytes], seconds: float = 20.0) -> None:
    """Until the emulator listens. Only one may connect, so that trying is no way to find out."""
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace").splitlines()
        if any(line.endswith(f" {socket}") and line.split()[3] == _LISTENING for line in lines):
            return
        time.sleep(0.02)
    raise DeviceError(
        "the emulator does not wait for gdb", remedy="see its messages above; sockets for gdb require qemu 5.1"
    )


def find(emulator: Emulator, abi: str) -> str:
    """The emulator's path; statically linked builds have a suffix."""
    for program in (emulator.program, f"{emulator.program}-static"):
        path = shutil.which(program)
        if path:
            return path
    raise DeviceError(
        f"{emulator.program} is missing: this machine cannot run programs for {abi}",
        remedy=f"install it: lathe doctor --install, or apt-get install {emulator.package}",
    )
