"""Reads the graph of a quantised model into layers. Everything that has no layer is reported at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Node, Value
from buildtool.targets.micro.lowering import definitions, functions, moving, products, recurrent, states
from buildtool.targets.micro.lowering.state import Lowering, NoLayerError
from buildtool.targets.micro.network import Network, Tensor

_Handler: TypeAlias = Callable[[Lowering, Node], None]
_HANDLERS: dict[str, _Handler] = {
    "qlinear_conv": products.convolution,
    "dequantize_linear": functions.dequantize,
    "quantize_linear": functions.quantize,
    "cast": functions.cast,
    "clip": functions.clip,
    "max_pool2d": functions.pool,
    "avg_pool2d": functions.pool,
    "reduce_mean": functions.mean,
    "add": functions.arithmetic,
    "mul": functions.arithmetic,
    "relu": functions.unary,
    "softmax": functions.unary,
    **dict.fromkeys(functions.OF_ONE_VARIABLE, functions.unary),
    "reshape": moving.reshape,
    "identity": moving.reshape,
    "concat": moving.concat,
    "pad": moving.pad,
    "resize2d": moving.resize,
    **dict.fromkeys(moving.SELECT, moving.rearrange),
}

#: Whose layers read floats, too.
_OF_FLOATS = ("identity", "quantize_linear", "reshape")


def lower(graph: Graph, name: str, *, halves: bool = False) -> Network:
    """UnsupportedError names every node that has no layer. `halves`: constants of floats are stored as bf16."""
    state = Lowering(graph, halves=halves)
    problems: list[Problem] = []
    whole = recurrent.whole(graph)
    for node in graph.nodes:
        if node in whole.skipped:
            continue
        try:
            if node in whole.layers:
                recurrent.layer(state, node, whole.layers[node])
            else:
                _node(state, node)
        except NoLayerError as problem:
            state.failed.update(node.outputs)
            if str(problem):
                problems.append(_problem(name, node, problem))
    if problems:
        raise UnsupportedError(problems)
    outputs = tuple(_output(state, value, name) for value in graph.outputs)
    inputs = tuple(state.tensor(value) for value in graph.inputs)
    return states.kept(Network(name, inputs, outputs, tuple(state.layers), state.aliases), graph.initial)


def _node(state: Lowering, node: Node) -> None:
    """By a kernel for bytes, where there is one, or by its definition."""
    handler = _HANDLERS.get(node.op.name)
    if handler is not None and (node.op.name in _OF_FLOATS or state.reads_bytes(node)):
        before = state.saved()
        try:
            handler(state, node)
        except NoLayerError as problem:
            if not str(problem):
                raise
            state.restore(before)
        else:
            return
    definitions.define(state, node)


def _output(state: Lowering, value: Value, name: str) -> Tensor:
    if state.constant_of(value) is not None:
        raise UnsupportedError(
            f"the output '{value.name}' does not depend on the inputs",
            where=Where(model=name, value=value.name),
            remedy="leave it out of output_tensors",
        )
    return definitions.tensor_of(state, value)


def _problem(name: str, node: Node, problem: NoLayerError) -> Problem:
    return Problem(
        str(problem),
        Where(model=name, node=node.name or node.outputs[0].name),
        rule="microcontrollers run what has a kernel for 8-bit integers, and operators whose results are sums, "
        "functions and copies of elements in places that do not depend on the input",
        remedy=problem.remedy or "change the layer, or build the model for another target",
    )
