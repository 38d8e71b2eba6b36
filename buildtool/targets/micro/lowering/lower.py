"""Reads the graph of a quantised model into layers. Everything that has no layer is reported at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Node
from buildtool.targets.micro.lowering import functions, moving, products, states
from buildtool.targets.micro.lowering.state import Lowering, NoLayerError
from buildtool.targets.micro.network import Network

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

_IN_FLOAT = {"conv2d", "dwconv2d", "fully_connected"}  # whose stored forms have layers


def lower(graph: Graph, name: str) -> Network:
    """UnsupportedError names every node that has no layer."""
    real = [node for node in graph.nodes if node.op.name in _IN_FLOAT]
    if real:
        raise UnsupportedError([_in_float(name, real)])
    state = Lowering(graph)
    problems: list[Problem] = []
    for node in graph.nodes:
        handler = _HANDLERS.get(node.op.name)
        try:
            if handler is None:
                raise NoLayerError(f"the operator '{node.op.name}' has no kernel for microcontrollers")
            handler(state, node)
        except NoLayerError as problem:
            state.failed.update(node.outputs)
            if str(problem):
                problems.append(_problem(name, node, problem))
    problems += [] if problems else _borders(state, graph, name)
    if problems:
        raise UnsupportedError(problems)
    outputs = tuple(state.tensor(value) for value in graph.outputs)
    inputs = tuple(state.tensor(value) for value in graph.inputs)
    return states.kept(Network(name, inputs, outputs, tuple(state.layers), state.aliases), graph.initial)


def _in_float(name: str, nodes: Sequence[Node]) -> Problem:
    return Problem(
        f"'{nodes[0].op.name}' computes in floating point" + (f", and {len(nodes) - 1} more" if nodes[1:] else ""),
        Where(model=name, node=nodes[0].name or nodes[0].outputs[0].name),
        rule="microcontrollers run models whose tensors are stored as int8; a range file does not change a float model",
        remedy="quantise the whole model to int8 in its framework (TFLite), then: lathe init",
    )


def _problem(name: str, node: Node, problem: NoLayerError) -> Problem:
    return Problem(
        str(problem),
        Where(model=name, node=node.name or node.outputs[0].name),
        rule="microcontrollers run convolutions, matrix products, pools, sums, products, softmax, functions of one "
        "variable and copies of elements, on 8-bit integers",
        remedy=problem.remedy or "change the layer, or build the model for another target",
    )


def _borders(state: Lowering, graph: Graph, name: str) -> list[Problem]:
    """Outputs that no layer makes: real numbers that nothing stores."""
    return [
        Problem(
            f"the output '{value.name}' is computed in floating point",
            Where(model=name, value=value.name),
            rule="microcontrollers compute with 8-bit integers",
            remedy="quantise the whole model to int8 (TFLite)",
        )
        for value in graph.outputs
        if not state.is_stored(value)
    ]
