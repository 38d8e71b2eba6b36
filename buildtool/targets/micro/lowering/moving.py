"""Operators that move bytes and compute nothing."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from buildtool.ir.graph import Node
from buildtool.ops.concat import Concat as ConcatOperator
from buildtool.ops.pad import Pad as PadOperator
from buildtool.targets.micro.lowering.state import Lowering, NoLayerError, shape_of
from buildtool.targets.micro.network import Concat, Pad


def reshape(state: Lowering, node: Node) -> None:
    """The same bytes; of a real value the same bytes, too."""
    source, (value,) = node.inputs[0], node.outputs
    if source in state.real and not state.is_stored(source):
        pending = state.real[source]
        if pending.op != "stored":
            raise NoLayerError("a reshape of values that are computed in floating point")
        tensor = pending.inputs[0]
        made = replace(tensor, name=value.name, shape=shape_of(value))
        state.aliases[made] = tensor
        state.real[value] = replace(pending, inputs=(made,))
        return
    tensor = state.tensor(source)
    made = replace(tensor, name=value.name, shape=shape_of(value))
    state.aliases[made] = tensor
    state.stored[value] = made


def concat(state: Lowering, node: Node) -> None:
    op = node.op
    assert isinstance(op, ConcatOperator)
    (value,) = node.outputs
    inputs = tuple(state.tensor(source) for source in node.inputs)
    shape = shape_of(value)
    rows = prod(shape[: op.axis])
    output = replace(inputs[0], name=value.name, shape=shape)
    runs = tuple(tensor.bytes // rows for tensor in inputs)
    state.add(value, Concat(name=node.name or value.name, inputs=inputs, output=output, rows=rows, runs=runs))


def pad(state: Lowering, node: Node) -> None:
    op = node.op
    assert isinstance(op, PadOperator)
    (value,) = node.outputs
    tensor = state.tensor(node.inputs[0])
    sides = (*op.before, *op.after)
    inner = (op.before[0], op.before[-1], op.after[0], op.after[-1])
    if op.mode != "constant" or len(tensor.shape) != 4 or any(inner) or min(sides) < 0:
        raise NoLayerError("a border that is not one of constants around an image")
    output = replace(tensor, name=value.name, shape=shape_of(value))
    about = (int(op.before[1]), int(op.before[2]))
    layer = Pad(name=node.name or value.name, inputs=(tensor,), output=output, before=about, value=int(op.value))
    state.add(value, layer)
