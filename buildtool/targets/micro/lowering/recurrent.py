"""Layers that the file stores as integers: one layer in the place of the nodes that compute it in floats."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Graph, Node, StoredLayer, Value
from buildtool.targets.micro.fixed_point import multiplier_of
from buildtool.targets.micro.lowering import shorts
from buildtool.targets.micro.lowering.state import Lowering, shape_of
from buildtool.targets.micro.network import Lstm, SvdfFilters, SvdfTimes, Tensor

_GATE = 2.0**-12  # the scale of what goes into a gate
_KINDS = {"lstm", "svdf", *shorts.KINDS}


@dataclass(frozen=True)
class Whole:
    """`layers`: by the last node of those that a layer replaces. `skipped`: the others."""

    layers: Mapping[Node, StoredLayer]
    skipped: Set[Node]


def whole(graph: Graph) -> Whole:
    makers = {value: node for node in graph.nodes for value in node.outputs}
    places = {node: at for at, node in enumerate(graph.nodes)}
    users = graph.users()
    layers: dict[Node, StoredLayer] = {}
    skipped: set[Node] = set()
    for stored in graph.stored_layers:
        known = all(value in makers or value in graph.inputs for value in stored.inputs)
        if stored.kind not in _KINDS or not known or not all(value in makers for value in stored.outputs):
            continue
        ends = {makers[value] for value in stored.outputs}
        last = max(ends, key=places.__getitem__)
        layers[last] = stored
        skipped |= ends - {last}
        inside = set(ends)  # with the nodes of loops
        for node in sorted(_behind(stored, makers) - ends, key=places.__getitem__, reverse=True):
            read = [user for value in node.outputs for user in users.get(value, ())]
            if not any(value in graph.outputs for value in node.outputs) and all(
                user in inside or user in skipped for user in read
            ):
                skipped.add(node)
                inside.update(each for region in node.regions for each in region.walk())
    return Whole(layers, skipped)


def _behind(stored: StoredLayer, makers: Mapping[Value, Node]) -> set[Node]:
    """All nodes between the inputs and the outputs."""
    found: set[Node] = set()
    waiting = list(stored.outputs)
    while waiting:
        value = waiting.pop()
        node = makers.get(value)
        if node is not None and node not in found and value not in stored.inputs:
            found.add(node)
            waiting += [*node.inputs, *node.captured()]
    return found


def layer(state: Lowering, node: Node, stored: StoredLayer) -> None:
    if stored.kind == "lstm":
        _lstm(state, node, stored)
    elif stored.kind == "svdf":
        _svdf(state, node, stored)
    else:
        shorts.product(state, node, stored)


def _lstm(state: Lowering, node: Node, stored: StoredLayer) -> None:
    numbers, arrays = stored.numbers, stored.arrays
    (value,) = stored.outputs
    source = state.quantised_input(stored.inputs[0], numbers["input_scale"], int(numbers["input_zero"]))
    output = Tensor(value.name, shape_of(value), numbers["output_scale"], int(numbers["output_zero"]))

    def factors(scales: str, of: float) -> tuple[tuple[int, int], ...]:
        return tuple(multiplier_of(float(np.float32(scale) * np.float32(of)) / _GATE) for scale in arrays[scales])

    state.add(
        value,
        Lstm(
            name=node.name or value.name,
            inputs=(source,),
            output=output,
            time_major=bool(numbers["time_major"]),
            weights=arrays["weights"],
            recurrent=arrays["recurrent"],
            bias=arrays["bias"],
            given=factors("weight_scales", source.scale),
            kept=factors("recurrent_scales", output.scale),
            hidden=multiplier_of(float(np.float32(2.0**-30) / np.float32(numbers["hidden_scale"]))),
            cell_shift=int(numbers["cell_bits"]),
            clip=int(numbers["clip"]),
        ),
    )


def _svdf(state: Lowering, node: Node, stored: StoredLayer) -> None:
    """The state first, then what is made of it."""
    numbers, arrays = stored.numbers, stored.arrays
    made, kept = stored.outputs
    name = node.name or made.name
    source = state.quantised_input(stored.inputs[0], numbers["input_scale"], int(numbers["input_zero"]))
    past = state.quantised_input(stored.inputs[1], numbers["state_scale"], 0)
    scales = {key: np.float32(number) for key, number in numbers.items() if key.endswith("_scale")}
    filtered = float(scales["input_scale"] * scales["weight_scale"] / scales["state_scale"])
    weighed = float(scales["state_scale"] * scales["time_scale"] / scales["output_scale"])
    history = Tensor(kept.name, shape_of(kept), numbers["state_scale"], 0, "int16")
    filters = SvdfFilters(
        name=f"{name} (filters)",
        inputs=(source, past),
        output=history,
        weights=arrays["weights"],
        memory=arrays["times"].shape[1],
        factor=multiplier_of(filtered),
    )
    output = Tensor(made.name, shape_of(made), numbers["output_scale"], int(numbers["output_zero"]))
    times = SvdfTimes(
        name=name,
        inputs=(history,),
        output=output,
        times=arrays["times"],
        bias=arrays["bias"],
        rank=int(numbers["rank"]),
        factor=multiplier_of(weighed),
    )
    state.add(kept, filters)
    state.add(made, times)
