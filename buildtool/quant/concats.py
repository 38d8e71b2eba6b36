"""One range for what a concatenation puts together and for the result: it only copies then (`change_concat_ranges`)."""

from __future__ import annotations

from buildtool.ir.graph import Graph, Value
from buildtool.ir.types import DType
from buildtool.quant.ranges import between, stored_as

_CONCAT = "concat"


def share(graph: Graph) -> None:
    """Widens the ranges of the graph. What moves the numbers of one tensor on the way has its range already."""
    groups: dict[Value, list[Value]] = {}  # of each value: all that have to have one range
    joined: list[Value] = []
    for node in graph.nodes:
        operands = _real(node.inputs)
        if node.op.name != _CONCAT and not (node.op.keeps_numbers and len(operands) == 1):
            continue
        _join(groups, [*operands, *_real(node.outputs)])
        if node.op.name == _CONCAT:
            joined += _real(node.outputs)
    for value in joined:
        _widen(graph, groups[value])


def _real(values: list[Value]) -> list[Value]:
    return [value for value in values if value.type.dtype is DType.F32 and not value.is_constant]


def _join(groups: dict[Value, list[Value]], values: list[Value]) -> None:
    members = list(dict.fromkeys(member for value in values for member in groups.get(value, [value])))
    groups.update(dict.fromkeys(members, members))


def _widen(graph: Graph, members: list[Value]) -> None:
    found = [graph.range_of(value) for value in members]
    known = [quant for quant in found if quant is not None and quant.axis is None]
    if not known:
        return
    low = min(between(quant)[0] for quant in known)
    high = max(between(quant)[1] for quant in known)
    quant = stored_as(low, high, bits=max(quant.bits for quant in known))
    for value in members:
        graph.ranges.update(dict.fromkeys((value.name, *value.source_names), quant))
