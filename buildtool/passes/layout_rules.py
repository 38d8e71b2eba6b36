"""Which operators can work on a tensor whose axes are in another order, and what they become."""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Operator
from buildtool.ops._reduction import ReduceOperator
from buildtool.ops.reshape import Reshape
from buildtool.passes.permutations import Perm, permuted, through_reshape

_SAME_RANK = frozenset(
    {
        "concat",
        "split",
        "slice",
        "pad",
        "softmax",
        "batch_norm",
        "identity",
        "cast",
        "quantize_linear",
        "dequantize_linear",
    }
)


@dataclass(frozen=True)
class Carried:
    """A node in another order: its operator, and the order of each operand and result (None: as it was)."""

    op: Operator
    inputs: tuple[Perm | None, ...]
    outputs: tuple[Perm | None, ...]
    #: Operands that have fewer axes and are broadcast: they get the missing ones, and then this order.
    broadcast: Perm | None = None


def carry(node: Node, value: Value, perm: Perm) -> Carried | None:
    """What a node becomes when one of its operands or results, `value`, comes in the order `perm`.

    None where the node needs that value as it is.
    """
    if node.regions:
        return None
    if isinstance(node.op, Reshape):
        return _carry_reshape(node, value, perm)
    if isinstance(node.op, ReduceOperator) and not node.op.keepdims:
        return _carry_reduction(node, node.op, value, perm)
    if not (node.op.is_elementwise or node.op.name in _SAME_RANK or isinstance(node.op, ReduceOperator)):
        return None
    if any(output.type.rank != len(perm) for output in node.outputs) or value.type.rank != len(perm):
        return None
    op = node.op.transposed(perm, [operand.type for operand in node.inputs])
    if op is None:
        return None
    inputs = tuple(perm if operand.type.rank == len(perm) else None for operand in node.inputs)
    return Carried(op, inputs, (perm,) * len(node.outputs), perm if node.op.is_elementwise else None)


def _carry_reshape(node: Node, value: Value, perm: Perm) -> Carried | None:
    source, target = node.inputs[0], node.outputs[0]
    if value is source:
        before: Perm | None = perm
        after = through_reshape(source.type.shape, target.type.shape, perm)
    else:
        after = perm
        before = through_reshape(target.type.shape, source.type.shape, perm)
    if before is None or after is None:
        return None
    return Carried(Reshape(permuted(target.type.shape, after)), (before,), (after,))


def _carry_reduction(node: Node, op: ReduceOperator, value: Value, perm: Perm) -> Carried | None:
    """A reduction that drops its axes, with its operand in another order."""
    if value is not node.inputs[0]:
        return None
    kept = [axis for axis in range(len(perm)) if axis not in op.axes]
    moved = tuple(position for position, axis in enumerate(perm) if axis in op.axes)
    order = tuple(kept.index(axis) for axis in perm if axis not in op.axes)
    return Carried(type(op)(moved, False), (perm,), (order,))
