"""Plans the memory of the zoo: how large each arena is, and what no plan could do without.

python scripts/memory_table.py > docs/reference/memory.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest
from buildtool.passes.pipeline import optimise
from buildtool.targets.cpu import TARGET
from buildtool.targets.protocol import LibrarySource, ModelSource
from tests.zoo.networks import NETWORKS, cached

ROOT = Path(__file__).resolve().parents[1]
TARGET_RATIO = 1.05
_HEAD = """\
# Memory

A session has one block of memory, the arena, in which every intermediate value has its place; values that are not
needed at the same time share it. The lower bound is what is alive at the busiest moment: no plan can do with less. The
target is an arena of at most {target} times that. Bytes for pictures of 224 x 224 in f32, on x86-64;
`scripts/memory_table.py` makes this page.

| network | arena | lower bound | ratio |
|---|---:|---:|---:|
"""
_TAIL = """
The inputs of a concatenation stand in its result from the start wherever that costs no memory, and what a slice takes
stays where it is: neither is copied then (`buildtool/plan/parts.py`).

To the arena comes the scratch memory of the node that wants most of it, and the weights: those of `fp32_fp32` are used
in place from the mapped file, those of `fp16_fp32` are expanded when the engine is created. `lathe inspect FOLDER`
tells all of these for a build, and `memory_info` of the C interface while a program runs.
"""


def rows() -> Iterator[tuple[str, int, int]]:
    """Name, bytes of the arena, bytes of the lower bound."""
    for name in NETWORKS:
        graph = import_model(ImportRequest(name, cached(name, ROOT / "build" / "test-zoo"))).graph
        optimise(graph)
        (model,) = TARGET.lower(LibrarySource(name, name, (ModelSource(name, graph),)), "host").models
        yield name, model.plan.arena_size, model.lower_bound


def page(table: Iterable[tuple[str, int, int]]) -> str:
    """The page of the documentation."""
    lines = [f"| {name} | {arena:,} | {bound:,} | {arena / bound:.3f} |\n" for name, arena, bound in table]
    return _HEAD.format(target=TARGET_RATIO) + "".join(lines) + _TAIL


if __name__ == "__main__":
    sys.stdout.write(page(rows()))
