"""The first node that makes NaN or infinity from finite operands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Graph
from buildtool.running.metrics import Array
from buildtool.running.recorded_values import Names, operands


@dataclass(frozen=True)
class Trapped:
    """Where it began. Without a node it came in with the inputs."""

    node: str
    op: str
    value: str
    nans: int
    infinities: int
    place: tuple[int, ...]  # of the first of them
    shape: tuple[int, ...]

    def __str__(self) -> str:
        kinds = [f"{self.nans} NaN"] * bool(self.nans) + [f"{self.infinities} infinite"] * bool(self.infinities)
        where = f"the first at {list(self.place)} of {list(self.shape)}"
        if not self.node:
            return f"the input has {' and '.join(kinds)} numbers, {where}"
        return f"{self.op} makes {' and '.join(kinds)} numbers of operands that have none, {where}"


def spring(graph: Graph, names: Names, inputs: Mapping[str, Array], values: Mapping[str, Array]) -> Trapped | None:
    """Look at all values of a run in the order in which they were made."""
    odd: set[str] = set()
    for value in graph.inputs:
        if _is_odd(inputs[value.name]):
            return _trapped("", "", value.name, inputs[value.name])
    for node in graph.nodes:
        fed = any(value.name in odd for value in operands(node))
        fed = fed or any(value.constant is not None and _is_odd(value.constant) for value in node.inputs)
        for value in node.outputs:
            array = values.get(value.name)
            if array is None or not _is_odd(array):
                continue
            if not fed:
                known = names.of_value(value)
                return _trapped(names.of_node(node), node.op.name, known[0] if known else value.name, array)
            odd.add(value.name)
    return None


def _is_odd(array: Array) -> bool:
    return array.dtype.kind == "f" and not np.isfinite(array).all()


def _trapped(node: str, op: str, value: str, array: Array) -> Trapped:
    place = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
    nans, infinities = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    return Trapped(node, op, value, nans, infinities, tuple(int(index) for index in place), tuple(array.shape))
