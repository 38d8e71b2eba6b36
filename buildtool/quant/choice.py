"""Which nodes of a model are stored in a few bits, as far as a user says so: by operator, and by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType

#: Every operator that has kernels for it.
ALL = "all"
#: What has nearly all the weights and products of most networks.
USUAL = "usual"
_CONCAT = "concat"
_MADE_UP = re.compile(r"[a-z][a-z0-9_]*\.\d+")  # by an importer, for what has no name in the source
_WITH_WEIGHTS = ("conv2d", "dwconv2d", "deconv2d", "fully_connected")


@dataclass(frozen=True)
class Choice:
    """What the deployment says."""

    operators: tuple[str, ...] = (ALL,)  # that are stored, and layers by their names
    keep_float: tuple[str, ...] = ()  # operators, and layers by their names, that are not

    @property
    def wanted(self) -> frozenset[str] | None:
        """The operators and layers that may be stored; None for all."""
        if ALL in self.operators:
            return None
        usual = _WITH_WEIGHTS if USUAL in self.operators else ()
        return frozenset({*self.operators, *usual} - {USUAL})


def names_of(node: Node) -> tuple[str, ...]:
    """What a layer is called in the source: by its own name, and by those of its results."""
    results = [name for value in node.outputs for name in value.source_names]
    return tuple(dict.fromkeys(name for name in (node.name, *results) if name)) or (node.outputs[0].name,)


def layer_name(node: Node) -> str:
    """What a layer is called where one name is wanted: as its result in the source, or else as itself."""
    results = [name for name in node.outputs[0].source_names if name]
    told = [name for name in results if not _MADE_UP.fullmatch(name)]
    return next(iter(told or results), "") or names_of(node)[0]


def moves(node: Node) -> bool:
    """Whether the node computes nothing new: stored or not, it gives the numbers that it gets."""
    return node.op.keeps_numbers or node.op.name == _CONCAT


def real(graph: Graph, choice: Choice) -> dict[Value, str]:
    """The first results of the nodes that stay real numbers because the user says so, each with the reason.

    What moves numbers is stored where stored nodes made them, or read them.
    """
    wanted, kept = choice.wanted, frozenset(choice.keep_float)
    if wanted is None and not kept:
        return {}
    reasons: dict[Node, str] = {}
    moving: list[Node] = []
    for node in graph.nodes:
        words = (*names_of(node), node.op.name)
        if named := next((word for word in words if word in kept), ""):
            reasons[node] = f"quantize_keep_float names '{named}'"
        elif wanted is None or wanted.isdisjoint(words):
            if moves(node):
                moving.append(node)
            elif wanted is not None:
                reasons[node] = f"quantize_operators does not name {node.op.name}"
    inside = {node for node in graph.nodes if node not in reasons} - set(moving)
    inside = _with_what_moves(graph, inside, moving)
    return {
        node.outputs[0]: reasons.get(node, "it moves data of nodes that stay in floating point")
        for node in graph.nodes
        if node not in inside
    }


def unknown(graph: Graph, choice: Choice, operators: Collection[str]) -> list[tuple[str, str, str]]:
    """The words of a choice that nothing is called by: key, word, and what may have been meant (or nothing)."""
    layers = [name for node in graph.nodes for name in names_of(node)]
    found = []
    for key, words, known in (
        ("quantize_operators", choice.operators, {*operators, *layers, ALL, USUAL}),
        ("quantize_keep_float", choice.keep_float, {*operators, *layers}),
    ):
        for word in words:
            if word not in known:
                near = difflib.get_close_matches(word, sorted(known), n=1)
                found.append((key, word, near[0] if near else ""))
    return found


def _with_what_moves(graph: Graph, inside: Collection[Node], moving: Sequence[Node]) -> set[Node]:
    """These nodes, and those that move numbers which one of them made, or that all readers take from them."""
    makers = {value: node for node in graph.nodes for value in node.outputs}
    readers: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            readers.setdefault(value, []).append(node)
    found = set(inside)
    while grown := {node for node in moving if node not in found and _between(node, found, makers, readers)}:
        found |= grown
    return found


def _between(
    node: Node, inside: Collection[Node], makers: Mapping[Value, Node], readers: Mapping[Value, Sequence[Node]]
) -> bool:
    sources = [makers.get(value) for value in _numbers(node.inputs)]
    sinks = [reader for value in _numbers(node.outputs) for reader in readers.get(value, ())]
    made = bool(sources) and all(maker in inside for maker in sources)
    return made or (bool(sinks) and all(reader in inside for reader in sinks))


def _numbers(values: Iterable[Value]) -> list[Value]:
    return [value for value in values if value.type.dtype is DType.F32 and not value.is_constant]
