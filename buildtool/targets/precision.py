"""In which numbers the nodes of a model are computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from buildtool.errors import Problem, Where
from buildtool.ir.graph import Graph, Node
from buildtool.passes import pipeline
from buildtool.passes.compute_in_half import Kept
from buildtool.plan import halves, select
from buildtool.plan.manifest import Manifests
from buildtool.quant import choice
from buildtool.targets.protocol import AbiCapabilities, Capabilities, ModelSource, PlannedModel

_PORTABLE = "portable"
_NO_ABI = AbiCapabilities(isas=(_PORTABLE,), baseline=(_PORTABLE,))


def lowered(
    model: ModelSource, manifests: Manifests, target: Capabilities, abi: AbiCapabilities
) -> tuple[Graph, tuple[Kept, ...]]:
    """The graph for an ABI, and those nodes that are computed in single precision although something else was asked
    for.
    """
    if model.quantised:
        return _in_few_bits(model, manifests)
    if model.half_arithmetic:
        return _in_half(model, manifests, target, abi)
    return pipeline.lower(model.graph, target.passes, model.passes), ()


def lowered_for_every_abi(model: ModelSource, manifests: Manifests, target: Capabilities) -> Graph | None:
    """What portable kernels alone decide, where instruction sets have a say in the graph of an ABI."""
    if model.quantised or not model.half_arithmetic:
        return None
    graph, _ = lowered(model, manifests, target, _NO_ABI)
    return graph


def _in_half(
    model: ModelSource, manifests: Manifests, target: Capabilities, abi: AbiCapabilities
) -> tuple[Graph, tuple[Kept, ...]]:
    baseline = abi.baseline_of(model)

    def objection(single: Node, half: Node) -> str:
        return halves.objection(single, half, manifests, isas=abi.isas, baseline=baseline, half_isa=abi.half)

    graph = model.graph.clone()
    kept = pipeline.in_half(graph, objection)
    wanted = [
        kind.name
        for kind in pipeline.lowering()
        if kind.name in target.passes and all(halves.has_kernel(op, manifests, abi.half) for op in kind.makes)
    ]
    return pipeline.lower(graph, wanted, model.passes), kept


def _in_few_bits(model: ModelSource, manifests: Manifests) -> tuple[Graph, tuple[Kept, ...]]:
    """Portable kernels decide, and so the numbers are the same on every machine."""

    def objection(node: Node) -> str:
        kernels = [kernel for kernel in manifests.of(node.op.name) if kernel.isa == _PORTABLE]
        if any(select.misfit(kernel, node) is None for kernel in kernels):
            return ""
        return f"no kernel of {node.op.name} computes with its quantised values"

    graph = model.graph.clone()
    return graph, pipeline.in_few_bits(graph, objection, choice.real(graph, model.choice))


def notes(model: PlannedModel, abi: AbiCapabilities) -> Iterator[Problem]:
    """What is to be said of the precision that was asked for."""
    where = Where(model=model.source.name)
    if model.source.half_arithmetic and not model.source.quantised and not abi.half:
        yield Problem(
            f"half precision is slow on {model.plan.abi}: no kernels compute in it",
            where,
            rule="portable kernels compute in single precision, and round to half",
            remedy="for speed use data_type fp16_fp32",
        )
    if model.kept:
        operators = Counter(node.op for node in model.kept)
        listed = ", ".join(f"{count} {op}" for op, count in sorted(operators.items()))
        what = f"nodes that stay in single precision on {model.plan.abi}: {listed}"
        yield Problem(what, where, rule="report/build.json lists the reasons under `single_precision`")
