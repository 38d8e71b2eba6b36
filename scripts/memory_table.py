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

The arena is the memory of a session for all intermediate values ([Memory planning](../explanation/memory-planning.md)).
The lower bound is the total size of the values that are alive at the busiest step: every plan needs at least that. The
target is an arena of at most {target} times the lower bound. Bytes for images of 224 x 224 in f32, on x86-64;
`scripts/memory_table.py` writes this page.

| network | arena | lower bound | ratio |
|---|---:|---:|---:|
"""
_TAIL = """
The inputs of a concatenation are written directly into its output where that needs no additional memory, and a slice
refers to its input: neither is copied then (`buildtool/plan/parts.py`).

A session also needs scratch memory, the largest requirement of any node, and weights: those of `fp32_fp32` are used
in place from the mapped file, those of `fp16_fp32` are expanded when the engine is created. `lathe inspect FOLDER`
prints all of these for a build, and `memory_info` of the C interface returns them in a program.
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
