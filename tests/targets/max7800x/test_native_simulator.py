"""The native simulator gives what the one in NumPy gives, for any network."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from buildtool.targets.max7800x.native_simulator import Simulator
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.simulate import Trace, run
from tests.targets.max7800x import known_answers, native
from tests.targets.max7800x.known_answers import KnownAnswer, words
from tests.targets.max7800x.networks import networks, sample_for
from tests.targets.max7800x.test_simulate import BY_HAND


def assert_alike(left: Trace, right: Trace) -> None:
    assert left.order == right.order
    for at, (one, other) in enumerate(zip(left.outputs, right.outputs, strict=True)):
        assert np.array_equal(one, other), f"layer {at}: {left.network.layers[at]}"


def compare(network: Network) -> None:
    simulator = Simulator(network, native.library())
    for seed in (0, 1):
        sample = sample_for(network, seed)
        assert_alike(run(network, sample), simulator.run(sample))


@settings(max_examples=30, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(networks())
def test_random_networks(network: Network) -> None:
    compare(network)


@pytest.mark.sweep
@settings(max_examples=300, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(networks(layers=10))
def test_many_random_networks(network: Network) -> None:
    compare(network)


@known_answers.exist
@pytest.mark.parametrize("name", BY_HAND)
def test_known_answers(name: str) -> None:
    known, network = KnownAnswer(name), BY_HAND[name]()
    assert words(network.layers[-1], Simulator(network, native.library()).run(known.sample).result) == (
        known.expected_words()
    )
