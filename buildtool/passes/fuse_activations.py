"""Lets the layer before an activation apply it to its own result."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from buildtool.ir.graph import Graph, Node
from buildtool.ir.operator import Operator
from buildtool.ops._activation import ActivatedOperator
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor

#: The attributes of an activation's operator that become its alpha and beta.
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "relu": (),
    "clip": ("low", "high"),
    "sigmoid": (),
    "tanh": (),
    "leaky_relu": ("alpha",),
    "elu": ("alpha",),
    "hard_sigmoid": ("alpha", "beta"),
    "hard_swish": (),
    "swish": (),
}
#: Those that only cut off ends.
BOUNDS = frozenset({"relu", "clip"})


class FuseActivations(Pass):
    """`bounds_only`: where numbers are stored in a few bits, layers cut off ends; other functions are tables then."""

    name = "fuse_activations"
    summary = "merge activations into the preceding convolution, matrix product or addition"
    requires = ("move_transposes",)

    def __init__(self, *, bounds_only: bool = False) -> None:
        self._fused = BOUNDS if bounds_only else frozenset(_PARAMETERS)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            maker = self._maker(editor, node)
            if maker is not None:
                # The name stays with the layer: it does the work.
                editor.substitute(node, _activated(maker, node.op), maker.inputs, maker.name)
                editor.remove(maker)
        return editor.changed

    def ensures(self, graph: Graph) -> Iterator[str]:
        editor = Editor(graph)
        for node in graph.walk():
            if self._maker(editor, node) is not None:
                yield f"{node!r} could be fused"

    def _maker(self, editor: Editor, node: Node) -> Node | None:
        """The layer that can apply the activation `node`."""
        if node.op.name not in self._fused:
            return None
        maker = editor.producer(node.inputs[0])
        if maker is None or not editor.is_private(node.inputs[0]) or not isinstance(maker.op, ActivatedOperator):
            return None
        return maker if maker.op.activation == "none" and node.inputs[0].type.dtype.is_float else None


def _activated(maker: Node, activation: Operator) -> Operator:
    """The layer's operator with the activation in its attributes."""
    assert isinstance(maker.op, ActivatedOperator)
    parameters = [float(getattr(activation, name)) for name in _PARAMETERS[activation.name]]
    alpha, beta = (*parameters, 0.0, 0.0)[:2]
    return dataclasses.replace(maker.op, activation=activation.name, activation_alpha=alpha, activation_beta=beta)
