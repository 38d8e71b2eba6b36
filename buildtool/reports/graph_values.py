"""What a page tells of the values of graphs: types, constants, ranges. Equal values are stored once."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np

from buildtool.importers.outline import OutlinedTensor
from buildtool.ir.dims import bounds
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.quant.ranges import between
from buildtool.tensors.spread import spread

_SHOWN_ELEMENTS = 8


class Values:
    """All values of the graphs of one page."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []
        self._numbers: dict[str, int] = {}
        # Stages share constants, and counting takes time. An array that is gone may leave its place to another one.
        self._constants: dict[int, tuple[weakref.ref[Array], dict[str, Any]]] = {}

    def number(self, value: Value, graph: Graph) -> int:
        """The number of a value of a graph."""
        shown: dict[str, Any] = {"name": value.name, "type": str(value.type), "bytes": size(value)}
        if value.source_names:
            shown["from"] = list(value.source_names)
        quant = value.type.quant or graph.range_of(value)
        if quant is not None:
            shown["range"] = [float(f"{end:.5g}") for end in between(quant)] if len(quant.scales) == 1 else []
            shown["bits"] = quant.bits
        if value.constant is not None:
            shown.update(self._constant(value.constant))
        return self._number(shown)

    def outlined(self, name: str, tensor: OutlinedTensor | None) -> int:
        """The number of a tensor of a file."""
        shown: dict[str, Any] = {"name": name, "type": "", "bytes": 0}
        if tensor is not None:
            shown.update(type=tensor.type, bytes=tensor.bytes)
            if tensor.is_constant:
                shown["constant"] = ""
        return self._number(shown)

    def _number(self, shown: dict[str, Any]) -> int:
        key = repr(shown)
        if key not in self._numbers:
            self._numbers[key] = len(self.kept)
            self.kept.append(shown)
        return self._numbers[key]

    def _constant(self, array: Array) -> dict[str, Any]:
        known = self._constants.get(id(array))
        if known is not None and known[0]() is array:
            return known[1]
        first = [_element(item) for item in array.ravel()[:_SHOWN_ELEMENTS]]
        rest = ", \N{HORIZONTAL ELLIPSIS}" if array.size > len(first) else ""
        told: dict[str, Any] = {"constant": ", ".join(first) + rest}
        if array.size > _SHOWN_ELEMENTS and (found := spread(array)):
            told["spread"] = found
        self._constants[id(array)] = (weakref.ref(array), told)
        return told


def size(value: Value) -> int:
    """Bytes, at the upper bounds of sizes that vary."""
    return math.prod(bounds(dim)[1] for dim in value.type.shape) * value.type.dtype.itemsize


def _element(item: np.generic) -> str:
    return f"{float(item):.6g}" if isinstance(item, np.floating) else str(item)
