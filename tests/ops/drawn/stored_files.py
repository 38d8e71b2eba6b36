"""Writes case files for drawn nodes on quantised numbers, and reads what kernels made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from buildtool.ir.dims import static, symbol, symbols
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array, OperatorError
from buildtool.ops.concat import Concat
from buildtool.ops.slice import Slice
from buildtool.plan.manifest import KernelInfo, Manifests
from tests.ops.drawn.stored import Drawn
from tests.ops.native_cases import NativeCase, packings, write_case
from tests.ops.stored_case import Operand, add_operand, add_stored, evaluated, stored_case

_AROUND = (3, 2)  # bytes of other values before and behind each row
_IMAGES = ("conv2d", "dwconv2d", "max_pool2d", "avg_pool2d", "resize2d")
_MARGIN = 3  # how far the bound of a symbol lies above the size


def write_stored(folder: Path, items: Iterable[Drawn], manifests: Manifests) -> dict[str, int]:
    """A file for every kernel and packing that fits, a third of them with a symbol; another one where rows may lie
    apart. How many there are of each kernel.
    """
    files = {kernel.name: 0 for kernel in manifests}
    for number, item in enumerate(items):
        plain = stored_case(item.name, item.op, item.operands, *item.results)
        symbolic = _with_symbol(plain, item, number // 3 % 2) if number % 3 == 0 else None
        for kernel in manifests.of(item.op.name):
            ways = packings(plain.graph, kernel)
            for packing in ways:
                write_case(folder, files, symbolic or plain, kernel, packing)
            for parted in _apart(item, kernel) if ways else ():
                write_case(folder, files, parted, kernel, ways[0], manifests)
    return files


def _with_symbol(plain: NativeCase, item: Drawn, axis: int) -> NativeCase | None:
    """With batches or lines of which the number is known at run time only."""
    first, *others = item.operands
    if item.op.name not in _IMAGES or first.array.ndim <= axis or not all(operand.constant for operand in others):
        return None
    sizes = first.array.shape
    dim = symbol("n", 1, sizes[axis] + _MARGIN)
    graph = Graph(name="case", symbols={known.name: known for known in symbols(dim)})
    operands = [add_operand(graph, first, (*sizes[:axis], dim, *sizes[axis + 1 :]))]
    operands += [add_operand(graph, operand) for operand in others]
    try:
        add_stored(graph, item.op, operands, item.results)
    except OperatorError:
        return None  # of so few lines there is no window
    return NativeCase(f"{plain.name}_symbol{axis}", graph, plain.inputs, plain.expected)


def _apart(item: Drawn, kernel: KernelInfo) -> Iterator[NativeCase]:
    """Rows that lie apart, of the first operand and of the result: cut out of wider ones, and part of a concat."""
    first = item.operands[0]
    cut, joined = 0 in kernel.strided_inputs and _has_rows(first.array), kernel.strided_output
    if not cut and not joined:
        return
    graph = Graph(name="case")
    given: list[Array] = []

    def operand(number: int, own: Operand) -> Value:
        if own.constant:
            return add_operand(graph, own)
        if number > 0 or not cut:
            given.append(own.array)
            return add_operand(graph, own)
        border = [(0, 0)] * (own.array.ndim - 1)
        given.append(np.pad(own.array, [*border, _AROUND], constant_values=1))
        source = add_operand(graph, replace(own, array=given[-1]))
        starts = (*[0] * len(border), _AROUND[0])
        way = None if own.quant is None else (own.type.dtype, own.quant)
        node = add_stored(graph, Slice(starts, (1,) * own.array.ndim, own.array.shape), [source], [way])
        return node.outputs[0]

    operands = [operand(number, own) for number, own in enumerate(item.operands)]
    made = add_stored(graph, item.op, operands, item.results).outputs[0]
    result = item.results[0]
    assert result is not None
    rows = static(made.type.shape[:-1])
    if joined and int(np.prod(rows)) > 1:
        sides = []
        for width in _AROUND:
            given.append(np.zeros((*rows, width), result[0].numpy))
            sides.append(add_operand(graph, Operand(given[-1], result[1])))
        add_stored(graph, Concat(len(rows)), [sides[0], made, sides[1]], [result])
    yield NativeCase(f"{item.name}_apart", graph, tuple(given), evaluated(graph, given))


def _has_rows(array: Array) -> bool:
    return array.ndim > 1 and int(np.prod(array.shape[:-1])) > 1


def outcomes(report: Path) -> dict[str, dict[str, str]]:
    """Of a report of the program that reads case files: what became of every model, by the files' names."""
    found: dict[str, dict[str, str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        facts = {entry.get("name"): entry.get("value", "") for entry in case.iter("property")}
        if "kernel" in facts:
            stem = case.get("name", "").partition("/")[2]
            found.setdefault(model_of(stem, facts["kernel"]), {})[stem] = facts["digest"]
    return found


def model_of(stem: str, kernel: str) -> str:
    """What the file of a kernel has in common with those of others for the same model."""
    return re.sub(r"_(signed16|winograd2_signed8)$", "", re.sub(rf"^{kernel}_\d+_", "", stem))
