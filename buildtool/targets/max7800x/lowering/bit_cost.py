"""What fewer bits of weights cost a layer: by what the simulator gives for samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.max7800x.network import INPUT, Layer, Network
from buildtool.targets.max7800x.simulation import simulate
from buildtool.targets.max7800x.simulation.simulate import Trace


class Measured:
    """A network with all bits, and what its layers were given for some samples."""

    def __init__(self, network: Network, samples: Sequence[NDArray[np.int64]]) -> None:
        """`samples`: as the network takes them. Its layers need no places."""
        self._network = network
        self._traces: list[Trace] = [simulate.run(network, sample) for sample in samples]

    def lost(self, number: int, layer: Layer, scales: tuple[float, float]) -> float:
        """The mean square of what a layer with other weights gives amiss, as a part of that of its outputs.

        `layer` replaces layer `number` and gets the same inputs; `scales`: what a step of the outputs is, of
        that layer and of this one.
        """
        wrong = whole = 0.0
        for trace in self._traces:
            given = [trace.sample if source == INPUT else trace.outputs[source] for source in layer.sources]
            exact = trace.outputs[number] * scales[0]
            found = simulate.output_of(self._network, layer, given) * scales[1]
            wrong += float(np.square(found - exact).sum())
            whole += float(np.square(exact).sum())
        return wrong / whole if whole else 0.0
