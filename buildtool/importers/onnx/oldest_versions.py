"""Brings models of the operator sets 1 to 6 to number 7, the oldest that the handlers know.

The converter of the onnx package is not used: it infers shapes first, which it cannot do for most operators of the sets
1 to 5, and it puts the second operand of an addition with `axis=1` along the wrong axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx.shape_inference
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from buildtool.errors import ModelFileError, UnsupportedError, Where

#: The operator set that models are brought to.
TARGET = 7
#: Marks a PRelu, whose row of slopes had one for each channel. From set 7 on such a row lies along the last axis.
SLOPE_PER_CHANNEL = "lathe_slope_per_channel"
#: Attributes that say nothing about what is computed, or not any more once a model is upgraded.
_DROPPED = ("consumed_inputs", "broadcast", "output_sequence")
#: The second operand was laid along the axes of the first from `axis` on.
_ALIGNED = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")


def upgrade(model: ModelProto, domains: Sequence[str], where: Where) -> ModelProto:
    """A copy of the model in operator set 7."""
    upgraded = ModelProto()
    upgraded.CopyFrom(model)
    for entry in upgraded.opset_import:
        if entry.domain in domains:
            entry.version = TARGET
    ranks = _ranks(upgraded, domains, where)
    _Upgrade(upgraded.graph, {}, ranks, where).of_nodes(domains)
    return upgraded


class _Upgrade:
    """Upgrades the nodes of a graph. `outer`: the constants of graphs around it."""

    def __init__(
        self, graph: GraphProto, outer: Mapping[str, TensorProto], ranks: Mapping[str, int], where: Where
    ) -> None:
        self.graph = graph
        self.ranks = ranks
        self.where = where
        self.constants = {**outer, **{tensor.name: tensor for tensor in graph.initializer}}
        for node in graph.node:
            if node.op_type == "Constant" and node.output:
                held = (one.t for one in node.attribute if one.name == "value")
                self.constants.update(dict.fromkeys(node.output, next(held, TensorProto())))

    def of_nodes(self, domains: Sequence[str]) -> None:
        nodes = list(self.graph.node)
        del self.graph.node[:]
        for node in nodes:
            for attribute in node.attribute:
                if attribute.type == AttributeProto.GRAPH:
                    _Upgrade(attribute.g, self.constants, self.ranks, self.where).of_nodes(domains)
            if node.domain in domains:
                if node.op_type in _ALIGNED:
                    self._align(node)
                if node.op_type in _CHANGES:
                    _CHANGES[node.op_type](node, self)
                for name in _DROPPED:
                    taken(node, name)
            self.graph.node.append(node)

    def _align(self, node: NodeProto) -> None:
        """Gives the second operand axes of one element behind its own, so that it lies along the axes that it did."""
        axis, broadcast = taken(node, "axis"), taken(node, "broadcast")
        if axis is None or broadcast is None or not broadcast.i or len(node.input) != 2:
            return
        left, right = (self.rank(node, name) for name in node.input)
        behind = left - (axis.i + left if axis.i < 0 else axis.i) - right
        if behind < 0 and len(self.numbers(node.input[1]) or []) == 1:
            return  # a single number lies along all axes
        if behind < 0:
            raise ModelFileError(
                f"{node.op_type}: the attribute 'axis' is {axis.i}, and its inputs have {left} and {right} axes",
                where=self.of(node),
                rule="from that axis on the first input has at least as many axes as the second one",
                remedy="the file is damaged or was not made by an ONNX exporter: export it again",
            )
        if behind:
            shape = self.constant(node, [0] * right + [1] * behind)
            name = f"{node.output[0]}__operand"
            self.graph.node.append(helper.make_node("Reshape", [node.input[1], shape], [name], name=node.name))
            node.input[1] = name

    def of(self, node: NodeProto) -> Where:
        return Where(file=self.where.file, model=self.where.model, node=node.name or node.output[0])

    def rank(self, node: NodeProto, name: str) -> int:
        """How many axes a value has, which the meaning of a node depends on."""
        if name in self.constants:
            return len(self.constants[name].dims)
        if name not in self.ranks:
            raise UnsupportedError(
                f"{node.op_type}: it is not known how many axes '{name}' has",
                where=self.of(node),
                rule=f"operator sets before {TARGET} depend on it",
                remedy=f"export the model with an operator set from {TARGET} on",
            )
        return self.ranks[name]

    def numbers(self, name: str) -> list[int] | None:
        """The elements of a constant; None of what is not one."""
        tensor = self.constants.get(name)
        return None if tensor is None else [int(one) for one in numpy_helper.to_array(tensor).ravel()]

    def constant(self, node: NodeProto, values: Sequence[int]) -> str:
        """The name of a new constant beside a node."""
        name = f"{node.output[0]}__sizes"
        self.constants[name] = numpy_helper.from_array(np.asarray(values, np.int64), name)
        self.graph.initializer.append(self.constants[name])
        return name


def taken(node: NodeProto, name: str) -> AttributeProto | None:
    """An attribute, which the node has no longer."""
    for index, attribute in enumerate(node.attribute):
        if attribute.name == name:
            del node.attribute[index]
            return attribute
    return None


def _ranks(model: ModelProto, domains: Sequence[str], where: Where) -> dict[str, int]:
    """How many axes values have: inferred in operator set 7. What is broadcast is as large as the first operand."""
    simple = ModelProto()
    simple.CopyFrom(model)
    upgrade = _Upgrade(simple.graph, {}, {}, where)
    for node in simple.graph.node:
        if node.domain not in domains:
            continue
        if node.op_type in (*_ALIGNED, "Tile"):
            del node.input[1:], node.attribute[:]
            node.op_type = "Identity"
        elif node.op_type in _CHANGES:
            _CHANGES[node.op_type](node, upgrade)
        for name in _DROPPED:
            taken(node, name)
    inferred = onnx.shape_inference.infer_shapes(simple).graph
    typed = (*inferred.input, *inferred.value_info, *inferred.output)
    return {
        value.name: len(value.type.tensor_type.shape.dim) for value in typed if value.type.tensor_type.HasField("shape")
    }


def _normalised(node: NodeProto, graph: _Upgrade) -> None:
    """A node said whether it was part of training."""
    said = taken(node, "is_test")
    if said is not None and not said.i and len(node.output) > 1 and node.op_type == "BatchNormalization":
        raise UnsupportedError(
            "BatchNormalization: the model was exported for training",
            where=graph.of(node),
            rule="libraries infer",
            remedy="export the model in inference mode",
        )


def _cast(node: NodeProto, graph: _Upgrade) -> None:
    """A type was a word."""
    word = taken(node, "to")
    if word is None or word.type != AttributeProto.STRING:
        node.attribute.extend([word] if word is not None else [])
        return
    name = word.s.decode(errors="replace").upper()
    if name not in TensorProto.DataType.keys():  # noqa: SIM118  # no mapping
        raise ModelFileError(
            f"Cast: the attribute 'to' is '{name}'",
            where=graph.of(node),
            rule=f"types are {', '.join(TensorProto.DataType.keys()[1:])}",
            remedy="the file is damaged or was not made by an ONNX exporter: export it again",
        )
    node.attribute.append(helper.make_attribute("to", TensorProto.DataType.Value(name)))


def _concat(node: NodeProto, graph: _Upgrade) -> None:
    """The axis could be left out: channels were meant."""
    del graph
    if all(attribute.name != "axis" for attribute in node.attribute):
        node.attribute.append(helper.make_attribute("axis", 1))


def _pad(node: NodeProto, graph: _Upgrade) -> None:
    """`pads` were `paddings`."""
    del graph
    paddings = taken(node, "paddings")
    if paddings is not None:
        node.attribute.append(helper.make_attribute("pads", list(paddings.ints)))


def _pool(node: NodeProto, graph: _Upgrade) -> None:
    """The power was a real number."""
    del graph
    power = taken(node, "p")
    if power is not None:
        node.attribute.append(
            helper.make_attribute("p", int(power.f) if power.type == AttributeProto.FLOAT else power.i)
        )


def _prelu(node: NodeProto, graph: _Upgrade) -> None:
    del graph
    node.attribute.append(helper.make_attribute(SLOPE_PER_CHANNEL, 1))


def _reshape(node: NodeProto, graph: _Upgrade) -> None:
    """The shape was an attribute."""
    shape = taken(node, "shape")
    if shape is not None and len(node.input) == 1:
        node.input.append(graph.constant(node, list(shape.ints)))


def _split(node: NodeProto, graph: _Upgrade) -> None:
    """Sizes could be an input."""
    sizes = graph.numbers(node.input[1]) if len(node.input) == 2 else None
    if sizes is not None:
        del node.input[1]
        node.attribute.append(helper.make_attribute("split", sizes))


def _tile(node: NodeProto, graph: _Upgrade) -> None:
    """One axis was repeated, and both numbers were inputs."""
    if len(node.input) != 3:
        return
    tiles, axis = (graph.numbers(name) or [] for name in node.input[1:])
    rank = graph.rank(node, node.input[0])
    if len(tiles) != 1 or len(axis) != 1 or not 0 <= axis[0] < rank:
        raise UnsupportedError(
            "Tile: how often an axis is repeated, and which, is not known",
            where=graph.of(node),
            rule="both are constants in operator sets before 6",
            remedy=f"export the model with an operator set from {TARGET} on",
        )
    del node.input[1:]
    node.input.append(graph.constant(node, [tiles[0] if place == axis[0] else 1 for place in range(rank)]))


def _upsample(node: NodeProto, graph: _Upgrade) -> None:
    """There was a scale for the height and one for the width."""
    del graph
    height, width = taken(node, "height_scale"), taken(node, "width_scale")
    if height is not None and width is not None:
        node.attribute.append(helper.make_attribute("scales", [1.0, 1.0, height.f, width.f]))
    mode = taken(node, "mode")
    if mode is not None:
        node.attribute.append(helper.make_attribute("mode", "linear" if mode.s == b"bilinear" else mode.s.decode()))


_CHANGES: dict[str, Callable[[NodeProto, _Upgrade], None]] = {
    "BatchNormalization": _normalised,
    "Cast": _cast,
    "Concat": _concat,
    "Dropout": _normalised,
    "GlobalLpPool": _pool,
    "LpPool": _pool,
    "PRelu": _prelu,
    "Pad": _pad,
    "Reshape": _reshape,
    "Split": _split,
    "Tile": _tile,
    "Upsample": _upsample,
}
