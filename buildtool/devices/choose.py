"""Which device runs the programs of an ABI."""

from __future__ import annotations

import platform

from buildtool.devices.device import Device
from buildtool.devices.local import LocalDevice
from buildtool.devices.qemu import EMULATORS, QemuDevice
from buildtool.errors import UnsupportedError

_NATIVE = {"aarch64-linux-gnu": ("aarch64", "arm64"), "arm-linux-gnueabihf": ("armv7l", "armv8l")}


def runs_here(abi: str) -> bool:
    """Whether this machine runs programs of the ABI without an emulator."""
    return abi == "host" or platform.machine() in _NATIVE.get(abi, ())


def device_for(abi: str, cpu: str = "") -> Device:
    """This machine where it runs the ABI itself and no processor model is asked for, else an emulator."""
    if runs_here(abi) and (abi == "host" or not cpu):
        return LocalDevice(abi)
    if abi in EMULATORS:
        return QemuDevice(abi, cpu)
    raise UnsupportedError(
        f"nothing here runs programs for '{abi}'", rule=f"what can be run: host, {', '.join(sorted(EMULATORS))}"
    )
