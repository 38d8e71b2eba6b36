"""Operators that compute on what stored bytes stand for: pools, sums, functions of one variable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.ir.graph import Node
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.clip import Clip
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.reduce_mean import ReduceMean
from buildtool.ops.softmax import Softmax as SoftmaxOperator
from buildtool.targets.micro.fixed_point import multiplier_of, scaled
from buildtool.targets.micro.lowering import exponentials, shorts
from buildtool.targets.micro.lowering.moving import moved
from buildtool.targets.micro.lowering.state import QUANTISE, Lowering, NoLayerError, Pending, scale_of, shape_of
from buildtool.targets.micro.network import (
    Add,
    AveragePool,
    Dequantize,
    Layer,
    MaxPool,
    MaxPoolShort,
    Mean,
    Mul,
    Quantize,
    Softmax,
    Table,
    Tensor,
    Window,
)

#: Operators that become tables.
OF_ONE_VARIABLE = (
    *("abs", "ceil", "cos", "elu", "exp", "floor", "gelu", "hard_sigmoid", "hard_swish", "leaky_relu", "log", "neg"),
    *("reciprocal", "round", "selu", "sigmoid", "sign", "sin", "softplus", "sqrt", "swish", "tanh"),
)


def dequantize(state: Lowering, node: Node) -> None:
    zero = node.inputs[2] if len(node.inputs) > 2 else None
    tensor = state.quantised_input(node.inputs[0], *scale_of(node.inputs[1], zero))
    (output,) = node.outputs
    if output in state.graph.outputs:
        if tensor.dtype == "int16":
            raise NoLayerError("16 bits become floating point")
        made = Tensor(output.name, shape_of(output), dtype="float32")
        state.add(output, Dequantize(name=node.name or output.name, inputs=(tensor,), output=made))
    state.real[output] = Pending("stored", (tensor,))


def quantize(state: Lowering, node: Node) -> None:
    """The end of a chain: the operator of the pending value becomes a layer."""
    scale, zero = scale_of(node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else None)
    (value,) = node.outputs
    source = node.inputs[0]
    if value.type.dtype.value not in ("s8", "u8", "s16"):
        if not state.is_stored(source):
            state.pending(source)  # what is wrong in front of it is reported there
        raise NoLayerError(f"the results have the type {value.type.dtype.word}, not int8", QUANTISE)
    output = Tensor(value.name, shape_of(value), scale, zero, value.type.dtype.numpy.name)
    if state.is_stored(source) and state.stored[source].dtype == "float32":
        if output.dtype == "int16":
            raise NoLayerError("floating point becomes 16 bits")
        tensor = state.stored[source]
        state.add(value, Quantize(name=node.name or value.name, inputs=(tensor,), output=output))
        return
    pending = state.pending(source)
    low, high = (_stored_bound(bound, output) for bound in (pending.low, pending.high))
    name = (pending.node.name if pending.node else "") or node.name or value.name
    about: dict[str, Any] = {"name": name, "inputs": pending.inputs, "output": output, "low": low, "high": high}
    makers = shorts.LAYERS if shorts.is_short(*pending.inputs, output) else _LAYERS
    if pending.op not in makers:
        raise NoLayerError(f"results of '{pending.op}'")
    state.add(value, makers[pending.op](pending, about))


def _stored_bound(bound: float, output: Tensor) -> int:
    if np.isinf(bound):
        bound = -1e9 if bound < 0 else 1e9
    limits = np.iinfo(output.dtype)
    return int(np.clip(np.round(bound / output.scale) + output.zero, limits.min, limits.max))


def _every_byte(tensor: Tensor) -> NDArray[np.int64]:
    """The numbers of a table's entries."""
    return np.arange(-128, 128).astype(np.int8).view(tensor.dtype).astype(np.int64)


def _entries(values: NDArray[Any], output: Tensor, bounds: tuple[int, int]) -> NDArray[np.int8]:
    found: NDArray[np.int8] = np.clip(values, *bounds).astype(output.dtype).view(np.int8)
    return found


def cast(state: Lowering, node: Node) -> None:
    """To floats and back around an operator that only selects."""
    (value,) = node.outputs
    if value.type.dtype.value == "f32":
        state.real[value] = Pending("bytes", (state.tensor(node.inputs[0]),))
        return
    pending = state.pending(node.inputs[0])
    same = pending.inputs[0].dtype == value.type.dtype.numpy.name
    if same and pending.op == "bytes":
        state.stored[value] = pending.inputs[0]
        return
    if not same or pending.op != "largest" or pending.node is None:
        raise NoLayerError(f"a conversion to {value.type.dtype.value}")
    (source,) = pending.inputs
    output = replace(source, name=value.name, shape=shape_of(value))
    kind = MaxPoolShort if shorts.is_short(source) else MaxPool
    about: dict[str, Any] = {"name": pending.node.name or value.name, "inputs": (source,), "output": output}
    state.add(value, kind(window=window_of(pending.node), **about))


def clip(state: Lowering, node: Node) -> None:
    op = node.op
    assert isinstance(op, Clip)
    (value,) = node.outputs
    if value.type.dtype.is_float:
        state.real[value] = state.pending(node.inputs[0]).bounded(op.low, op.high)
        return
    tensor = state.tensor(node.inputs[0])
    if tensor.dtype != "int8":
        raise NoLayerError("bounds of other elements than bytes")
    low, high = max(-128, int(np.ceil(op.low))), min(127, int(np.floor(op.high)))
    maker = state.layers[-1] if state.layers else None
    if maker is not None and maker.output is tensor and len(state.graph.users().get(node.inputs[0], ())) == 1:
        output = replace(tensor, name=value.name)
        low, high = max(low, maker.low), min(high, maker.high)
        state.layers[-1] = replace(maker, output=output, low=low, high=high)
        state.stored[value] = output
        return
    table = np.clip(np.arange(-128, 128), low, high).astype(np.int8)
    output = replace(tensor, name=value.name)
    state.add(value, Table(name=node.name or value.name, inputs=(tensor,), output=output, table=table))


def pool(state: Lowering, node: Node) -> None:
    pending = state.pending(node.inputs[0])
    if isinstance(node.op, MaxPool2d) and pending.op == "bytes":
        state.real[node.outputs[0]] = Pending("largest", pending.inputs, node)
    elif isinstance(node.op, AvgPool2d) and pending.op == "stored":
        state.real[node.outputs[0]] = Pending("average", pending.inputs, node)
    else:
        raise NoLayerError(f"a pool of '{pending.op}' values")


def mean(state: Lowering, node: Node) -> None:
    op = node.op
    assert isinstance(op, ReduceMean)
    tensor = _operand(state, node, 0)
    if len(tensor.shape) != 4 or tuple(op.axes) != (1, 2):
        raise NoLayerError("a mean over other axes than those of an image")
    state.real[node.outputs[0]] = Pending("mean", (tensor,), node)


def arithmetic(state: Lowering, node: Node) -> None:
    if node.op.name == "add" and getattr(node.op, "activation", "none") != "none":
        raise NoLayerError("a sum with an activation")
    operands = tuple(_operand(state, node, index) for index in range(2))
    (value,) = node.outputs
    operands = tuple(_repeated(state, node, tensor, shape_of(value)) for tensor in operands)
    state.real[node.outputs[0]] = Pending(node.op.name, operands, node)


def unary(state: Lowering, node: Node) -> None:
    source = state.pending(node.inputs[0])
    if node.op.name == "relu":
        state.real[node.outputs[0]] = source.bounded(0.0, np.inf)
        return
    state.real[node.outputs[0]] = Pending(node.op.name, (_operand(state, node, 0),), node)


def _repeated(state: Lowering, node: Node, tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """An operand in the shape of the result."""
    if tensor.shape == shape:
        return tensor
    positions = np.arange(tensor.elements, dtype=np.int64).reshape(tensor.shape)
    (value,) = node.outputs
    return moved(state, tensor, value, np.broadcast_to(positions, shape), f"{node.name or value.name} (operand)")


def _operand(state: Lowering, node: Node, index: int) -> Tensor:
    """An operand that is a stored tensor and nothing more."""
    pending = state.pending(node.inputs[index])
    if pending.op != "stored" or not np.isinf(pending.low) or not np.isinf(pending.high):
        raise NoLayerError(f"'{node.inputs[index].name}' is computed in floating point")
    return pending.inputs[0]


def window_of(node: Node) -> Window:
    op = node.op
    assert isinstance(op, (MaxPool2d, AvgPool2d))
    if tuple(op.dilations) != (1, 1):
        raise NoLayerError("a pool with dilations")
    return Window(op.kernel, op.strides, op.pads[:2])


# -- layers of pending values ------------------------------------------------------------------------------------------
def _stored(pending: Pending, about: dict[str, Any]) -> Layer:
    """From one scale to another, with bounds: a table."""
    source, output = pending.inputs[0], about["output"]
    multiplier, shift = multiplier_of(float(source.scale) / float(output.scale))
    values = scaled(_every_byte(source) - source.zero, multiplier, shift) + output.zero
    bounds = about.pop("low"), about.pop("high")
    return Table(table=_entries(values, output, bounds), **about)


def _average(pending: Pending, about: dict[str, Any]) -> Layer:
    source, output = pending.inputs[0], about["output"]
    if (source.scale, source.zero) != (output.scale, output.zero):
        raise NoLayerError("an average pool whose input and output have different scales")
    assert pending.node is not None
    return AveragePool(window=window_of(pending.node), **about)


def _mean(pending: Pending, about: dict[str, Any]) -> Layer:
    source, output = pending.inputs[0], about["output"]
    count = source.shape[1] * source.shape[2]
    multiplier, shift = multiplier_of(float(source.scale) / float(output.scale) / count)
    return Mean(multiplier=multiplier, shift=shift, **about)


def _add(pending: Pending, about: dict[str, Any]) -> Layer:
    first, second = pending.inputs
    twice = 2.0 * max(first.scale, second.scale)
    reals = (first.scale / twice, second.scale / twice, twice / ((1 << 20) * float(about["output"].scale)))
    found = [multiplier_of(real) for real in reals]
    (m0, s0), (m1, s1), (m2, s2) = found
    return Add(multipliers=(m0, m1, m2), shifts=(s0, s1, s2), **about)


def _mul(pending: Pending, about: dict[str, Any]) -> Layer:
    first, second = pending.inputs
    multiplier, shift = multiplier_of(float(first.scale) * float(second.scale) / float(about["output"].scale))
    return Mul(multiplier=multiplier, shift=shift, **about)


def _softmax(pending: Pending, about: dict[str, Any]) -> Layer:
    (source,), output = pending.inputs, about["output"]
    op = pending.node.op if pending.node else None
    assert isinstance(op, SoftmaxOperator)
    if op.axis != len(source.shape) - 1:
        raise NoLayerError("a softmax over another axis than the last")
    if (output.scale, output.zero) != (1.0 / 256.0, -128):
        raise NoLayerError(f"a softmax with the scale {output.scale:g}", "the scale of its output has to be 1/256")
    return Softmax(exponentials=exponentials.table(source.scale, 1.0), **about)


def _function(pending: Pending, about: dict[str, Any]) -> Layer:
    """A function of one variable, in double precision, rounded to the nearest."""
    source, output = pending.inputs[0], about["output"]
    assert pending.node is not None
    reals = (_every_byte(source).astype(np.float64) - source.zero) * source.scale
    with np.errstate(all="ignore"):
        (results,) = pending.node.op.reference(reals)
    bounds = about.pop("low"), about.pop("high")
    steps = np.rint(np.nan_to_num(np.asarray(results, np.float64)) / output.scale)
    return Table(table=_entries(steps + output.zero, output, bounds), **about)


_LAYERS = {
    "stored": _stored,
    "average": _average,
    "mean": _mean,
    "add": _add,
    "mul": _mul,
    "softmax": _softmax,
    **dict.fromkeys(OF_ONE_VARIABLE, _function),
}
