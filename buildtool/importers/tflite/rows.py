"""Rows that a loop writes into a tensor one by one. The converter makes of each the rows before, the row, and the rest.

The sizes of the parts depend on the number of the iteration; here such a write is one operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from buildtool.importers.model import SourceBody, SourceNode
from buildtool.importers.order import needed_for

#: Inputs: a tensor, the number of a row, and the row [1, ...]. Files do not have this operator.
SET_ROW = "@SET_ROW"


def with_rows(body: SourceBody) -> SourceBody:
    """The graph of a loop, in which such writes are operators."""
    parts = _Parts(body)
    nodes = tuple(parts.as_write(node) or node for node in body.nodes)
    if nodes == body.nodes:
        return body
    return replace(body, nodes=tuple(needed_for(nodes, body.outputs, body.inputs)))


class _Parts:
    def __init__(self, body: SourceBody) -> None:
        self._constants = body.constants
        self._makers: Mapping[str, SourceNode] = {name: node for node in body.nodes for name in node.outputs}

    def _maker(self, name: str, op: str) -> SourceNode | None:
        node = self._makers.get(name)
        return node if node is not None and node.op == op else None

    def _is_all(self, name: str, number: int) -> bool:
        content = self._constants.get(name)
        return content is not None and bool(np.all(content == number))

    def as_write(self, node: SourceNode) -> SourceNode | None:
        """A concatenation of rows before a row, that row, and rows behind it."""
        if node.op != "CONCATENATION" or len(node.inputs) != 3 or node.attributes.get("axis") != 0:
            return None
        first, last = (self._maker(node.inputs[index], "SLICE") for index in (0, 2))
        if first is None or last is None or len(first.inputs) != 3 or len(last.inputs) != 3:
            return None
        number, after = self._row(first.inputs[2], -1), self._row(last.inputs[1], 0)
        whole = self._is_all(first.inputs[1], 0) and self._is_all(last.inputs[2], -1)
        if first.inputs[0] != last.inputs[0] or not whole or number is None or after is None:
            return None
        sum_ = self._maker(after, "ADD")
        if sum_ is None or number not in sum_.inputs or not any(self._is_all(name, 1) for name in sum_.inputs):
            return None
        return replace(node, op=SET_ROW, inputs=(first.inputs[0], number, node.inputs[1]), attributes={})

    def _row(self, name: str, rest: int) -> str | None:
        """The number in front of others that are all the same."""
        node = self._maker(name, "CONCATENATION")
        if node is None or len(node.inputs) != 2 or not self._is_all(node.inputs[1], rest):
            return None
        reshaped = self._maker(node.inputs[0], "RESHAPE")
        return None if reshaped is None else reshaped.inputs[0]
