"""Loops as TensorFlow 1 writes them, as nodes that hold two graphs, like those of TensorFlow 2.

Enter brings a value into a frame. What changes there comes out of a Merge, which takes it from Enter first and from
NextIteration then; LoopCond tells whether it goes on, and each Switch hands its value to the next iteration or to Exit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from buildtool.errors import UnsupportedError, Where
from buildtool.importers.tensorflow.functions import FlatBody, FlatNode, Ref

ENTERS = frozenset({"Enter", "RefEnter"})
_EXITS = frozenset({"Exit", "RefExit"})
_MERGES = frozenset({"Merge", "RefMerge"})
_NEXTS = frozenset({"NextIteration", "RefNextIteration"})
_SWITCHES = frozenset({"Switch", "RefSwitch"})


def without_frames(nodes: Sequence[FlatNode], where: Where) -> tuple[FlatNode, ...]:
    """The nodes, with one in the place of each loop. Those in other loops come first."""
    waiting = _by_frame(nodes)
    while waiting:
        around = len(waiting)
        for frame, enters in list(waiting.items()):
            found = _Frame.of(nodes, enters, where)
            if not found.holds_others():
                nodes = found.replaced()
                del waiting[frame]
        if len(waiting) == around:
            raise _refusal("nested loops", next(iter(waiting.values()))[0], where)
    return tuple(nodes)


def _by_frame(nodes: Iterable[FlatNode]) -> dict[bytes, list[FlatNode]]:
    found: dict[bytes, list[FlatNode]] = {}
    for node in nodes:
        if node.op in ENTERS:
            found.setdefault(node.attr["frame_name"].s, []).append(node)
    return found


def _refusal(what: str, node: FlatNode, where: Where) -> UnsupportedError:
    return UnsupportedError(
        f"{node.op}: {what}",
        where=Where(where.file, model=where.model, node=node.name),
        remedy="build the graph with tf.compat.v1.enable_control_flow_v2(), or save it as a SavedModel",
    )


@dataclass(frozen=True)
class _Variable:
    """A value that changes."""

    enter: FlatNode
    merge: FlatNode
    again: FlatNode  # NextIteration
    switch: FlatNode


class _Frame:
    """One loop in its graph."""

    def __init__(
        self, nodes: Sequence[FlatNode], goes_on: FlatNode, variables: Sequence[_Variable], fixed: Sequence[FlatNode]
    ) -> None:
        self._nodes = nodes
        self._by_name = {node.name: node for node in nodes}
        self._goes_on = goes_on
        self._variables = variables
        self._fixed = fixed
        self._arguments = tuple(f"{goes_on.name}/{index}" for index in range(len(variables) + len(fixed)))
        starts = {(item.enter.name, 0): name for item, name in zip(variables, self._arguments, strict=False)}
        again = {(item.switch.name, 1): name for item, name in zip(variables, self._arguments, strict=False)}
        first = {(item.merge.name, 0): name for item, name in zip(variables, self._arguments, strict=False)}
        kept = {(node.name, 0): name for node, name in zip(fixed, self._arguments[len(variables) :], strict=True)}
        self._given: Mapping[Ref, str] = {**starts, **again, **first, **kept}
        self._condition = self._inside([goes_on.inputs[0]])
        self._body = self._inside([item.again.inputs[0] for item in variables])

    @classmethod
    def of(cls, nodes: Sequence[FlatNode], enters: Sequence[FlatNode], where: Where) -> _Frame:
        by_name = {node.name: node for node in nodes}
        readers: dict[str, list[FlatNode]] = {}
        for node in nodes:
            for name in {ref[0] for ref in node.inputs}:
                readers.setdefault(name, []).append(node)
        variables, fixed, goes_on = [], [], None
        for enter in enters:
            merge = next((node for node in readers.get(enter.name, ()) if node.op in _MERGES), None)
            if len(enter.inputs) != 1:
                raise _refusal(f"it has {len(enter.inputs)} inputs", enter, where)
            if merge is None:
                fixed.append(enter)
                continue
            again = [by_name.get(ref[0]) for ref in merge.inputs if ref[0] != enter.name]
            switches = [node for node in readers.get(merge.name, ()) if node.op in _SWITCHES and len(node.inputs) == 2]
            switches = [node for node in switches if _is_loop_condition(by_name.get(node.inputs[1][0]))]
            if len(again) != 1 or again[0] is None or again[0].op not in _NEXTS or len(again[0].inputs) != 1:
                raise _refusal("nothing gives its value for the next iteration", merge, where)
            if len(switches) != 1:
                raise _refusal("nothing tells whether there is a next iteration", merge, where)
            goes_on = by_name[switches[0].inputs[1][0]]
            variables.append(_Variable(enter, merge, again[0], switches[0]))
        if goes_on is None:
            raise _refusal("nothing changes in its loop", enters[0], where)
        return cls(nodes, goes_on, variables, fixed)

    def holds_others(self) -> bool:
        """Whether there is a loop in this one that has not been replaced."""
        return any(node.op in ENTERS for node in (*self._condition, *self._body))

    def replaced(self) -> list[FlatNode]:
        """The nodes of the graph, with one for this loop."""
        bodies = {
            "cond": self._graph(self._condition, [self._goes_on.inputs[0]]),
            "body": self._graph(self._body, [item.again.inputs[0] for item in self._variables]),
        }
        changing = [item.enter for item in self._variables]
        outputs = bodies["body"].outputs + tuple((name, 0) for name in self._arguments[len(changing) :])
        bodies["body"] = replace(bodies["body"], outputs=outputs)
        inputs = tuple(node.inputs[0] for node in (*changing, *self._fixed))
        loop = FlatNode(self._goes_on.name, "While", inputs, (), {}, bodies=bodies)
        places = {item.switch.name: index for index, item in enumerate(self._variables)}
        gone = self._all_inside()
        return [*(self._left(node, places) for node in self._nodes if node.name not in gone), loop]

    def _all_inside(self) -> set[str]:
        """All that depends on what enters the loop, up to what leaves it."""
        readers: dict[str, list[FlatNode]] = {}
        for node in self._nodes:
            for name in {ref[0] for ref in node.inputs} if node.op not in _EXITS else ():
                readers.setdefault(name, []).append(node)
        waiting = [item.enter for item in self._variables] + list(self._fixed)
        found = {node.name for node in waiting}
        while waiting:
            for node in readers.get(waiting.pop().name, ()):
                if node.name not in found:
                    found.add(node.name)
                    waiting.append(node)
        return found

    def _left(self, node: FlatNode, places: Mapping[str, int]) -> FlatNode:
        """A node outside; those that let values out read the loop."""
        if node.op in _EXITS and node.inputs and node.inputs[0][0] in places:
            return replace(node, op="Identity", inputs=((self._goes_on.name, places[node.inputs[0][0]]),))
        return node

    def _inside(self, wanted: Iterable[Ref]) -> list[FlatNode]:
        """What these depend on within the loop, in the order of the graph."""
        waiting, found = list(wanted), set()
        while waiting:
            ref = waiting.pop()
            if ref not in self._given and ref[0] not in found and ref[0] in self._by_name:
                found.add(ref[0])
                waiting += self._by_name[ref[0]].inputs
        return [node for node in self._nodes if node.name in found]

    def _graph(self, nodes: Iterable[FlatNode], outputs: Iterable[Ref]) -> FlatBody:
        inside = [replace(node, inputs=tuple(self._ref(ref) for ref in node.inputs)) for node in nodes]
        return FlatBody(self._arguments, tuple(self._ref(ref) for ref in outputs), tuple(inside))

    def _ref(self, ref: Ref) -> Ref:
        return (self._given[ref], 0) if ref in self._given else ref


def _is_loop_condition(node: FlatNode | None) -> bool:
    return node is not None and node.op == "LoopCond" and len(node.inputs) == 1
