"""Programs of one operator, made without Paddle: for operators that Paddle 3 no longer has, and for damaged files."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from buildtool.schemas import paddle_program_pb2 as pb

_TENSOR, _FEED_LIST, _FETCH_LIST = 7, 9, 10
_CODES = {"bool": 0, "int32": 2, "int64": 3, "float32": 5, "int8": 21}


def program_of(
    op: str,
    inputs: Mapping[str, Array],
    weights: Mapping[str, str],
    attributes: Mapping[str, Any],
    outputs: Sequence[str],
) -> pb.Program:
    """One tensor in each slot. `weights` has the element types of slots that are parameters."""
    program = pb.Program()
    program.version.version = 2005000
    block = program.blocks.add()
    for name, kind in (("feed", _FEED_LIST), ("fetch", _FETCH_LIST)):
        block.vars.add(name=name.encode(), persistable=True).type.type = kind
    for slot, array in inputs.items():
        _variable(block, f"{slot}_0", str(array.dtype), array.shape)
        _operator(block, "feed", {"X": ["feed"]}, {"Out": [f"{slot}_0"]}, {"col": len(block.ops)})
    for slot, dtype in weights.items():
        _variable(block, f"{slot}_0", dtype, None, persistable=True)
    results = {slot: [f"{slot}_out_0"] for slot in outputs}
    for names in results.values():
        _variable(block, names[0], "float32", None)
    _operator(block, op, {slot: [f"{slot}_0"] for slot in (*inputs, *weights)}, results, attributes)
    for column, names in enumerate(results.values()):
        _operator(block, "fetch", {"X": names}, {"Out": ["fetch"]}, {"col": column})
    return program


def _variable(block: pb.Block, name: str, dtype: str, shape: Sequence[int] | None, persistable: bool = False) -> None:
    kind = block.vars.add(name=name.encode(), persistable=persistable).type
    kind.type = _TENSOR
    if shape is not None:
        kind.lod_tensor.tensor.data_type = _CODES[dtype]
        kind.lod_tensor.tensor.dims.extend(shape)


def _operator(
    block: pb.Block,
    op: str,
    inputs: Mapping[str, Sequence[str]],
    outputs: Mapping[str, Sequence[str]],
    attributes: Mapping[str, Any],
) -> None:
    made = block.ops.add(type=op.encode())
    for slots, given in ((made.inputs, inputs), (made.outputs, outputs)):
        for slot, names in given.items():
            slots.add(parameter=slot.encode(), arguments=[name.encode() for name in names])
    for name, value in attributes.items():
        _attribute(made.attrs.add(name=name.encode()), value)


def _attribute(made: pb.Attribute, value: Any) -> None:
    if isinstance(value, bool):
        made.type, made.b = 6, value
    elif isinstance(value, int):
        made.type, made.i = 0, value
    elif isinstance(value, float):
        made.type, made.f = 1, value
    elif isinstance(value, str):
        made.type, made.s = 2, value.encode()
    elif value and isinstance(value[0], float):
        made.type = 4
        made.floats.extend(value)
    else:
        made.type = 3
        made.ints.extend(value)


def stream(array: Array) -> bytes:
    """A tensor as parameter files hold it."""
    described = pb.TensorDescription(data_type=_CODES[str(array.dtype)], dims=array.shape).SerializeToString()
    return struct.pack("<IQIi", 0, 0, 0, len(described)) + described + np.ascontiguousarray(array).tobytes()


def declare(program: pb.Program, shapes: Mapping[str, Array]) -> None:
    """Marks variables as parameters of these shapes."""
    for variable in program.blocks[0].vars:
        array = shapes.get(variable.name.decode())
        if array is not None:
            variable.persistable = True
            variable.type.lod_tensor.tensor.data_type = _CODES[str(array.dtype)]
            variable.type.lod_tensor.tensor.dims[:] = array.shape
