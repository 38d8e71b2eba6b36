"""The simulator against known answers, and against a slow one that shares nothing with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from buildtool.errors import GraphError, RunError, UnsupportedError
from buildtool.targets.max7800x.network import BUFFER, Kernel, Layer, Network, Pool
from buildtool.targets.max7800x.simulation.simulate import run
from tests.targets.max7800x import known_answers, slow_simulator
from tests.targets.max7800x.known_answers import KnownAnswer, words
from tests.targets.max7800x.networks import networks, sample_for
from tests.targets.max7800x.odd_networks import ODD_NETWORKS, kernel, layer, network


@known_answers.exist
@pytest.mark.parametrize("name", known_answers.NAMES)
def test_the_final_memory_is_the_known_answer(name: str) -> None:
    known = KnownAnswer(name)
    assert words(known.network.layers[-1], run(known.network, known.sample).result) == known.expected_words()


def compare_with_slow_one(given_network: Network) -> None:
    sample = sample_for(given_network)
    trace, slow = run(given_network, sample), slow_simulator.run(given_network, sample)
    assert {given_network.layers[at].index for at in trace.order} == set(slow)
    for step, output in zip(given_network.layers, trace.outputs, strict=True):
        if step.index in slow:
            assert np.array_equal(output, slow[step.index]), step


@pytest.mark.parametrize("name", ODD_NETWORKS)
def test_odd_networks(name: str) -> None:
    compare_with_slow_one(ODD_NETWORKS[name])


def _work(given_network: Network) -> int:
    """Products that a network takes."""
    return sum(
        step.kernel.weights.size * step.out_size[0] * step.out_size[1]
        for step in given_network.layers
        if step.kernel is not None
    )


@settings(max_examples=15, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(networks(layers=3).filter(lambda drawn: _work(drawn) < 100_000))
def test_random_networks(drawn: Network) -> None:
    compare_with_slow_one(drawn)


def test_the_results_are_those_of_the_last_layer_and_of_outputs() -> None:
    given_network = ODD_NETWORKS["a layer that is passed over"]
    trace = run(given_network, sample_for(given_network))
    assert trace.order == (0, 2)
    assert list(trace.results) == [0, 2]
    assert trace.results[2] is trace.result
    assert trace.outputs[1].size == 0


ONE = layer(0, "conv2d", (-1,), 2, (4, 4), kernel=kernel(3, 2, 3, 3))
WRONG: dict[str, tuple[type[Exception], Layer, str]] = {
    "activation": (UnsupportedError, replace(ONE, output_width=32, activation="relu"), "outputs of 32 bits"),
    "shift": (UnsupportedError, replace(ONE, output_shift=16), "shifted by 16"),
    "operands": (UnsupportedError, replace(ONE, operands=2), "2 operands for 'nothing'"),
    "buffer": (UnsupportedError, replace(ONE, hints={"buffer_shift": 1}), "there is no data buffer"),
    "data buffer": (UnsupportedError, replace(ONE, sources=(BUFFER,)), "there is no data buffer"),
    "no stride": (UnsupportedError, replace(ONE, pool=Pool("max", (1, 1), (0, 1))), "0 or 0 among its sizes"),
    "gap": (UnsupportedError, replace(ONE, in_channel_skip=-1), "1 or -1 among its sizes"),
    "numbers": (UnsupportedError, replace(ONE, kernel=Kernel(np.zeros((3, 2, 3, 3)))), "weights of float64"),  # type: ignore[arg-type]
    "size of all": (UnsupportedError, replace(ONE, in_size=(1 << 20, 1 << 20)), "images of 1048576 x 1048576"),
    "padding": (GraphError, replace(ONE, kernel=kernel(3, 2, 3, 3, pad=(1 << 20, 1 << 20))), "once it is padded"),
    "channels": (GraphError, replace(ONE, in_channels=3), "2 channels are the input, and 1 x 3 were expected"),
    "size": (GraphError, replace(ONE, in_size=(4, 5)), "images of 4 x 4 are the input, and 4 x 5 were expected"),
    "output": (GraphError, replace(ONE, out_channels=4), "its output is 3 x 4 x 4, and 4 x 4 x 4 were expected"),
    "weights": (GraphError, replace(ONE, kernel=kernel(3, 1, 3, 3)), "weights of 3 x 1 do not fit 2 channels"),
    "source": (GraphError, replace(ONE, sources=(7,)), "it reads layer 7, which does not run before it"),
    "follower": (GraphError, replace(ONE, next_layer=5), "there is no layer 5"),
    "circle": (GraphError, replace(ONE, next_layer=0), "has a cycle"),
}


@pytest.mark.parametrize("name", WRONG)
def test_networks_that_cannot_be_computed_are_refused(name: str) -> None:
    kind, wrong, message = WRONG[name]
    with pytest.raises(kind, match=message) as caught:
        run(network(2, (4, 4), wrong), np.zeros((2, 4, 4)))
    assert "layer 0" in str(caught.value)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (np.zeros((2, 4, 5), np.int64), "the sample is 2 x 4 x 5, and the network takes 2 x 4 x 4"),
        (np.full((2, 4, 4), 128), "values from 128 to 128"),
        (np.full((2, 4, 4), 0.5), "non-integer"),
    ],
)
def test_samples_that_no_network_takes(sample: Any, message: str) -> None:
    with pytest.raises(RunError, match=message):
        run(network(2, (4, 4), ONE), sample)
