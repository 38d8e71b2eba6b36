"""Which devices there are, and what each says of itself: asked all at once, without taking anybody's device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from buildtool.devices import adb, probe
from buildtool.devices.choose import told, transports
from buildtool.devices.qemu import EMULATORS, find
from buildtool.devices.remote import RemoteDevice
from buildtool.errors import DeviceError, LatheError, Problem
from buildtool.settings import DeviceSpec


@dataclass(frozen=True)
class Found:
    """A device and what it said, or why it said nothing."""

    name: str  # as --device takes it
    kind: str
    abis: tuple[str, ...] = ()  # as far as that is declared
    properties: Mapping[str, str] = field(default_factory=dict)
    problem: Problem | None = None

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {"name": self.name, "kind": self.kind, "reachable": self.problem is None}
        document |= {"abis": list(self.abis), "properties": dict(self.properties)}
        return document | ({"problem": self.problem.as_json()} if self.problem else {})


def survey(specs: Sequence[DeviceSpec], *, clear: bool = False) -> list[Found]:
    """All devices of these names. `clear`: the caches of those elsewhere are removed."""
    with ThreadPoolExecutor(max(len(specs), 1)) as pool:
        return [found for several in pool.map(lambda spec: list(_ask(spec, clear)), specs) for found in several]


def everything(declared: Sequence[DeviceSpec]) -> list[DeviceSpec]:
    """This machine, its emulators, what adb knows, and the devices that were declared."""
    here = [DeviceSpec("local"), DeviceSpec("qemu")]
    return [*here, *([DeviceSpec("adb")] if adb.is_here() else []), *declared]


def _ask(spec: DeviceSpec, clear: bool) -> Iterator[Found]:
    if spec.kind == "local":
        yield Found("local", "local", properties=probe.of_this_machine())
    elif spec.kind == "qemu":
        yield from _emulators(spec)
    elif spec.kind == "adb" and not spec.address:
        try:
            known = adb.phones()
        except DeviceError as error:
            yield Found("adb", "adb", problem=error.problems[0])
            return
        for phone in known:
            yield from _ask(DeviceSpec("adb", address=phone.serial), clear)
    else:
        yield _elsewhere(spec, clear)


def _elsewhere(spec: DeviceSpec, clear: bool) -> Found:
    name = told(spec)
    try:
        (way,) = transports(spec)
        device = RemoteDevice("", way)
        properties = device.survey()
        if clear:
            device.clear()
    except LatheError as error:
        return Found(name, spec.kind, spec.target_abis, problem=error.problems[0])
    return Found(name, spec.kind, spec.target_abis, properties)


def _emulators(spec: DeviceSpec) -> Iterator[Found]:
    for abi, emulator in EMULATORS.items():
        cpu = spec.cpu or emulator.cpu
        try:
            properties = {"emulator": find(emulator, abi), "cpu": cpu}
        except DeviceError as error:
            yield Found(told(spec), "qemu", (abi,), problem=error.problems[0])
            continue
        yield Found(told(spec), "qemu", (abi,), properties)
