"""Chooses what may run every node, from the manifests: the best kernel that fits, and its replacements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.dims import bounds
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType
from buildtool.plan.conditions import ConditionError
from buildtool.plan.manifest import KernelInfo, Manifests
from buildtool.plan.packing import INPUT, packable

#: Rows of input for which the time of a product is that of reading the weights.
_FEW_ROWS = 4


@dataclass(frozen=True)
class Choice:
    """The kernels of a node, the best first: a machine takes the first that it can run, and every one has some."""

    kernels: tuple[KernelInfo, ...]
    packing: str = ""  # of input 1, for all of the kernels

    @property
    def in_place(self) -> int | None:
        """The input whose buffer output 0 may take over, where all kernels allow the same."""
        places = {kernel.in_place for kernel in self.kernels}
        return places.pop() if len(places) == 1 else None

    @property
    def strided_inputs(self) -> frozenset[int]:
        """The inputs whose rows may lie apart, whichever of the kernels runs."""
        return frozenset.intersection(*(kernel.strided_inputs for kernel in self.kernels))

    @property
    def strided_output(self) -> bool:
        """Whether the rows of output 0 may lie apart, whichever of the kernels runs."""
        return all(kernel.strided_output for kernel in self.kernels)

    @property
    def parts(self) -> str:
        """What may stand inside of what, whichever of the kernels runs."""
        words = {kernel.parts for kernel in self.kernels}
        return words.pop() if len(words) == 1 else ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(kernel.name for kernel in self.kernels)


def select(
    graph: Graph,
    manifests: Manifests,
    *,
    abi: str,
    isas: Sequence[str],
    baseline: Collection[str] = (),
    algorithms: Mapping[Node, str] = MappingProxyType({}),
    unpacked: Collection[Node] = (),
    stored: Mapping[Value, DType] = MappingProxyType({}),
    model: str = "",
) -> tuple[Choice, ...]:
    """The kernels of every node, in the order of `graph.walk()`.

    `isas`: the instruction sets of this ABI, the best first. A better one goes before priority, which decides among
    the kernels of one set. `baseline`: those that every machine of the ABI has; without it the last.
    `algorithms`: those that are worth it; kernels of other algorithms than the usual are for these nodes only.
    `unpacked`: nodes whose constants stay as they are.
    `stored`: the f32 constants that the file stores in a narrower type. Kernels that read them so go before all others
    where there are few rows of input.
    UnsupportedError lists every node that no kernel fits, with what would make it work.
    """
    chosen: list[Choice] = []
    problems: list[Problem] = []
    for node in graph.walk():
        candidates = sorted(
            (
                kernel
                for kernel in manifests.of(node.op.name)
                if kernel.isa in isas and (kernel.reads_stored is None or _reads(kernel, node, stored, unpacked))
            ),
            key=lambda kernel: (not kernel.reads_stored, isas.index(kernel.isa), -kernel.priority, kernel.name),
        )
        algorithm = algorithms.get(node, "")
        choice = _choose(node, candidates, isas, baseline or isas[-1:], algorithm, node not in unpacked)
        if choice is None:
            problems.append(_problem(node, candidates, manifests, abi, model or graph.name))
        else:
            chosen.append(choice)
    if problems:
        raise UnsupportedError(problems)
    return tuple(chosen)


def _reads(kernel: KernelInfo, node: Node, stored: Mapping[Value, DType], unpacked: Collection[Node]) -> bool:
    """Whether the file stores input 1 as the kernel reads it, and the rows may be so few that memory decides."""
    if node in unpacked or not packable(node, kernel.pack) or stored.get(node.inputs[INPUT]) is not kernel.reads_stored:
        return False
    return prod(bounds(dim)[0] for dim in node.inputs[0].type.shape[:-1]) <= _FEW_ROWS


def _choose(
    node: Node,
    candidates: Sequence[KernelInfo],
    isas: Sequence[str],
    baseline: Collection[str],
    algorithm: str,
    packs: bool,
) -> Choice | None:
    """The best kernel of each instruction set, down to one that every machine has; None where there is no such.

    `candidates`: the best first. The first that is chosen says how the constant is packed, if all its replacements
    read that; without any, and if it can do without, nothing is packed.
    """
    fitting = [kernel for kernel in candidates if misfit(kernel, node) is None]
    for wanted in dict.fromkeys((algorithm, "")):
        usable = [kernel for kernel in fitting if kernel.algorithm in (wanted, "")]
        for place, first in enumerate(usable):
            if first.algorithm != wanted:
                continue
            packed = first.pack if packs and first.pack and packable(node, first.pack) else ""
            rank = isas.index(first.isa)
            # Where an algorithm is wanted, better instruction sets that read the same filters do as usual.
            better = [kernel for kernel in usable[:place] if wanted and isas.index(kernel.isa) < rank]
            rest = [kernel for kernel in usable[place:] if isas.index(kernel.isa) >= rank]
            for packing in dict.fromkeys((packed, "")):
                listed = _listed([*better, *rest], packing, baseline)
                if first.reads(packing) and first in listed:
                    return Choice(listed, packing)
    return None


def _listed(candidates: Sequence[KernelInfo], packing: str, baseline: Collection[str]) -> tuple[KernelInfo, ...]:
    """The first that reads this packing of every instruction set, down to the baseline; none where that is missing."""
    kernels: dict[str, KernelInfo] = {}
    for kernel in candidates:
        if kernel.isa not in kernels and kernel.reads(packing):
            kernels[kernel.isa] = kernel
            if kernel.isa in baseline:
                return tuple(kernels.values())
    return ()


def misfit(kernel: KernelInfo, node: Node) -> str | None:
    """Why the kernel cannot run the node; None where it can."""
    for what, allowed, values in (("input", kernel.inputs, node.inputs), ("output", kernel.outputs, node.outputs)):
        for index, value in enumerate(values):
            types = allowed[min(index, len(allowed) - 1)]
            if value.type.dtype not in types:
                return f"takes {_words(types)} as {what} {index}"
    objection = _quantised_misfit(kernel, node)
    if objection is not None:
        return objection
    if kernel.in_place is not None and kernel.in_place >= max(len(node.inputs), 1):
        return f"overwrites input {kernel.in_place}, which the node does not have"
    try:
        return None if kernel.when.holds(node) else f"needs {kernel.when}"
    except ConditionError as problem:
        return f"has a condition that does not fit: {problem}"


def _quantised_misfit(kernel: KernelInfo, node: Node) -> str | None:
    """What is against the kernel where types are quantised, or are not."""
    types = {(value.type.dtype, value.type.quant) for value in (*node.inputs, *node.outputs) if value.type.quant}
    if kernel.quantised == "either":
        return None
    if not types:
        return "takes quantised values" if kernel.quantised == "any" else None
    if any(quant is not None and dtype is not DType.S32 and quant.bits != 8 * dtype.itemsize for dtype, quant in types):
        return "takes quantised values that use the full range of their type"
    if kernel.quantised == "same":
        scales = {quant for _, quant in types if quant is not None and quant.axis is None}
        return None if len(types) == len(scales) == 1 else "takes one quantisation with one scale"
    return None if kernel.quantised else "takes no quantised values"


def _problem(node: Node, candidates: Sequence[KernelInfo], manifests: Manifests, abi: str, model: str) -> Problem:
    op = node.op.name
    types = f"({_types(node.inputs)}) -> ({_types(node.outputs)})"
    what = f"no kernel runs {op} {types} on {abi}"
    if candidates:
        rule = "; ".join(f"{kernel.name} {misfit(kernel, node) or _LACKING}" for kernel in candidates)
        remedy = f"convert the model to types that a kernel takes, or write a kernel in native/ops/{op}"
    elif everywhere := manifests.of(op):
        rule = "the kernels of this operator are for " + ", ".join(sorted({kernel.isa for kernel in everywhere}))
        remedy = f"write a portable one: native/ops/{op}/{op}_<dtype>_<variant>__portable.cc"
    else:
        rule = "every operator has a manifest native/ops/<op>/op.yaml that lists its kernels"
        remedy = f"write a kernel (lathe dev new-op {op}), or add the folder with its kernel to `op_paths`"
    return Problem(what, Where(model=model, node=node.name or node.outputs[0].name), rule, remedy)


_LACKING = "fits, but needs an instruction set that not every machine has, and there is no kernel to replace it there"


def _types(values: Sequence[Value]) -> str:
    return ", ".join(str(value.type) for value in values)


def _words(types: frozenset[DType]) -> str:
    return "|".join(dtype.value for dtype in DType if dtype in types)
