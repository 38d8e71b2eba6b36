"""What every imported graph has to bear: the text form, the container, and a run, where they are cheap."""

from __future__ import annotations

import math

import numpy as np

from buildtool.codegen import container
from buildtool.ir import dims, text
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ops.registry import registry

_SMALL_NODES = 60
_SMALL_BYTES = 2**18


def take_further(graph: Graph) -> None:
    """Writes, reads and runs a graph. AssertionError where it does not come back as it was."""
    held = sum(value.constant.nbytes for value in graph.values() if value.constant is not None)
    if len(graph.nodes) > _SMALL_NODES or held > _SMALL_BYTES:
        return
    _write_and_read(graph)
    _run(graph)


def _write_and_read(graph: Graph) -> None:
    written, arrays = text.write(graph)
    if text.write(text.read(written, arrays, registry()))[0] != written:
        raise AssertionError("the text form changed on the way")
    files = container.write(graph, name="fuzzed", half=False)
    container.read(files.model, files.data, registry())


def _run(graph: Graph) -> None:
    """Runs a graph that is cheap to run on ones. Regions are left out: how often they run the data decides."""
    symbols = {name: min(max(symbol.low, 2), symbol.high) for name, symbol in graph.symbols.items()}
    try:
        sizes = [[dims.evaluate(dim, symbols) for dim in value.type.shape] for value in graph.values()]
        work = [
            dims.evaluate(
                node.op.macs([value.type for value in node.inputs], [value.type for value in node.outputs]), symbols
            )
            for node in graph.nodes
        ]
    except ValueError:  # impossible sizes: `evaluate` would only say so
        return
    borders = [  # around images, which the reference makes whole
        max(sides)  # type: ignore[type-var]
        for node in graph.nodes
        if isinstance(sides := node.op.attributes().get("pads"), tuple)
        and sides
        and all(isinstance(side, int) for side in sides)
    ]
    costs = [*(side * side for side in borders), *(math.prod(size) for size in sizes), *work]  # type: ignore[operator]
    if max(costs, default=0) > _SMALL_BYTES or any(node.regions for node in graph.nodes):  # type: ignore[operator, type-var]
        return
    inputs = {
        value.name: np.ones([dims.evaluate(dim, symbols) for dim in value.type.shape], value.type.dtype.numpy)
        for value in graph.inputs
    }
    evaluate(graph, inputs)
