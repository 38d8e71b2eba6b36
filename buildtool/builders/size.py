"""How many bytes each kernel and operator costs, from the map that the linker writes when it tailors a library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from buildtool.builders.built import SizeReport
from buildtool.plan.manifest import KernelInfo

_START = "Linker script and memory map"
_ENTRY = re.compile(r"^ (\.[\w.$*:<>~-]+)?\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S.*)$")
_LOADED = (".text", ".rodata", ".data", ".bss", ".tdata", ".tbss", ".note.lathe", ".init_array", ".ARM")


def report(
    linker_map: Path, units: Mapping[str, str], kernels: Sequence[KernelInfo], weights: int, total: int
) -> SizeReport:
    """Sizes by origin. `units`: the source of each object file, by the path that the linker saw."""
    kernel_of = {kernel.source: kernel for kernel in kernels}
    by_kernel = {kernel.name: 0 for kernel in kernels}
    core = 0
    for section, size, file in entries(linker_map.read_text(errors="replace")):
        if section.startswith(_LOADED):
            kernel = kernel_of.get(units.get(file, ""))
            if kernel is not None:
                by_kernel[kernel.name] += size
            elif not section.startswith((".rodata.lathe_model", ".rodata.lathe_data")):
                core += size
    by_operator: dict[str, int] = {}
    for kernel in kernels:
        by_operator[kernel.op] = by_operator.get(kernel.op, 0) + by_kernel[kernel.name]
    return SizeReport(by_kernel, by_operator, core, weights, total)


def entries(text: str) -> Iterator[tuple[str, int, str]]:
    """`(section, bytes, object file)` of everything that was kept. A long name has a line of its own."""
    kept = text.partition(_START)[2]
    pending = ""
    for line in kept.splitlines():
        match = _ENTRY.match(line)
        if match:
            yield match.group(1) or pending, int(match.group(2), 16), match.group(3)
        pending = line.strip() if re.fullmatch(r" \.\S+", line) else ""
