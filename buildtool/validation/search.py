"""Finds the first divergence of a long network by halving: few tensors are held at once, and few are computed.

An error that reaches the outputs is in all values between: where the value in the middle is right, it came in behind.
Errors may also fade and come back. So the node that is found is asked itself, on the operands that it had; where it is
innocent, all layers have to be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from buildtool.ir.graph import Node, Value
from buildtool.running.metrics import Array, compare
from buildtool.running.recorded_values import Evaluation, Expected, operands
from buildtool.validation.layers import Network, aligned, own_results

#: A value diverges where it is off by this part of its largest magnitude. Rounding that adds up stays below.
DIVERGES = 1e-3

Fetch = Callable[[Sequence[str]], Mapping[str, Array]]  # values of the library, by name
Source = Callable[[Sequence[Value]], Mapping[str, Array]]  # tensors of the source framework, by source name


@dataclass
class Search:
    """One search, and what it took."""

    network: Network
    inputs: Mapping[str, Array]
    fetch: Fetch
    source: Source
    probes: list[str] = field(default_factory=list)  # names of the values that were looked at, in order
    most_held: int = 0  # tensors of the library at the same time

    def first(self) -> Node | None:
        """The node that brings the divergence of the last value in; None where the last value is right."""
        nodes = self.network.graph.nodes
        ends = set(self.network.graph.outputs)
        last = max((index for index, node in enumerate(nodes) if ends & set(node.outputs)), default=-1)
        if last < 0 or not self._diverges(last):
            return None
        low, high = 0, last  # the first that diverges is in low..high
        while low < high:
            middle = (low + high) // 2
            if self._diverges(middle):
                high = middle
            else:
                low = middle + 1
        return nodes[low]

    def guilty(self, node: Node) -> bool:
        """Whether the node itself computes something else than it should."""
        names = [value.name for value in (*operands(node), *node.outputs)]
        values = self._fetched(names)
        results = own_results(Evaluation(self.network.graph, self.inputs), node, self.inputs, values)
        if isinstance(results, str):
            return False
        return any(
            value.name not in values
            or values[value.name].shape != right.shape
            or compare(values[value.name], right).max_abs > self.network.allowed(node, right)
            for value, right in results.items()
        )

    def _diverges(self, index: int) -> bool:
        node = self.network.graph.nodes[index]
        self.probes += [value.name for value in node.outputs]
        values = self._fetched([value.name for value in node.outputs])
        source = self.source(node.outputs)
        should: Mapping[Value, Array] | None = None
        for value in node.outputs:
            result = values.get(value.name)
            theirs = next((source[name] for name in self.network.names.of_value(value) if name in source), None)
            right = aligned(theirs, result) if theirs is not None and result is not None else None
            if right is None:
                should = should or self._computed(index)
                right = should[value]
            if result is None or result.shape != right.shape or not compare(result, right).max_rel <= DIVERGES:
                return True
        return False

    def _computed(self, index: int) -> Mapping[Value, Array]:
        """What the node should give, where no framework tells: the network is evaluated up to there."""
        expected = Expected(self.network.graph, self.inputs)
        for node in self.network.graph.nodes[:index]:
            expected.of(node)
        return expected.of(self.network.graph.nodes[index])

    def _fetched(self, names: Sequence[str]) -> Mapping[str, Array]:
        values = self.fetch([name for name in names if name not in self.inputs])
        self.most_held = max(self.most_held, len(values))
        return values
