"""Operators that move bytes and compute nothing."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Array
from buildtool.ops.concat import Concat as ConcatOperator
from buildtool.ops.pad import Pad as PadOperator
from buildtool.ops.resize2d import Resize2d
from buildtool.targets.micro.lowering.state import Lowering, NoLayerError, constant, shape_of
from buildtool.targets.micro.moves import loops_of, runs_of
from buildtool.targets.micro.network import Concat, Gather, Move, Pad, Tensor

#: Operators that copy elements to other places.
SELECT = ("broadcast_to", "depth_to_space", "gather", "slice", "space_to_depth", "split", "tile", "transpose")


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
    if tensor.dtype == "int16" and op.value != 0:
        raise NoLayerError("a border of 16 bits that is not zero")
    output = replace(tensor, name=value.name, shape=shape_of(value))
    about = (int(op.before[1]), int(op.before[2]))
    layer = Pad(name=node.name or value.name, inputs=(tensor,), output=output, before=about, value=int(op.value))
    state.add(value, layer)


def rearrange(state: Lowering, node: Node) -> None:
    """Any operator that only selects: its definition says where each element comes from."""
    source = node.inputs[0]
    pending = None if state.is_stored(source) else state.pending(source)
    if pending is not None and pending.op not in ("stored", "bytes"):
        raise NoLayerError("elements of values that are computed in floating point")
    tensor = state.tensor(source) if pending is None else pending.inputs[0]
    positions = np.arange(tensor.elements, dtype=np.int64).reshape(tensor.shape)
    others = [constant(other) for other in node.inputs[1:]]
    for value, sources in zip(node.outputs, node.op.reference(positions, *others), strict=True):
        output = moved(state, tensor, value, sources, node.name or value.name)
        if pending is None:
            state.stored[value] = output
        else:
            state.real[value] = replace(pending, inputs=(output,))


def resize(state: Lowering, node: Node) -> None:
    op = node.op
    assert isinstance(op, Resize2d)
    if op.mode != "nearest":
        raise NoLayerError(f"a resize of mode '{op.mode}'", "resize by the nearest element")
    rearrange(state, node)


def moved(state: Lowering, tensor: Tensor, value: Value, sources: Array, name: str) -> Tensor:
    """A layer that copies from these positions of a tensor."""
    if sources.size == 0 or tensor.dtype not in ("int8", "int16"):
        raise NoLayerError("copies of floats, or of no elements")
    output = replace(tensor, name=value.name, shape=tuple(sources.shape))
    about: dict[str, Any] = {"name": name, "inputs": (tensor,), "output": output}
    if tensor.dtype == "int16":
        sources = sources[..., None] * 2 + np.arange(2)
    if loops := loops_of(sources):
        state.layers.append(Move(start=int(sources.flat[0]), loops=loops, **about))
    else:
        run, places = runs_of(sources)
        state.layers.append(Gather(run=run, places=places, **about))
    return output
