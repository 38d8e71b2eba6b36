"""Pictures of the memories: whose kernels are where, and what of the data memories each layer reads and writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.devices import PROCESSORS, PROCESSORS_PER_MEMORY
from buildtool.targets.max7800x.firmware import regions
from buildtool.targets.max7800x.firmware.hardware import HardwareLayer
from buildtool.targets.max7800x.firmware.kernel_memory import FREE, KernelMemory
from buildtool.targets.max7800x.firmware.program import Program
from buildtool.targets.max7800x.firmware.regions import Region

_MEMORIES = PROCESSORS // PROCESSORS_PER_MEMORY
_RULER = 10  # columns between two numbers of a ruler
_BARS = 64  # characters of a memory in text
_LEGEND = "<: read, >: written, #: both, -: neither, but a layer to come reads it"
_COLOURS = {"<": "#4c78a8", ">": "#f58518", "#": "#b279a2", "-": "#bab0ac"}
_PANEL, _ROW, _MARGIN, _TITLE = 480, 8, 30, 16  # pixels


def emit(program: Program) -> dict[str, bytes]:
    """The maps as files."""
    kernels = kernel_use(program.placed.kernels, program.placed.layers) + "\n" + kernel_map(program.placed.kernels)
    return {
        "kernels.txt": kernels.encode(),
        "data.txt": data_map(program).encode(),
        "data.svg": data_map_svg(program),
    }


def kernel_map(memory: KernelMemory) -> str:
    """A line for each processor that has kernels: for each column the number of the layer, a dot where it is free."""
    owners = memory.owners
    held = np.flatnonzero((owners != FREE).any(axis=1))
    if not len(held):
        return "No layer has kernels.\n"
    end = int(np.flatnonzero((owners != FREE).any(axis=0))[-1]) + 1
    digits = len(str(int(owners.max())))
    width = digits + (digits > 1)
    lines = [_ruler(end, width)]
    for processor in held:
        cells = ("." if owner == FREE else str(owner) for owner in owners[processor, :end])
        lines.append(f"{processor:>9} " + "".join(f"{cell:>{width}}" for cell in cells))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _ruler(end: int, width: int) -> str:
    """The numbers of columns above the last character of each."""
    cells = (f"{column:<{_RULER * width}}" for column in range(0, end, _RULER))
    return "processor " + " " * (width - 1) + "".join(cells)


@dataclass(frozen=True)
class Step:
    """What one layer does to the data memories."""

    title: str
    reads: Region
    writes: Region
    kept: tuple[Region, ...]  # written before, read later


def steps(program: Program) -> tuple[Step, ...]:
    """Every layer, in the order in which they run."""
    layers = program.placed.layers
    at = next(number for number, hardware in enumerate(layers) if hardware.first)
    running: list[int] = []
    following: int | None = at
    while following is not None:
        running.append(following)
        following = layers[following].following
    reads = {number: regions.reads(program.placed, number) for number in running}
    writes = {number: regions.writes(program.placed, number) for number in running}
    found = []
    for position, number in enumerate(running):
        later = {source for other in running[position + 1 :] for source in layers[other].layer.sources}
        kept = tuple(
            writes[before] for before in running[:position] if layers[before].layer.index in later
            or layers[before].layer.is_output
        )  # fmt: skip
        found.append(Step(f"Layer {layers[number].title}", reads[number], writes[number], kept))
    return tuple(found)


def data_map(program: Program) -> str:
    """For each layer a line for each memory that holds something: its bytes from the first to the last."""
    size = program.network.device.data_bytes
    lines = [f"{_LEGEND}; a character is {size // _BARS} bytes"]
    for step in steps(program):
        lines.append(step.title)
        for memory in range(_MEMORIES):
            bar = "".join(mark for mark, _ in _marks(step, memory, size, _BARS))
            if bar.strip("."):
                lines.append(f"  processors {4 * memory:>2} to {4 * memory + 3:>2} |{bar}|")
    return "\n".join(lines) + "\n"


def _marks(step: Step, memory: int, size: int, parts: int) -> Iterator[tuple[str, int]]:
    """For each part of a memory what happens to it."""
    for part in range(parts):
        start, end = part * size // parts, (part + 1) * size // parts
        read, written = (region.touches(memory, start, end) for region in (step.reads, step.writes))
        if read or written:
            mark = "#" if read and written else "<" if read else ">"
        else:
            mark = "-" if any(region.touches(memory, start, end) for region in step.kept) else "."
        yield mark, part


def data_map_svg(program: Program) -> bytes:
    """The same as a picture: a panel for each layer, a row for each memory."""
    size = program.network.device.data_bytes
    found = steps(program)
    height = _MEMORIES * _ROW + _TITLE + _MARGIN // 2
    body = "".join(_panel(step, size, number * height + _MARGIN) for number, step in enumerate(found))
    total = len(found) * height + _MARGIN
    legend = escape(f"{program.network.name}: blue is read, orange written, purple both, grey read later")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_PANEL + 2 * _MARGIN}" height="{total}"'
        f' font-family="sans-serif" font-size="11">'
        f'<text x="{_MARGIN}" y="{_MARGIN // 2}">{legend}</text>{body}</svg>\n'
    ).encode()


def _panel(step: Step, size: int, top: int) -> str:
    parts = [f'<text x="{_MARGIN}" y="{top + _TITLE - 4}">{escape(step.title)}</text>']
    top += _TITLE
    parts.append(
        f'<rect x="{_MARGIN}" y="{top}" width="{_PANEL}" height="{_MEMORIES * _ROW}" fill="#f4f4f4" stroke="#ccc"/>'
    )
    drawn = [(region, "-") for region in step.kept] + [(step.reads, "<"), (step.writes, ">")]
    for region, mark in drawn:
        parts += [_bar(region.start, region.end, memory, size, top, mark) for memory in region.memories]
    both = Region(
        tuple(memory for memory in step.reads.memories if memory in step.writes.memories),
        max(step.reads.start, step.writes.start),
        min(step.reads.end, step.writes.end),
    )
    if both.start < both.end:
        parts += [_bar(both.start, both.end, memory, size, top, "#") for memory in both.memories]
    return "".join(parts)


def _bar(start: int, end: int, memory: int, size: int, top: int, mark: str) -> str:
    left = _MARGIN + _PANEL * start / size
    return (
        f'<rect x="{left:.1f}" y="{top + memory * _ROW}" width="{_PANEL * (end - start) / size:.1f}"'
        f' height="{_ROW - 1}" fill="{_COLOURS[mark]}"/>'
    )


def kernel_use(memory: KernelMemory, layers: Sequence[HardwareLayer]) -> str:
    """A line for each layer with kernels: where they begin, how many columns they take, on how many processors."""
    lines = ["layer  first column  columns  processors"]
    for at, placed in memory.placed.items():
        count = processors.count(layers[at].layer.processors)
        lines.append(f"{layers[at].layer.index:>5}  {placed.start:>12}  {placed.columns:>7}  {count:>10}")
    return "\n".join(lines) + "\n"
