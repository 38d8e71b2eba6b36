"""Models of a built library on the simulator: tensors go in and come out as the models have them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from buildtool.errors import RunError, Where
from buildtool.ir.operator import Array
from buildtool.targets.max7800x.lowering.lower import Lowered
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.simulation import simulate
from buildtool.targets.max7800x.simulation.simulate import Trace

INPUT_NAME = "input"  # of what was described, not lowered


def trace_of_graph(lowered: Lowered, inputs: Mapping[str, Array]) -> Trace:
    """A run of a lowered model. RunError where its input is not given."""
    name = lowered.input.name
    if name not in inputs:
        raise RunError(f"there is no data for the input '{name}'", where=Where(model=lowered.network.name))
    return simulate.run(lowered.network, lowered.input.stored(inputs[name]))


def of_graph(lowered: Lowered, trace: Trace) -> dict[str, Array]:
    """What a lowered model gives, with the softmax or the sigmoid at its end."""
    at_index = {layer.index: at for at, layer in enumerate(trace.network.layers)}
    return {port.name: port.real(trace.outputs[at_index[port.layer]]) for port in lowered.outputs}


def trace_of_description(network: Network, sample: Array, inputs: Mapping[str, Array]) -> Trace:
    """A run on what is given, or on the sample. RunError where there is no such input."""
    unknown = [name for name in inputs if name != INPUT_NAME]
    if unknown:
        raise RunError(
            f"there is no input '{unknown[0]}'", where=Where(model=network.name), rule=f"it is called '{INPUT_NAME}'"
        )
    return simulate.run(network, inputs.get(INPUT_NAME, sample))


def of_description(trace: Trace) -> dict[str, Array]:
    """The numbers that the output layers leave."""
    layers = {at: trace.network.layers[at] for at in trace.results}
    return {layer.name or f"layer{layer.index}": trace.results[at].astype(np.int32) for at, layer in layers.items()}
