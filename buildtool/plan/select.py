"""Chooses the kernel of every node from the manifests: the first that fits, best first."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType
from buildtool.plan.conditions import ConditionError
from buildtool.plan.manifest import KernelInfo, Manifests


def select(
    graph: Graph, manifests: Manifests, *, abi: str, isas: Sequence[str], model: str = ""
) -> tuple[KernelInfo, ...]:
    """One kernel per node, in the order of `graph.walk()`.

    `isas`: the words that this ABI can run, the best first; among kernels of equal priority the better one wins.
    UnsupportedError lists every node that no kernel fits, with what would make it work.
    """
    chosen: list[KernelInfo] = []
    problems: list[Problem] = []
    for node in graph.walk():
        candidates = sorted(
            (kernel for kernel in manifests.of(node.op.name) if kernel.isa in isas),
            key=lambda kernel: (-kernel.priority, isas.index(kernel.isa), kernel.name),
        )
        kernel = next((candidate for candidate in candidates if _misfit(candidate, node) is None), None)
        if kernel is None:
            problems.append(_problem(node, candidates, manifests, abi, model or graph.name))
        else:
            chosen.append(kernel)
    if problems:
        raise UnsupportedError(problems)
    return tuple(chosen)


def _misfit(kernel: KernelInfo, node: Node) -> str | None:
    """Why the kernel cannot run the node; None where it can."""
    for what, allowed, values in (("input", kernel.inputs, node.inputs), ("output", kernel.outputs, node.outputs)):
        for index, value in enumerate(values):
            types = allowed[min(index, len(allowed) - 1)]
            if value.type.dtype not in types:
                return f"takes {_words(types)} as {what} {index}"
    if kernel.in_place is not None and kernel.in_place >= max(len(node.inputs), 1):
        return f"works in place of input {kernel.in_place}, which the node does not have"
    try:
        return None if kernel.when.holds(node) else f"needs {kernel.when}"
    except ConditionError as problem:
        return f"has a condition that does not fit: {problem}"


def _problem(node: Node, candidates: Sequence[KernelInfo], manifests: Manifests, abi: str, model: str) -> Problem:
    op = node.op.name
    types = f"({_types(node.inputs)}) -> ({_types(node.outputs)})"
    what = f"no kernel runs {op} {types} on {abi}"
    if candidates:
        rule = "; ".join(f"{kernel.name} {_misfit(kernel, node)}" for kernel in candidates)
        remedy = f"convert the model to what a kernel takes, or write a kernel in native/ops/{op}"
    elif everywhere := manifests.of(op):
        rule = "the kernels of this operator are for " + ", ".join(sorted({kernel.isa for kernel in everywhere}))
        remedy = f"write a portable one: native/ops/{op}/{op}_<dtype>_<variant>__portable.cc"
    else:
        rule = "every operator has a manifest native/ops/<op>/op.yaml that lists its kernels"
        remedy = f"write a kernel (lathe dev new-op {op}), or name the folder that has one under `op_paths`"
    return Problem(what, Where(model=model, node=node.name or node.outputs[0].name), rule, remedy)


def _types(values: Sequence[Value]) -> str:
    return ", ".join(str(value.type) for value in values)


def _words(types: frozenset[DType]) -> str:
    return "|".join(dtype.value for dtype in DType if dtype in types)
