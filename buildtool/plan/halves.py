"""Which nodes are worth computing in half precision: the manifests say it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from buildtool.ir.graph import Node
from buildtool.ir.types import DType
from buildtool.plan.manifest import KernelInfo, Manifests
from buildtool.plan.select import misfit

_ONE_BY_ONE = "generic"  # the variant of kernels that compute any type, one number after the other in doubles


def objection(
    single: Node, half: Node, manifests: Manifests, *, isas: Sequence[str], baseline: Collection[str], half_isa: str
) -> str:
    """Why a node had better stay in single precision; empty where half is as good.

    Where half precision has kernels of a lesser instruction set only, two casts cost less than they do. `baseline`: the
    instruction sets that every machine has which runs the model. `half_isa`: the one with arithmetic in half precision;
    empty where there is none: all is slow there, and what is asked for is done.
    """
    able = [word for word in isas if word in baseline]
    found, other = _best(half, manifests, able), _best(single, manifests, able)
    if found is None:
        return f"no kernel of {half.op.name} computes it in half precision"
    if other is None:
        return ""
    if able.index(other.isa) < able.index(found.isa):
        return f"its kernels are for '{other.isa}' in single precision, and for '{found.isa}' in half"
    if half_isa and other.isa == found.isa and found.variant == _ONE_BY_ONE != other.variant:
        return "its kernel for half precision computes one number after the other"
    return ""


def has_kernel(op: str, manifests: Manifests, isa: str) -> bool:
    """Whether an operator has a kernel of this instruction set that reads half precision."""
    return any(kernel.isa == isa and DType.F16 in kernel.inputs[0] for kernel in manifests.of(op))


def _best(node: Node, manifests: Manifests, isas: Sequence[str]) -> KernelInfo | None:
    able = [kernel for kernel in manifests.of(node.op.name) if kernel.isa in isas and misfit(kernel, node) is None]
    return min(able, key=lambda kernel: (isas.index(kernel.isa), kernel.variant == _ONE_BY_ONE), default=None)
