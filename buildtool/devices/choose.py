"""Which device runs the programs of an ABI."""

from __future__ import annotations

import logging
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from buildtool.devices import adb, node
from buildtool.devices.device import Device
from buildtool.devices.local import LocalDevice
from buildtool.devices.programs import machine_for, machine_of, machines_of
from buildtool.devices.qemu import EMULATORS, QemuDevice
from buildtool.devices.remote import RemoteDevice
from buildtool.devices.ssh import SshTransport
from buildtool.devices.transport import Times, Transport
from buildtool.errors import DeviceError, UnsupportedError, Where
from buildtool.settings import DeviceSpec

_NATIVE = {
    "aarch64-linux-gnu": ("aarch64", "arm64"),
    "arm-linux-gnueabihf": ("armv7l", "armv8l"),
    "riscv64-linux-gnu": ("riscv64",),
}
#: This machine, with a stand-in for the DSP of a phone.
DSP_SIMULATOR = "dsp-sim"
_log = logging.getLogger(__name__)


class Wishes(Protocol):
    """What a user says of devices: `settings.RunSettings` is one."""

    @property
    def devices(self) -> tuple[DeviceSpec, ...]: ...
    @property
    def target_socs(self) -> tuple[str, ...]: ...
    @property
    def cpu(self) -> str: ...
    @property
    def timeout(self) -> float: ...


def runs_here(abi: str) -> bool:
    """Whether this machine runs programs of the ABI without an emulator."""
    return abi == "host" or platform.machine() in _NATIVE.get(abi, ())


def abi_like(library: Path) -> str:
    """The ABI of Lathe's own whose devices and programs serve a library of another one.

    UnsupportedError where there is none.
    """
    if library.suffix == ".a":  # where there is no shared library
        raise UnsupportedError(
            "no device runs libraries for Apple's systems",
            where=Where(file=str(library)),
            rule="there is no emulator of macOS and iOS",
            remedy="link the archive with an application, and run it there",
        )
    machine = machine_of(library)
    for abi in ("host", *EMULATORS):
        if machine_for(abi) == machine:
            return abi
    raise UnsupportedError(
        f"this machine cannot run libraries for '{machine}'",
        where=Where(file=str(library)),
        rule=f"supported: host, {', '.join(sorted(EMULATORS))}",
        remedy="use the library on such a machine",
    )


def device_for(abi: str, cpu: str = "") -> Device:
    """This machine where it runs the ABI itself and no processor model is asked for, else an emulator."""
    if runs_here(abi) and (abi == "host" or not cpu):
        return LocalDevice(abi)
    if abi in EMULATORS:
        return QemuDevice(abi, cpu)
    if abi in node.ABIS:
        return node.NodeDevice(abi)
    raise UnsupportedError(
        f"this machine cannot run programs for '{abi}'",
        rule=f"supported: host, {', '.join(sorted((*EMULATORS, *node.ABIS)))}",
        remedy="choose a device that can with --device",
    )


def devices_for(abi: str, wishes: Wishes) -> list[Device]:
    """The devices that run programs of the ABI, of those that the user wants. None is opened yet.

    DeviceError where there is none.
    """
    one = wishes.target_socs == ("random",)
    wanted = _Chips(() if one or "all" in wishes.target_socs else wishes.target_socs)
    specs = wishes.devices
    if not specs:
        if not wanted.names or runs_here(abi):
            return [device_for(abi, wishes.cpu)]
        specs = (DeviceSpec("adb"),) if adb.is_here() else ()
    found = [device for spec in specs for device in _devices(spec, abi, wanted, wishes)]
    if wanted.names:
        wanted.check(abi, found)
    if not found:
        raise DeviceError(
            f"none of the chosen devices runs programs for '{abi}'",
            rule=f"chosen: {', '.join(map(told, specs))}",
            remedy="choose the ABIs of the devices with --abi, or other devices with --device",
        )
    return found[:1] if one else found


@dataclass
class _Chips:
    """The chips of which a device has to have one, and those that devices turned out to have. All do without names."""

    names: tuple[str, ...]
    seen: dict[str, str] = field(default_factory=dict)  # by device

    def fit(self, device: str, chips: Sequence[str]) -> bool:
        self.seen[device] = ", ".join(chips) or "not reported"
        return not self.names or bool({name.casefold() for name in self.names} & {chip.casefold() for chip in chips})

    def check(self, abi: str, found: Sequence[Device]) -> None:
        """DeviceError where there is no device; a warning where there is none for some of the names."""
        there = {chip.casefold(): chip for chips in self.seen.values() for chip in chips.split(", ")}
        missing = [name for name in self.names if name.casefold() not in there]
        if found:
            for name in missing:
                _log.warning("no device has the chip %s of target_socs", name)
            return
        near = [there[word] for name in missing for word in get_close_matches(name.casefold(), there, 1)]
        known = ", ".join(f"{device} ({chips})" for device, chips in self.seen.items())
        raise DeviceError(
            f"no device with the chip {' or '.join(self.names)} runs programs for '{abi}'",
            rule=f"target_socs chooses devices by their chips; there are: {known or 'none'}",
            remedy=(f"did you mean '{near[0]}'? Else " if near else "")
            + "connect such a device, name others with --device, or take any chip with --target-socs all",
        )


def told(spec: DeviceSpec) -> str:
    """A device as the user may have named it."""
    if spec.kind == "ssh":
        return SshTransport(spec).name
    return spec.name or ":".join(filter(None, (spec.kind, spec.cpu or spec.address)))


def transports(spec: DeviceSpec) -> list[Transport]:
    """The ways to a device that is elsewhere; to several where the word stands for all that are connected."""
    if spec.kind == "ssh":
        return [SshTransport(spec)]
    known = adb.phones()
    if not spec.address:
        for phone in known:
            if phone.state != "device":
                _log.warning("%s", phone.refusal().problems[0].what)
        return [adb.AdbTransport(phone.serial) for phone in known if phone.state == "device"]
    for phone in known:
        if phone.serial == spec.address:
            if phone.state != "device":
                raise phone.refusal()
            return [adb.AdbTransport(phone.serial)]
    raise DeviceError(
        f"adb knows no device '{spec.address}'",
        rule=f"it knows: {', '.join(phone.serial for phone in known) or 'none'}",
        remedy="plug it in, or: adb connect HOST:PORT",
    )


def _devices(spec: DeviceSpec, abi: str, wanted: _Chips, wishes: Wishes) -> list[Device]:
    """The devices of one name, as far as they run the ABI and have one of the chips.

    This machine and emulators stand for any chip where a user names them.
    """
    if spec.kind == DSP_SIMULATOR:
        return [LocalDevice(abi, DSP_SIMULATOR)] if runs_here(abi) else []
    if spec.kind in ("local", "qemu"):
        fits = runs_here(abi) if spec.kind == "local" else abi in EMULATORS
        return [LocalDevice(abi) if spec.kind == "local" else QemuDevice(abi, spec.cpu or wishes.cpu)] if fits else []
    if spec.target_abis and abi not in spec.target_abis:
        return []
    times = Times(patience=wishes.timeout)
    found = [RemoteDevice(abi, way, times, _log.warning) for way in transports(spec)]
    if wanted.names and spec.target_socs:
        return [device for device in found if wanted.fit(device.name, spec.target_socs)]
    if wanted.names or (spec.kind == "adb" and not spec.address):  # a device that was named gets an error of its own
        return [device for device in found if _fits(device, abi, wanted)]
    return [*found]


def _fits(device: RemoteDevice, abi: str, wanted: _Chips) -> bool:
    said = device.survey()
    machines = machines_of(said)
    chips = (said["soc"],) if said.get("soc") else ()
    return wanted.fit(device.name, chips) and (not machines or machine_for(abi) in machines)
