"""Models of a built library on the simulator: tensors go in and come out as the models have them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from buildtool.errors import RunError, Where
from buildtool.ir.operator import Array
from buildtool.targets.max7800x import simulate
from buildtool.targets.max7800x.lower import Lowered
from buildtool.targets.max7800x.network import Network

INPUT_NAME = "input"  # of what was described, not lowered


def of_graph(lowered: Lowered, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What a lowered model gives, with the softmax or the sigmoid at its end."""
    network, name = lowered.network, lowered.input.name
    if name not in inputs:
        raise RunError(f"there is no data for the input '{name}'", where=Where(model=network.name))
    trace = simulate.run(network, lowered.input.stored(inputs[name]))
    return {port.name: port.real(trace.outputs[_position(network, port.layer)]) for port in lowered.outputs}


def of_description(network: Network, sample: Array, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The numbers that the output layers leave; `sample` is taken where nothing is given."""
    unknown = [name for name in inputs if name != INPUT_NAME]
    if unknown:
        raise RunError(
            f"there is no input '{unknown[0]}'", where=Where(model=network.name), rule=f"it is called '{INPUT_NAME}'"
        )
    trace = simulate.run(network, inputs.get(INPUT_NAME, sample))
    layers = {at: network.layers[at] for at in trace.results}
    return {layer.name or f"layer{layer.index}": trace.results[at].astype(np.int32) for at, layer in layers.items()}


def _position(network: Network, index: int) -> int:
    return next(at for at, layer in enumerate(network.layers) if layer.index == index)
