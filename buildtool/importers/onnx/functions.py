"""Puts the local functions of a model in the places of their calls, where what that makes stays within bounds.

A function may call others: ten calls per level make ten thousand million nodes in ten levels, from a file of 2 kB. So
the result is counted, which takes time in proportion to the file, before anything is put in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import onnx
import onnx.inliner
from onnx import FunctionProto, ModelProto, NodeProto

from buildtool.errors import ModelFileError, Where
from buildtool.importers.onnx.tensors import text_of

MOST_NODES = 100_000  # that all functions together make
MOST_BYTES = 2**28  # of these nodes: constants are copied with them
MOST_DEPTH = 128  # functions that call each other: one for each level of a network's modules, in practice below 30
_REMEDY = "export the model without local functions"

_Name: TypeAlias = tuple[str, str, str]  # domain, name, overload


@dataclass(frozen=True)
class _Made:
    """What a call of a function makes."""

    nodes: int = 0
    bytes: int = 0
    depth: int = 0


@dataclass
class _Counter:
    """Counts what calls make; each function once."""

    functions: dict[_Name, FunctionProto]
    where: Where
    _known: dict[_Name, _Made] = field(default_factory=dict)
    _open: dict[_Name, None] = field(default_factory=dict)  # in the order of the calls

    def made(self, nodes: Iterable[NodeProto]) -> _Made:
        """By the calls among these nodes. ModelFileError where one makes too much."""
        count = size = depth = 0
        for node in _walk(nodes):
            name = (node.domain, node.op_type, node.overload)
            if name in self.functions:
                of_call = self._of_function(name)
                count, size, depth = count + of_call.nodes, size + of_call.bytes, max(depth, of_call.depth)
                if count > MOST_NODES or size > MOST_BYTES:
                    self._refuse_size(name, count, size)
        return _Made(count, size, depth)

    def _of_function(self, name: _Name) -> _Made:
        if name not in self._known:
            if name in self._open:
                self._refuse(name, "calls itself", "local functions form no cycle")
            if len(self._open) >= MOST_DEPTH:
                self._refuse(name, f"is called {MOST_DEPTH} levels deep", f"at most {MOST_DEPTH} levels of calls")
            self._open[name] = None
            function = self.functions[name]
            inner = self.made(function.node)
            del self._open[name]
            if inner.depth >= MOST_DEPTH:
                self._refuse(name, f"calls {inner.depth} levels deep", f"at most {MOST_DEPTH} levels of calls")
            own = sum(1 for _ in _walk(function.node))
            self._known[name] = _Made(inner.nodes + own, inner.bytes + function.ByteSize(), inner.depth + 1)
        return self._known[name]

    def _refuse_size(self, name: _Name, nodes: int, size: int) -> None:
        if nodes > MOST_NODES:
            what, rule = f"{nodes:,} nodes or more", f"local functions make at most {MOST_NODES:,} nodes"
        else:
            what, rule = f"{size:,} bytes or more", f"the nodes that local functions make have {MOST_BYTES:,} bytes"
        self._refuse(name, f"makes, with the calls before it, {what}", rule)

    def _refuse(self, name: _Name, what: str, rule: str) -> None:
        shown = text_of(name[1])
        where = Where(self.where.file, model=self.where.model, node=shown)
        raise ModelFileError(f"the local function '{shown}' {what}", where=where, rule=rule, remedy=_REMEDY)


def inlined(model: ModelProto, where: Where) -> ModelProto:
    """The model with its local functions in the places of their calls. ModelFileError where they make too much."""
    functions = {(one.domain, one.name, one.overload): one for one in model.functions}
    _Counter(functions, where).made(model.graph.node)
    try:
        return onnx.inliner.inline_local_functions(model)
    except Exception as problem:  # the package raises its own and built-in errors alike
        line = str(problem).strip().partition("\n")[0] or type(problem).__name__
        what = f"the functions of the model cannot be put in place: {line}"
        raise ModelFileError(what, where=where, remedy=_REMEDY) from problem


def _walk(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """The nodes, and those of the graphs in them."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        for attribute in node.attribute:
            for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                waiting.extend(graph.node)
