"""Branches as TensorFlow 1 writes them: Switch gives its input to one side, Merge takes what arrives.

Where the predicate is a constant, only the side that is taken stays. Where it is not, both sides are computed and the
result is selected: nodes have no effects here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from buildtool.errors import UnsupportedError, Where
from buildtool.importers.tensorflow.functions import FlatNode, Ref
from buildtool.importers.tensorflow.tensors import array_of
from buildtool.schemas import tensorflow_graph_pb2 as pb

_SWITCHES = frozenset({"Switch", "RefSwitch"})
_MERGES = frozenset({"Merge", "RefMerge"})
_LOOPS = frozenset({"Enter", "Exit", "NextIteration", "LoopCond", "RefEnter", "RefExit", "RefNextIteration"})
_PASSING = frozenset({"Identity", "PlaceholderWithDefault", "StopGradient"})


def without_switches(nodes: Sequence[FlatNode], where: Where) -> tuple[FlatNode, ...]:
    """The nodes without Switch and Merge."""
    if not any(node.op in _SWITCHES or node.op in _LOOPS for node in nodes):
        return tuple(nodes)
    for node in nodes:
        if node.op in _LOOPS:
            raise UnsupportedError(
                f"{node.op}: this is not part of a complete loop",
                where=Where(where.file, model=where.model, node=node.name),
                remedy="build the graph with tf.compat.v1.enable_control_flow_v2(), or save it as a SavedModel",
            )
    return _Branches(nodes, where).resolved()


class _Branches:
    def __init__(self, nodes: Sequence[FlatNode], where: Where) -> None:
        self._nodes = nodes
        self._by_name = {node.name: node for node in nodes}
        self._where = where
        self._replaced: dict[Ref, Ref] = {}  # the outputs of a Switch by one name for each side
        self._sides: dict[Ref, Ref] = {}  # those names, and what the Switch is given
        #: What has to be true of predicates for a node to run; None where it never does.
        self._needs: dict[str, frozenset[tuple[Ref, bool]] | None] = {}

    def resolved(self) -> tuple[FlatNode, ...]:
        kept = []
        for node in self._in_order():
            inputs = tuple(self._replaced.get(ref, ref) for ref in node.inputs)
            node = replace(node, inputs=inputs)
            if node.op in _SWITCHES and len(inputs) == 2:
                self._switch(node)
            elif node.op in _MERGES and inputs:
                kept += self._merge(node)
            else:
                needs = self._common(node)
                self._needs[node.name] = needs
                if needs is not None:
                    kept.append(node)
        return tuple(replace(node, inputs=tuple(self._through(ref) for ref in node.inputs)) for node in kept)

    def _through(self, ref: Ref) -> Ref:
        """What a side of a Switch is given."""
        while ref in self._sides:
            ref = self._sides[ref]
        return ref

    def _switch(self, node: FlatNode) -> None:
        """Both outputs are the input. What reads them is on one side, and so are the nodes that wait for such."""
        data, predicate = node.inputs
        around = self._common(node)
        known = self._truth(predicate)
        for side in (False, True):
            taken = around is not None and known in (None, side)
            needs = around | ({(predicate, side)} if known is None else set()) if around is not None and taken else None
            name = f"{node.name}\0{side:d}"  # no node is called so
            self._needs[name] = None if needs is None else frozenset(needs)
            self._replaced[node.name, int(side)] = (name, 0)
            self._sides[name, 0] = data
            self._by_name[name] = replace(node, name=name, op="Identity", inputs=(data,))
        self._needs[node.name] = around

    def _merge(self, node: FlatNode) -> list[FlatNode]:
        arriving = [ref for ref in node.inputs if self._needs.get(ref[0], frozenset()) is not None]
        needs = [self._needs.get(ref[0]) or frozenset() for ref in arriving]
        if not arriving:
            self._needs[node.name] = None
            return []
        if len(arriving) == 1:
            self._needs[node.name] = needs[0]
            return [replace(node, op="Identity", inputs=(arriving[0],))]
        if len(arriving) == 2:
            for predicate, side in needs[0]:
                if (predicate, not side) in needs[1]:
                    self._needs[node.name] = needs[0] & needs[1]
                    taken, other = arriving if side else arriving[::-1]
                    return [replace(node, op="SelectV2", inputs=(predicate, taken, other))]
        raise UnsupportedError(
            "Merge: which of its inputs arrives is not decided by one predicate",
            where=Where(self._where.file, model=self._where.model, node=node.name),
            remedy="build the graph with tf.compat.v1.enable_control_flow_v2()",
        )

    def _common(self, node: FlatNode) -> frozenset[tuple[Ref, bool]] | None:
        """A node runs where all that it reads and waits for does."""
        total: set[tuple[Ref, bool]] = set()
        for name in (*(ref[0] for ref in node.inputs), *node.controls):
            needs = self._needs.get(name, frozenset())
            if needs is None:
                return None
            total |= needs
        return frozenset(total)

    def _truth(self, ref: Ref) -> bool | None:
        """A predicate that is a constant."""
        denied = False
        for _ in range(len(self._by_name)):
            node = self._by_name.get(ref[0])
            if node is None:
                return None
            if node.op == "Const" and "value" in node.attr and node.attr["value"].tensor.dtype == pb.DT_BOOL:
                content = array_of(node.attr["value"].tensor, self._where)
                return bool(content.reshape(-1)[0]) != denied if content.size == 1 else None
            if (node.op not in _PASSING and node.op != "LogicalNot") or not node.inputs:
                return None
            denied ^= node.op == "LogicalNot"
            ref = node.inputs[0]
        return None

    def _in_order(self) -> Iterable[FlatNode]:
        """What is read or waited for comes first. Nodes of cycles are left out: the order of nodes tells of those."""
        before = {
            node.name: {name for name in (*(ref[0] for ref in node.inputs), *node.controls) if name in self._by_name}
            for node in self._nodes
        }
        readers: dict[str, list[FlatNode]] = {node.name: [] for node in self._nodes}
        for node in self._nodes:
            for name in before[node.name]:
                readers[name].append(node)
        ready = [node for node in self._nodes if not before[node.name]]
        for node in ready:
            yield node
            for reader in readers[node.name]:
                before[reader.name].discard(node.name)
                if not before[reader.name]:
                    ready.append(reader)
