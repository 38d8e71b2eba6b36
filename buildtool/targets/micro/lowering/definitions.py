"""Every operator that no kernel computes: loops that are made of its definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType, round_to_bf16
from buildtool.ops.cast import Cast
from buildtool.ops.clip import Clip
from buildtool.ops.dequantize_linear import DequantizeLinear
from buildtool.targets.micro.definitions.definition import functions
from buildtool.targets.micro.definitions.loops import C_TYPES, HALVED
from buildtool.targets.micro.definitions.tracing import UntraceableError
from buildtool.targets.micro.lowering.state import Lowering, NoLayerError, Pending, shape_of
from buildtool.targets.micro.network import Defined, Dequantize, Tensor


def define(state: Lowering, node: Node) -> None:
    """A layer for each output that is read. NoLayerError where the definition has no loops."""
    if node.regions:
        raise NoLayerError(f"the operator '{node.op.name}' has no kernel for microcontrollers")
    operands: list[Array | Tensor] = []
    for value in node.inputs:
        known = state.constant_of(value)
        operands.append(tensor_of(state, value) if known is None else _stored(state, known))
    if not any(isinstance(each, Tensor) for each in operands):
        with np.errstate(all="ignore"):
            results = node.op.reference(*(each for each in operands if not isinstance(each, Tensor)))
        state.constants.update(zip(node.outputs, (np.asarray(each) for each in results), strict=False))
        return
    users = state.graph.users()
    wanted = [users.get(value) or value in state.graph.outputs for value in node.outputs]
    macs = node.op.macs([value.type for value in node.inputs], [value.type for value in node.outputs])
    for which, value in enumerate(node.outputs):
        if wanted[which]:
            name = node.name or value.name
            _layer(state, value, node.op, operands, which, name, macs if isinstance(macs, int) else 0)


def tensor_of(state: Lowering, value: Value) -> Tensor:
    """The tensor of a value: of floats where the graph computes in floats."""
    if value in state.stored:
        return state.stored[value]
    if value not in state.real:
        return state.tensor(value)  # says what is missing
    pending = state.real[value]
    source = pending.inputs[0]
    name = f"{value.name} (real)"
    shape = shape_of(value)
    if pending.op == "stored" and source.dtype == "int8":
        made = Tensor(name, shape, dtype="float32")
        state.layers.append(Dequantize(name=name, inputs=(source,), output=made))
    elif pending.op == "stored":
        scale, zero = np.float32(source.scale), np.asarray(source.zero, source.dtype)
        made = _made(state, name, shape, DequantizeLinear(0, 0), [source, np.asarray(scale), zero])
    elif pending.op == "bytes":
        made = _made(state, name, shape, Cast(value.type.dtype), [source])
    else:
        made = _computed(state, pending)
    if not np.isinf(pending.low) or not np.isinf(pending.high):
        low, high = (float(np.float32(bound)) for bound in (pending.low, pending.high))
        made = _made(state, name, shape, Clip(low, high), [made])
    state.stored[value] = made
    return made


def _computed(state: Lowering, pending: Pending) -> Tensor:
    node = pending.node
    if node is None:
        raise NoLayerError(f"a value of the kind '{pending.op}'")
    (value,) = node.outputs
    if value not in state.stored:
        define(state, node)
    return state.stored[value]


def _made(state: Lowering, name: str, shape: tuple[int, ...], op: Operator, operands: Sequence[Any]) -> Tensor:
    """A layer in front of another one."""
    layer = _defined(name, Tensor(name, shape, dtype="float32"), op, operands, 0, 0)
    state.layers.append(layer)
    return layer.output


def _stored(state: Lowering, array: Array) -> Array:
    if state.halves and array.dtype == np.float32 and array.size >= HALVED:
        return round_to_bf16(array)
    return array


def _layer(
    state: Lowering, value: Value, op: Operator, operands: Sequence[Array | Tensor], which: int, name: str, macs: int
) -> None:
    quant = value.type.quant
    about: dict[str, Any] = {}
    if quant is not None and quant.axis is None:
        about = {"scale": float(quant.scales[0]), "zero": int(quant.zero_points[0])}
    output = Tensor(value.name, shape_of(value), dtype=_dtype(value.type, value.name), **about)
    layer = _defined(name, output, op, operands, which, macs)
    state.layers.append(layer)
    state.stored[value] = output


def _dtype(type_: TensorType, name: str) -> str:
    found = type_.dtype.numpy.name
    if found not in C_TYPES or found == "float64":
        raise NoLayerError(f"'{name}' has the type {type_.dtype.word}", "store floating-point numbers as float32")
    return str(found)


def _defined(
    name: str, output: Tensor, op: Operator, operands: Sequence[Array | Tensor], which: int, macs: int
) -> Defined:
    about = [(each.shape, each.dtype) if isinstance(each, Tensor) else each for each in operands]
    try:
        function = functions(op, about)[which]()
    except (UntraceableError, OperatorError) as problem:
        raise NoLayerError(
            f"the operator '{op.name}' has no kernel for microcontrollers, and its definition no loops: {problem}"
        ) from problem
    tensors = tuple(each for each in operands if isinstance(each, Tensor))
    places = iter(range(len(tensors)))
    known = tuple(next(places) if isinstance(each, Tensor) else each for each in operands)
    return Defined(
        name=name,
        inputs=tensors,
        output=output,
        operator=op,
        operands=known,
        which=which,
        function=function,
        products=macs,
    )
