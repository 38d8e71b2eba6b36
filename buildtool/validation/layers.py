"""Compares what every node of a library computed, and tells the first that computes something else than it should.

Two questions are asked of each value. How far is it from what the network should have computed there? That error grows
over depth: whatever a node does wrong is in all values behind it. And what does the node itself add? For that the
reference of its operator gets the very operands that the library had: errors from further up are on both sides then,
and what differs is the node's own doing, its weights included. The second question decides which node is to blame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from buildtool.errors import GraphError
from buildtool.ir.graph import Graph, Node, Value
from buildtool.running.metrics import DIFFERENT, Array, Metrics, compare
from buildtool.running.recorded_values import Evaluation, Expected, Names, operands
from buildtool.tensors.spread import spread

#: What a kernel without a manifest may be off, as a part of the largest magnitude.
_UNKNOWN = (1e-3, 1e-6)
#: Units of a GPU, which have names without an instruction set, may store numbers in 16 bits and compute in as many.
_ON_GPU = (4e-3, 1e-6)

Tolerance = tuple[float, float]  # of the largest magnitude, and absolute


@dataclass(frozen=True)
class Layer:
    """One value of the network: what computed it, and how far it is from where it should be."""

    index: int  # of the node, in the order in which they run
    node: str  # in the source model
    op: str
    kernel: str
    value: str  # in the library
    source_names: tuple[str, ...]
    shape: tuple[int, ...]
    metrics: Metrics  # against the reference, everything in front of it included
    reference: str
    own: Metrics  # against its operator's meaning, on the operands that it had
    allowed: float  # the largest difference that the node itself may make
    source_cosine: float | None = None  # of what Lathe's graph should compute, against the source framework
    problem: str = ""
    spread: Mapping[str, Any] | None = None  # of what the library computed

    @property
    def passed(self) -> bool:
        return not self.problem and self.own.max_abs <= self.allowed

    @property
    def name(self) -> str:
        """The name that people know it by."""
        return self.source_names[0] if self.source_names else self.value

    def as_json(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "node": self.node,
            "op": self.op,
            "kernel": self.kernel,
            "value": self.value,
            "source_names": list(self.source_names),
            "shape": list(self.shape),
            **self.metrics.as_json(),
            "reference": self.reference,
            "own": self.own.as_json(),
            "allowed": self.allowed,
            "source_cosine": self.source_cosine,
            "passed": self.passed,
            **({"problem": self.problem} if self.problem else {}),
            **({"spread": dict(self.spread)} if self.spread else {}),
        }


@dataclass(frozen=True)
class Network:
    """A network as the library should compute it: its graph with the weights that were stored, and who knows it."""

    graph: Graph
    names: Names
    kernels: Mapping[tuple[str, str], str]  # by name and operator of a node: what ran
    tolerances: Mapping[str, Tolerance]  # by kernel

    def kernel_of(self, node: Node) -> str:
        return self.kernels.get((node.name, node.op.name), "")

    def allowed(self, node: Node, right: Array) -> float:
        """How far a node's result may be from this one: what the tests of its kernel allow."""
        kernel = self.kernel_of(node)
        rtol, atol = self.tolerances.get(kernel, _UNKNOWN if "__" in kernel or not kernel else _ON_GPU)
        finite = right[np.isfinite(right)] if right.dtype.kind == "f" else right
        largest = float(np.abs(finite.astype(np.float64)).max()) if finite.size else 0.0
        return rtol * largest + atol


def compare_layers(
    network: Network,
    inputs: Mapping[str, Array],
    values: Mapping[str, Array],
    source: Mapping[str, Array],
    source_name: str,
) -> Iterator[Layer]:
    """Every value that a node of the library computed, in order. `source`: tensors of the source framework by name."""
    expected = Expected(network.graph, inputs)
    alone = Evaluation(network.graph, inputs)
    for index, node in enumerate(network.graph.nodes):
        should = expected.of(node)
        own = own_results(alone, node, inputs, values)
        for value in node.outputs:
            yield _layer(network, index, node, value, should[value], own, values, source, source_name)


def own_results(
    alone: Evaluation, node: Node, inputs: Mapping[str, Array], values: Mapping[str, Array]
) -> dict[Value, Array] | str:
    """What the node should have made of the operands that it had, or why that cannot be said."""
    found = {value: values.get(value.name, inputs.get(value.name)) for value in operands(node)}
    missing = [value.name for value, array in found.items() if array is None]
    if missing:
        return f"the library did not return its operand '{missing[0]}'"
    try:
        return alone.of(node, {value: array for value, array in found.items() if array is not None})
    except GraphError as error:  # an index out of range, a size that nothing has: operands went wrong before
        return error.problems[0].what


def _layer(
    network: Network,
    index: int,
    node: Node,
    value: Value,
    should: Array,
    own: dict[Value, Array] | str,
    values: Mapping[str, Array],
    source: Mapping[str, Array],
    source_name: str,
) -> Layer:
    names = network.names.of_value(value)
    theirs = next((found for name in names if (found := aligned(source.get(name), should)) is not None), None)
    metrics, own_metrics, allowed = DIFFERENT, DIFFERENT, 0.0
    result, problem = values.get(value.name), own if isinstance(own, str) else ""
    if result is None:
        problem = "the library did not return this value"
    elif result.shape != should.shape:
        problem = f"shape {list(result.shape)} is not {list(should.shape)}"
    else:
        metrics = compare(result, should if theirs is None else theirs)
    if result is not None and not isinstance(own, str):
        right = own[value]
        allowed = network.allowed(node, right)
        if right.shape == result.shape:
            own_metrics = compare(result, right)
    return Layer(
        index=index,
        node=network.names.of_node(node),
        op=node.op.name,
        kernel=network.kernel_of(node),
        value=value.name,
        source_names=names,
        shape=tuple(should.shape),
        metrics=metrics,
        reference="numpy" if theirs is None else source_name,
        own=own_metrics,
        allowed=allowed,
        source_cosine=None if theirs is None else compare(should, theirs).cosine,
        problem=problem,
        spread=None if result is None else spread(result),
    )


_ORDERS = {3: ((0, 2, 1),), 4: ((0, 2, 3, 1), (0, 3, 1, 2)), 5: ((0, 2, 3, 4, 1), (0, 4, 1, 2, 3))}


def aligned(array: Array | None, like: Array) -> Array | None:
    """A tensor of the source in the order that Lathe has it in, or None where it is no such tensor.

    Where several orders fit (a picture as high as it has channels), that is taken which resembles most.
    """
    if array is None or array.size != like.size or array.dtype.kind != like.dtype.kind:
        return None
    array = array.reshape(_with_ones(array.shape, like.ndim)) if array.ndim < like.ndim else array
    orders = (tuple(range(array.ndim)), *_ORDERS.get(array.ndim, ()))
    fitting = [turned for order in orders if (turned := array.transpose(order)).shape == like.shape]
    if not fitting and [size for size in array.shape if size != 1] == [size for size in like.shape if size != 1]:
        fitting = [array.reshape(like.shape)]
    return max(fitting, key=lambda turned: compare(turned, like).cosine, default=None)


def _with_ones(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (*shape, *(1,) * (rank - len(shape)))


@dataclass(frozen=True)
class Verdict:
    """Who is to blame, in a sentence."""

    layer: Layer | None
    what: str = ""

    def as_json(self) -> dict[str, Any] | None:
        if self.layer is None and not self.what:
            return None
        layer = self.layer
        found = {} if layer is None else {"index": layer.index, "node": layer.node, "op": layer.op, "value": layer.name}
        return {**found, "what": self.what}


def judge(layers: list[Layer], threshold: float, kept: Mapping[str, Array], plain: Mapping[str, Array]) -> Verdict:
    """The first divergence. `kept` and `plain`: the outputs of the run that kept all values, and of one that did not.

    In order: a node that does not compute its operator; memory that is shared although it must not be, which shows
    only where values do not keep memory of their own; and a graph that is not the source model any more.
    """
    wrong = next((layer for layer in layers if not layer.passed), None)
    if wrong is not None:
        why = wrong.problem or (
            f"its result is off by {wrong.own.max_abs:.3g} on its operands; {wrong.allowed:.3g} is allowed"
        )
        return Verdict(wrong, f"{wrong.op} of node '{wrong.node}' ({wrong.kernel or 'no kernel known'}): {why}")
    for name, array in plain.items():
        if name in kept and not np.array_equal(kept[name], array, equal_nan=array.dtype.kind == "f"):
            what = f"the output '{name}' differs when inner values share memory"
            return Verdict(None, f"{what}: the memory plan is incorrect")
    astray = next(
        (layer for layer in layers if layer.source_cosine is not None and layer.source_cosine < threshold), None
    )
    if astray is not None:
        what = f"Lathe's graph itself differs from the source model (cosine {astray.source_cosine:.6f})"
        return Verdict(astray, f"{astray.op} of node '{astray.node}': {what}: the importer or a pass is incorrect")
    return Verdict(None)
