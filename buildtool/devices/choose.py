"""Which device runs the programs of an ABI."""

from __future__ import annotations

import logging
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from buildtool.devices import adb
from buildtool.devices.device import Device
from buildtool.devices.local import LocalDevice
from buildtool.devices.programs import machine_for, machine_of, machines_of
from buildtool.devices.qemu import EMULATORS, QemuDevice
from buildtool.devices.remote import RemoteDevice
from buildtool.devices.ssh import SshTransport
from buildtool.devices.transport import Times, Transport
from buildtool.errors import DeviceError, UnsupportedError, Where
from buildtool.settings import DeviceSpec

_NATIVE = {"aarch64-linux-gnu": ("aarch64", "arm64"), "arm-linux-gnueabihf": ("armv7l", "armv8l")}
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
    machine = machine_of(library)
    for abi in ("host", *EMULATORS):
        if machine_for(abi) == machine:
            return abi
    raise UnsupportedError(
        f"nothing here runs libraries for '{machine}'",
        where=Where(file=str(library)),
        rule=f"what can be run: host, {', '.join(sorted(EMULATORS))}",
        remedy="use the library on such a machine",
    )


def device_for(abi: str, cpu: str = "") -> Device:
    """This machine where it runs the ABI itself and no processor model is asked for, else an emulator."""
    if runs_here(abi) and (abi == "host" or not cpu):
        return LocalDevice(abi)
    if abi in EMULATORS:
        return QemuDevice(abi, cpu)
    raise UnsupportedError(
        f"nothing here runs programs for '{abi}'",
        rule=f"what can be run: host, {', '.join(sorted(EMULATORS))}",
        remedy="name a device that does, with --device",
    )


def devices_for(abi: str, wishes: Wishes) -> list[Device]:
    """The devices that run programs of the ABI, of those that the user wants. None is opened yet.

    DeviceError where there is none.
    """
    if not wishes.devices:
        return [device_for(abi, wishes.cpu)]
    one = wishes.target_socs == ("random",)
    socs = () if one or "all" in wishes.target_socs else wishes.target_socs
    found = [device for spec in wishes.devices for device in _devices(spec, abi, socs, wishes)]
    if not found:
        wanted = f", and has a chip of {', '.join(socs)}" if socs else ""
        raise DeviceError(
            f"none of the chosen devices runs programs for '{abi}'{wanted}",
            rule=f"chosen: {', '.join(map(told, wishes.devices))}",
            remedy="choose the ABIs of the devices with --abi, or other devices with --device",
        )
    return found[:1] if one else found


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


def _devices(spec: DeviceSpec, abi: str, socs: Sequence[str], wishes: Wishes) -> list[Device]:
    """The devices of one name, as far as they run the ABI and have one of the chips."""
    if spec.kind in ("local", "qemu"):
        fits = not socs and (runs_here(abi) if spec.kind == "local" else abi in EMULATORS)
        return [LocalDevice(abi) if spec.kind == "local" else QemuDevice(abi, spec.cpu or wishes.cpu)] if fits else []
    if spec.target_abis and abi not in spec.target_abis:
        return []
    times = Times(patience=wishes.timeout)
    found = [RemoteDevice(abi, way, times, _log.warning) for way in transports(spec)]
    if socs and spec.target_socs:
        return [*found] if _meet(socs, spec.target_socs) else []
    if socs or (spec.kind == "adb" and not spec.address):  # a device that was named is told what is wrong with it
        return [device for device in found if _fits(device, abi, socs)]
    return [*found]


def _fits(device: RemoteDevice, abi: str, socs: Sequence[str]) -> bool:
    said = device.survey()
    machines = machines_of(said)
    return (not machines or machine_for(abi) in machines) and (not socs or _meet(socs, (said.get("soc", ""),)))


def _meet(some: Sequence[str], others: Sequence[str]) -> bool:
    return bool({word.casefold() for word in some} & {word.casefold() for word in others})
