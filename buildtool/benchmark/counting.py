"""Instructions instead of seconds: an emulator's time is not that of any processor, but it can count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, TypeVar

from buildtool.builders.objects import ObjectCache
from buildtool.builders.qemu_plugin import count_plugin
from buildtool.devices.qemu import QemuDevice
from buildtool.errors import DeviceError, LatheError, RunError

_BEGIN, _END, _AFTER, _BEFORE = 0, 1, 2, 3  # a run; behind and in front of a node


@dataclass(frozen=True)
class Count:
    """What was executed between two markers. Accesses are of at most 8 bytes each."""

    instructions: int
    accesses: int

    def since(self, earlier: Count) -> Count:
        return Count(self.instructions - earlier.instructions, self.accesses - earlier.accesses)


@dataclass(frozen=True)
class Counts:
    """One warm run on one thread."""

    run: Count
    nodes: tuple[Count, ...]  # of another run, in the order in which they run


Markers = list[tuple[int, Count]]  # the number of each marker with the counts up to it
Result = TypeVar("Result")


@dataclass(frozen=True)
class Counted(Generic[Result]):
    """What ran and was counted, or why that could not be done."""

    result: Result | None
    markers: Markers
    problem: str = ""


def count(device: QemuDevice, run: Callable[[], Result]) -> Counted[Result]:
    """Count what `run` does on the device, where a program leaves markers."""
    try:
        plugin = count_plugin(ObjectCache())
    except LatheError as error:
        return Counted(None, [], f"the instruction-counting plugin cannot be built: {error.problems[0].what}")
    with TemporaryDirectory(prefix="lathe-count-") as folder:
        written = Path(folder) / "counts"
        try:
            with device.counting(plugin, written):
                result = run()
            return Counted(result, read(written))
        except (RunError, DeviceError, OSError, ValueError) as problem:
            what = problem.problems[0].what if isinstance(problem, LatheError) else str(problem)
            return Counted(None, [], f"this emulator cannot load the instruction-counting plugin ({what})")


def read(file: Path) -> Markers:
    """What the plugin wrote."""
    lines = [[int(word) for word in line.split()] for line in file.read_text().splitlines()]
    return [(number, Count(instructions, accesses)) for number, instructions, accesses in lines]


def of_run(markers: Markers) -> Counts:
    """The counts of a run of `lathe_run --markers`."""
    (whole,) = between(markers, _BEGIN, _END)
    return Counts(whole, between(markers, _BEFORE, _AFTER))


def of_operators(markers: Markers) -> tuple[Count, ...]:
    """The counts of the cases of `lathe_bench --markers`."""
    return between(markers, _BEGIN, _END)


def between(markers: Markers, first: int, last: int) -> tuple[Count, ...]:
    """From each marker with the one number to that with the other. The last one in front may have none behind it."""
    begins, ends = ([counted for number, counted in markers if number == wanted] for wanted in (first, last))
    return tuple(end.since(begin) for begin, end in zip(begins, ends, strict=False))
