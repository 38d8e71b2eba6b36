"""Kernels on the DSP give the bytes that those of the CPU give, on shapes that are drawn.

`make test` has a few of every family, `make test-all` 200.
"""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.plan import manifest
from buildtool.runtime import DeviceKind
from buildtool.targets.hexagon.parts import why_not
from tests.ops.drawn.stored import drawn_stored, stored_families
from tests.ops.stored_case import add_operand
from tests.targets.hexagon.dsp_library import dsp_library, on_dsp

FEW = 6
MANY = 200
_AT_ONCE = 40  # nodes of a model
_FAMILIES = sorted(stored_families())


def _models(family: str, count: int) -> list[tuple[Graph, dict[str, Array]]]:
    """Models of many nodes that have nothing to do with each other: those that the DSP has kernels for."""
    manifests, found = manifest.load(), []
    for first in range(0, count, _AT_ONCE):
        graph = Graph(name="case")
        arrays: dict[str, Array] = {}
        for item in drawn_stored(family, count)[first : first + _AT_ONCE]:
            before = len(graph.inputs)
            values = [add_operand(graph, operand) for operand in item.operands]
            node = graph.new_node(item.op, values, item.name, stored=list(item.results))
            if why_not(node, manifests):
                del graph.inputs[before:]
                continue
            graph.nodes.append(node)
            graph.outputs += node.outputs
            given = [operand.array for operand in item.operands if not operand.constant]
            arrays |= {value.name: array for value, array in zip(graph.inputs[before:], given, strict=True)}
        if graph.nodes:
            found.append((graph, arrays))
    return found


def _compare(family: str, count: int) -> int:
    compared = 0
    for number, (graph, arrays) in enumerate(_models(family, count)):
        library, model = dsp_library(frozenset(node.op.name for node in graph.nodes)), on_dsp(graph)
        with library.on_simulator():
            engine = library.engine(model, DeviceKind.DSP, threads=1 + 3 * (number % 2))
            assert engine.device_info.on_device
            found = engine.run(arrays)
        wanted = library.engine(model, DeviceKind.CPU).run(arrays)
        assert found.keys() == wanted.keys()
        for node, output in zip(graph.nodes, found, strict=False):
            np.testing.assert_array_equal(found[output], wanted[output], err_msg=f"{node.op}")
        compared += len(graph.nodes)
    return compared


@pytest.mark.slow
@pytest.mark.parametrize("family", _FAMILIES)
def test_a_few(family: str) -> None:
    _compare(family, FEW)


@pytest.mark.sweep
@pytest.mark.parametrize("family", _FAMILIES)
def test_many(family: str) -> None:
    _compare(family, MANY)
