"""Lets the product of quantised numbers with a constant matrix give the real numbers that its sums stand for.

Constants without a sign get one, as kernels want them: of other convolutions, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops.add import Add
from buildtool.ops.cast import Cast
from buildtool.ops.conv_integer import ConvInteger
from buildtool.ops.fully_connected_integer import FullyConnectedInteger
from buildtool.passes.base import Pass
from buildtool.passes.channels import per_channel
from buildtool.passes.editor import Editor

_FLIP = np.uint8(0x80)  # u8 numbers less 128 are s8
_MOST_DEPTH = 65535  # of what kernels sum up


class FuseIntegerProducts(Pass):
    name = "fuse_integer_products"
    summary = "merge integer products with a constant matrix, their scale and their bias into one node"
    makes = ("fully_connected_integer",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            operands = _matrix(node)
            scaled = _scaled(editor, node) if operands is not None else None
            if operands is None or scaled is None:
                _give_sign(editor, node)
                continue
            w, w_zero = (editor.constant(like, array) for like, array in operands.constants)
            w.source_names = operands.constants[0][0].source_names
            inputs = [operands.x, w, operands.x_zero, w_zero, scaled.scale]
            last, op = scaled.node, FullyConnectedInteger()
            biased = _biased(editor, last)
            if biased is not None:
                last, bias = biased
                inputs.append(editor.constant(None, bias.astype(np.float32)))
                op = _with_activation_of(last)
            read = last.inputs
            editor.substitute(last, op, inputs, node.name)
            for value in read:
                editor.sweep(value)
        return editor.changed


@dataclass(frozen=True)
class _Operands:
    x: Value
    x_zero: Value
    constants: tuple[tuple[Value, Array], tuple[Value, Array]]  # s8 weights [N, K] and their zero point


def _matrix(node: Node) -> _Operands | None:
    """What is multiplied, where that is rows with a constant matrix."""
    if node.op.name not in ("matmul_integer", "conv_integer"):
        return None
    x, filters, x_zero, zero = node.inputs
    weights, offset = filters.constant, zero.constant
    if weights is None or offset is None or x_zero.type.rank:
        return None
    if not isinstance(node.op, ConvInteger):
        if weights.ndim != 2:
            return None
        weights = weights.T
    elif _is_pointwise(node.op, weights):
        weights = weights.reshape(weights.shape[0], weights.shape[3])
    else:
        return None
    if not weights.size or weights.shape[1] > _MOST_DEPTH:
        return None
    return _Operands(x, x_zero, ((filters, _signed(weights)), (zero, _signed(offset))))


def _signed(array: Array) -> Array:
    array = np.ascontiguousarray(array).reshape(array.shape)
    return array if array.dtype == np.int8 else (array ^ _FLIP).view(np.int8)


def _give_sign(editor: Editor, node: Node) -> None:
    """The filters of a convolution, and their zero points."""
    if not isinstance(node.op, ConvInteger) or node.inputs[1].type.dtype is not DType.U8:
        return
    x, *constants = (node.inputs[index] for index in (0, 1, 3))
    if any(value.constant is None for value in constants):
        return
    filters, zero = (
        editor.constant(value, _signed(value.constant)) for value in constants if value.constant is not None
    )
    filters.source_names = constants[0].source_names
    editor.set_inputs(node, [x, filters, node.inputs[2], zero])


def _is_pointwise(op: ConvInteger, filters: Array) -> bool:
    plain = filters.shape[1:3] == op.strides == (1, 1) and not any(op.pads)
    return plain and op.groups == 1


@dataclass(frozen=True)
class _Scaled:
    node: Node
    scale: Value


def _scaled(editor: Editor, node: Node) -> _Scaled | None:
    """The node that makes floats of the sums, and what it multiplies them by: one number, or one per column."""
    cast = _reader(editor, node)
    mul = _reader(editor, cast) if cast is not None and isinstance(cast.op, Cast) else None
    if cast is None or mul is None or mul.op.name != "mul" or getattr(mul.op, "activation", "none") != "none":
        return None
    (sums,) = cast.outputs
    scale = mul.inputs[1] if mul.inputs[0] is sums else mul.inputs[0]
    fits = scale.type.rank == 0 or scale.type.shape == sums.type.shape[-1:]
    if sums.type.dtype is not DType.F32 or scale is sums or not fits:
        return None
    return _Scaled(mul, scale) if mul.outputs[0].type == sums.type else None


def _biased(editor: Editor, node: Node) -> tuple[Node, Array] | None:
    """The node that adds a constant per column, and that constant."""
    add = _reader(editor, node)
    if add is None or not isinstance(add.op, Add) or add.outputs[0].type != node.outputs[0].type:
        return None
    (y,) = node.outputs
    bias = per_channel(add.inputs[1] if add.inputs[0] is y else add.inputs[0], y)
    return None if bias is None else (add, bias)


def _with_activation_of(node: Node) -> FullyConnectedInteger:
    assert isinstance(node.op, Add)
    return FullyConnectedInteger(
        activation=node.op.activation,
        activation_alpha=node.op.activation_alpha,
        activation_beta=node.op.activation_beta,
    )


def _reader(editor: Editor, node: Node) -> Node | None:
    """The only node that reads the result."""
    readers = editor.readers(node.outputs[0])
    return readers[0] if len(readers) == 1 and editor.is_private(node.outputs[0]) else None
