"""Where snooping decides which layer follows, simulators take what the description says."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from buildtool.builders.device_simulators import device_simulator
from buildtool.builders.objects import ObjectCache
from buildtool.targets.max7800x import TARGET
from buildtool.targets.max7800x.firmware.hardware import layers_of
from buildtool.targets.max7800x.network import STOP, Network
from buildtool.targets.max7800x.simulation import simulate
from buildtool.targets.max7800x.simulation.native_simulator import Simulator
from tests.targets.max7800x.networks import sample_for
from tests.targets.max7800x.odd_networks import kernel, layer, network


def three(following: int | None) -> Network:
    """Of equal shapes; snooping behind the first one."""
    hints = {} if following is None else {"simulated_sequence": following}
    layers = [
        layer(
            at,
            "conv2d",
            (at - 1,),
            4,
            (5, 5),
            kernel=kernel(4, 4, 3, 3),
            output_shift=-3,
            hints=hints if at == 0 else {},
        )
        for at in range(3)
    ]
    return network(4, (5, 5), *layers)


def library() -> Path:
    return device_simulator(TARGET.simulator, ObjectCache())


def test_the_simulators_stop_or_leave_layers_out() -> None:
    sample = sample_for(three(None))
    whole = simulate.run(three(None), sample)
    stopped = simulate.run(three(STOP), sample)
    assert (whole.order, stopped.order) == ((0, 1, 2), (0,))
    assert np.array_equal(stopped.result, whole.outputs[0])
    skipped = simulate.run(three(2), sample)
    assert skipped.order == (0, 2)
    second = three(None).layers[2]
    assert np.array_equal(skipped.result, simulate.output_of(three(None), second, [whole.outputs[0]]))
    for chosen, expected in ((STOP, stopped), (2, skipped)):
        assert np.array_equal(Simulator(three(chosen), library()).result(sample), expected.result)


def test_registers_follow_the_next_layer() -> None:
    assert len(layers_of(three(STOP))) == len(layers_of(three(None))) == 3
