"""Attention: products of matrices per head. Linear attention: a scan along the sequence, whose body is one step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper

from buildtool.exporters.onnx.elements import code, tensor
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.ir.dims import Dim
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_TURNED = (0, 2, 1, 3)


@handler("attention")
def attention(step: Step) -> None:
    q, k, v = (
        step.transposed(step.input(index), _TURNED) if step.op.tokens_first[index] else step.input(index)
        for index in range(3)
    )
    shapes = [_ordered(step.type(index).shape, step.op.tokens_first[index]) for index in range(3)]
    scores = _shared(step, q, step.transposed(k, (0, 1, 3, 2)), shapes[0], _swapped(shapes[1]))
    scores = step.emit("Mul", scores, step.number(step.op.scale))
    if step.has(3):
        scores = step.emit("Add", scores, step.input(3))
    weights = step.compute("Softmax", scores, axis=3)
    y = _shared(step, weights, v, (*shapes[0][:3], shapes[1][2]), shapes[2])
    step.give(step.transposed(y, _TURNED) if step.op.tokens_first[3] else y)


def _ordered(shape: Sequence[Dim], tokens_first: int) -> tuple[Dim, ...]:
    return (shape[0], shape[2], shape[1], shape[3]) if tokens_first else tuple(shape)


def _swapped(shape: Sequence[Dim]) -> tuple[Dim, ...]:
    return (shape[0], shape[1], shape[3], shape[2])


def _shared(step: Step, left: str, right: str, left_shape: Sequence[Dim], right_shape: Sequence[Dim]) -> str:
    """The product for each head, where several heads of `left` may share one of `right`."""
    batch, heads, rows, inner = left_shape
    groups, columns = right_shape[1], right_shape[3]
    assert isinstance(heads, int)
    assert isinstance(groups, int)
    if heads == groups:
        return step.emit("MatMul", left, right)
    apart = (batch, groups, heads // groups)
    left = step.reshaped(left, left_shape, (*apart, rows, inner))
    right = step.reshaped(right, right_shape, (batch, groups, 1, *right_shape[2:]))
    product = step.emit("MatMul", left, right)
    return step.reshaped(product, (*apart, rows, columns), (batch, heads, rows, columns))


@handler("linear_attention")
def linear_attention(step: Step) -> None:
    """One operand per step of the sequence, along axis 1; what stays from step to step comes first."""
    q, k, v, state, *gates = step.inputs()
    sequences = [q, k, v, *gates]
    found = step.emit_many(
        "Scan",
        2,
        state,
        *sequences,
        body=_body(step),
        num_scan_inputs=len(sequences),
        scan_input_axes=[1] * len(sequences),
        scan_output_axes=[1],
    )
    step.give(found[1], 0)
    step.give(found[0], 1)


class _Body:
    """Nodes and constants of one step."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def emit(self, op: str, *inputs: str, to: str = "") -> str:
        name = to or f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name]))
        return name

    def constant(self, array: Array, dtype: DType) -> str:
        self.constants.append(tensor(f"c{len(self.constants)}", array, dtype))
        return self.constants[-1].name

    def shaped(self, name: str, *shape: int, to: str = "") -> str:
        """0 stands for the size of the batch, which stays as it is."""
        return self.emit("Reshape", name, self.constant(np.array(shape, np.int64), DType.S64), to=to)


def _body(step: Step) -> GraphProto:
    op, dtype = step.op, step.dtype
    heads, shared = op.kv_heads, op.q_heads // op.kv_heads
    keys, values = (dim if isinstance(dim, int) else 0 for dim in step.type(3).shape[2:])
    body = _Body(dtype)
    before = "state"
    if op.gated:
        before = body.emit("Mul", before, body.emit("Exp", body.shaped("decay", 0, heads, -1, 1)))
    new = body.shaped("v", 0, heads, 1, values)
    if op.corrected:
        told = body.emit("MatMul", body.shaped("k", 0, heads, 1, keys), before)
        new = body.emit("Mul", body.shaped("beta", 0, -1, 1, 1), body.emit("Sub", new, told))
    outer = body.emit("MatMul", body.shaped("k", 0, heads, keys, 1), new)
    after = body.emit("Add", before, outer, to="state_after")
    read = body.emit("MatMul", body.shaped("q", 0, heads, shared, keys), after)
    scale = body.constant(np.asarray(op.scale).astype(dtype.numpy), dtype)
    body.shaped(body.emit("Mul", read, scale), 0, op.q_heads * values, to="y")
    names = ["state", "q", "k", "v", *["decay"] * op.gated, *["beta"] * op.corrected]
    operands = [helper.make_tensor_value_info(name, code(dtype), None) for name in names]
    results = [helper.make_tensor_value_info(name, code(dtype), None) for name in ("state_after", "y")]
    return helper.make_graph(body.nodes, "step", operands, results, initializer=body.constants)
