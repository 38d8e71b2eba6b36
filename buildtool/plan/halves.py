"""Which nodes are worth computing in half precision: the manifests say it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from buildtool.ir.graph import Node
from buildtool.ir.types import DType
from buildtool.plan.manifest import Manifests
from buildtool.plan.select import misfit


def objection(single: Node, half: Node, manifests: Manifests, *, isas: Sequence[str], baseline: Collection[str]) -> str:
    """Why a node had better stay in single precision; empty where half is as good.

    Where half precision has kernels of a lesser instruction set only, two casts cost less than they do. `baseline`: the
    instruction sets that every machine has which runs the model.
    """
    able = [word for word in isas if word in baseline]
    found, other = _best(half, manifests, able), _best(single, manifests, able)
    if found is None:
        return f"no kernel of {half.op.name} computes it in half precision"
    if other is not None and able.index(other) < able.index(found):
        return f"its kernels are for '{other}' in single precision, and for '{found}' in half"
    return ""


def has_kernel(op: str, manifests: Manifests, isa: str) -> bool:
    """Whether an operator has a kernel of this instruction set that reads half precision."""
    return any(kernel.isa == isa and DType.F16 in kernel.inputs[0] for kernel in manifests.of(op))


def _best(node: Node, manifests: Manifests, isas: Sequence[str]) -> str | None:
    able = {kernel.isa for kernel in manifests.of(node.op.name) if misfit(kernel, node) is None}
    return next((word for word in isas if word in able), None)
