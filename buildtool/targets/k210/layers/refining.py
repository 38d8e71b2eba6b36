"""Weights and biases of the KPU's layers that lose less in 8 bits, by what samples make of their inputs."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Node
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.passes.grids import column_grid
from buildtool.passes.store_quantised import WEIGHTED, known_types
from buildtool.quant.corrections import corrected_bias, rounded_together
from buildtool.quant.patches import Moments, groups_of, rows_of_weights
from buildtool.targets.k210.generation import quantise
from buildtool.targets.k210.generation.jobs import Convolution
from buildtool.targets.k210.generation.on_kpu import Settings
from buildtool.targets.k210.generation.place import place

_JOINT = 1 << 22  # products of a layer that are kept: of more only the means


def refine(graph: Graph, samples: Sequence[Array], settings: Settings) -> None:
    """Change the constants of an optimised graph with ranges: what `lathe quantize` does with `--bias-correction` and
    `--rounding adaptive`."""
    seen = _moments(graph, settings)
    (value,) = graph.inputs
    for sample in samples:
        found = {value.name: sample, **evaluate(graph, {value.name: sample}, keep=True)}
        for moments in seen:
            moments.see(found[moments.node.inputs[0].name])
    for moments in seen:
        weights = moments.node.inputs[1].constant
        assert weights is not None
        if moments.joint:
            weights = rounded_together(moments, centred=True)
        bias = corrected_bias(moments, weights)
        moments.node.inputs[1:3] = [
            graph.new_constant("weights", np.ascontiguousarray(weights, np.float32)),
            graph.new_constant("bias", bias),
        ]


def _moments(graph: Graph, settings: Settings) -> list[Moments]:
    """Of the layers that go to the KPU, whose weights and inputs are stored."""
    jobs = place(graph, quantise.stored(graph), settings.product_bytes)
    nodes = dict.fromkeys(job.node for job in jobs if isinstance(job, Convolution))
    types = known_types(graph)
    made = []
    for node in nodes:
        x = node.inputs[0]
        if x not in types or not _can_change(node):
            continue
        rows = rows_of_weights(node, np.asarray(node.inputs[1].constant))
        grid = functools.partial(column_grid, axis=WEIGHTED[node.op.name])
        stored = TensorType(DType.S8, x.type.shape, types[x])
        made.append(Moments(node, stored, grid, rows.shape[0] * rows.shape[2] ** 2 <= _JOINT))
    return made


def _can_change(node: Node) -> bool:
    constants = [value.is_constant for value in node.inputs[1:3]]
    return node.op.name in WEIGHTED and groups_of(node) > 0 and all(constants)
