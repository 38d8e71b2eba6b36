"""Executes libraries for Android without Android: a program for Linux loads them, in an emulator where need be, and
finds Android's C library made of that of Linux (builders/android_check.py)."""

from __future__ import annotations

from pathlib import Path

from buildtool.devices.choose import runs_here
from buildtool.devices.local import LocalDevice
from buildtool.devices.qemu import EMULATORS, find


def device(abi: str, linux: str, libraries: Path) -> LocalDevice:
    """The device. `linux`: the ABI of the programs that load libraries of `abi`; `libraries`: the C library."""
    path, first = f"LD_LIBRARY_PATH={libraries}", f"LD_PRELOAD={libraries / 'loader.so'}"
    if runs_here(linux):
        return LocalDevice(abi, "this machine, on glibc", ("env", path, first))
    emulator = EMULATORS[linux]
    launcher = (find(emulator, linux), "-L", emulator.sysroot, "-cpu", emulator.cpu, "-E", path, "-E", first)
    return LocalDevice(abi, f"{emulator.program}, on glibc", launcher)
