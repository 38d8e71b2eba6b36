"""The text form of a graph: for people to read, and exact enough to read back.

    lathe graph 1
    model "digits"
    symbol N 1..64
    range "conv1" quant {scales=[0.5], zero_points=[-128], axis=none, bits=8}
    input %x: f32[N, 28, 28, 1] from ["image"]
    constant %w.1: f32[8, 3, 3, 1] = sha256:0f3a...
    constant %b.2: f32[2] = [0.5, -1.0]
    %conv2d.3: f32[N, 26, 26, 8] from ["conv1"] = conv2d {strides=[1, 1], ...}(%x, %w.1) named "Conv_0"
    output %conv2d.3

A constant stands before its first use: up to 16 elements as numbers, more as the key of an array that is kept beside
the text. A node with regions is followed by one block `region` ... `end` for each. Names with odd characters are
quoted. `buildtool.ir.text_reader` reads it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator

import numpy as np

from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Array
from buildtool.ir.text_reader import HEADER, PLAIN_NAME, read
from buildtool.ir.types import QuantType, TensorType

__all__ = ["read", "write"]

_INLINE_ELEMENTS = 16


def write(graph: Graph) -> tuple[str, dict[str, Array]]:
    """The text of a graph, and the arrays of the constants that the text names by key."""
    writer = _Writer()
    lines = [HEADER, f"model {_quote(graph.name)}"]
    lines += [f"symbol {symbol.name} {symbol.low}..{symbol.high}" for symbol in graph.symbols.values()]
    lines += [f"range {_quote(name)} {_quant(quant)}" for name, quant in graph.ranges.items()]
    lines += writer.region(graph, "")
    return "\n".join(lines) + "\n", writer.arrays


class _Writer:
    """Remembers which constants are written already."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._written: set[Value] = set()

    def region(self, region: Region, indent: str) -> Iterator[str]:
        for value in region.inputs:
            first = region.initial.get(value.name) if isinstance(region, Graph) else None
            start = "" if first is None else f" = {self._elements(first)}"
            yield f"{indent}input {_definition(value)}{start}"
        for node in region.nodes:
            yield from self._constants(node.inputs, indent)
            yield indent + _node(node)
            for inner in node.regions:
                yield f"{indent}  region"
                yield from self.region(inner, indent + "    ")
                yield f"{indent}  end"
        yield from self._constants(region.outputs, indent)
        for value in region.outputs:
            yield f"{indent}output {_name(value)}"

    def _constants(self, values: Iterable[Value], indent: str) -> Iterator[str]:
        for value in values:
            if value.constant is not None and value not in self._written:
                self._written.add(value)
                yield f"{indent}constant {_definition(value)} = {self._elements(value.constant)}"

    def _elements(self, array: Array) -> str:
        if array.size <= _INLINE_ELEMENTS and not np.isnan(array).any():  # the bits of a NaN would be lost
            return "[" + ", ".join(_element(item) for item in array.ravel()) + "]"
        label = f"{array.dtype.str}{array.shape}".encode()
        key = "sha256:" + hashlib.sha256(label + array.tobytes()).hexdigest()[:32]
        self.arrays[key] = array
        return key


def _element(item: np.generic) -> str:
    if isinstance(item, np.bool_):
        return "true" if item else "false"
    return str(item)  # for floats the shortest text that reads back to the same number of that precision


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _name(value: Value) -> str:
    return "%" + (value.name if re.fullmatch(PLAIN_NAME, value.name) else _quote(value.name))


def _definition(value: Value) -> str:
    source = f" from [{', '.join(map(_quote, value.source_names))}]" if value.source_names else ""
    return f"{_name(value)}: {_type(value.type)}{source}"


def _type(type_: TensorType) -> str:
    return str(type_) if type_.quant is None else f"{type_} {_quant(type_.quant)}"


def _quant(quant: QuantType) -> str:
    scales = ", ".join(repr(float(scale)) for scale in quant.scales)
    zero_points = ", ".join(str(point) for point in quant.zero_points)
    axis = "none" if quant.axis is None else str(quant.axis)
    return f"quant {{scales=[{scales}], zero_points=[{zero_points}], axis={axis}, bits={quant.bits}}}"


def _node(node: Node) -> str:
    outputs = ", ".join(_definition(value) for value in node.outputs)
    inputs = ", ".join(_name(value) for value in node.inputs)
    name = f" named {_quote(node.name)}" if node.name else ""
    return f"{outputs} = {node.op}({inputs}){name}"
