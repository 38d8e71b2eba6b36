"""How much it harms a network to store layers in a few bits, and which of them are best left as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.quantised import is_quantised
from buildtool.ops.requantize import Requantize
from buildtool.quant.choice import layer_name, moves

#: Decibels: what is closer than that counts as equal, as numbers of single precision are no closer.
EXACT = 140.0


@dataclass
class Noise:
    """The ratio of a signal to the noise on it, over all numbers that were seen."""

    signal: float = 0.0  # sum of squares
    error: float = 0.0

    def see(self, wanted: Array, found: Array) -> None:
        exact = np.asarray(wanted, np.float64)
        self.signal += float(np.square(exact).sum())
        self.error += float(np.square(np.asarray(found, np.float64) - exact).sum())

    @property
    def decibels(self) -> float:
        """From -EXACT to EXACT."""
        if not self.error:
            return EXACT
        if not self.signal:
            return -EXACT
        return min(EXACT, max(-EXACT, 10 * math.log10(self.signal / self.error)))


@dataclass(frozen=True)
class Layer:
    """What stays in single precision together: nodes of one name."""

    name: str
    op: str  # of the first of them
    value: str  # its first result, in the graph that was asked


def layers(stored: Graph) -> dict[str, Layer]:
    """The layers that a graph stores, by the names that a deployment may use; what moves numbers is none."""
    found: dict[str, Layer] = {}
    for node in stored.nodes:
        if is_quantised(node) and not moves(node) and not isinstance(node.op, Requantize):
            name = layer_name(node)
            found.setdefault(name, Layer(name, node.op.name, node.outputs[0].name))
    return found


def fewest(order: Sequence[str], enough: Callable[[Collection[str]], bool]) -> list[str]:
    """Few layers whose staying real is enough, of those in `order`: the most harmful are the first.

    So many of the first ones as are needed, found by halving; then without each of them that is not needed after all,
    the least harmful first. With all of them it is always enough.
    """
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if enough(order[:middle]):
            high = middle
        else:
            low = middle + 1
    chosen = list(order[:high])
    for name in reversed(order[: high - 1]):  # the last one is needed: without it, it was not enough
        without = [other for other in chosen if other != name]
        if enough(without):
            chosen = without
    return chosen
