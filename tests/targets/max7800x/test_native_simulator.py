"""The native simulator gives what the one in NumPy gives, for any network."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from buildtool import resources
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.simulation.native_simulator import Simulator
from buildtool.targets.max7800x.simulation.simulate import Trace, run
from tests.native_builds import ROOT, command
from tests.targets.max7800x import known_answers, native
from tests.targets.max7800x.known_answers import KnownAnswer, words
from tests.targets.max7800x.networks import networks, sample_for
from tests.targets.max7800x.odd_networks import ODD_NETWORKS


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
@pytest.mark.parametrize("name", known_answers.NAMES)
def test_known_answers(name: str) -> None:
    known = KnownAnswer(name)
    result = Simulator(known.network, native.library()).result(known.sample)
    assert words(known.network.layers[-1], result) == known.expected_words()


@pytest.mark.parametrize("name", ODD_NETWORKS)
def test_networks_that_random_drawing_seldom_makes(name: str) -> None:
    compare(ODD_NETWORKS[name])


def test_threads_share_a_network() -> None:
    network = ODD_NETWORKS["sources behind each other in each channel"]
    simulator = Simulator(network, native.library())
    samples = [sample_for(network, seed) for seed in range(64)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(simulator.result, samples))
    assert all(
        np.array_equal(result, run(network, given).result) for result, given in zip(results, samples, strict=True)
    )


SANITIZED = """
import sys
from pathlib import Path
from hypothesis import HealthCheck, Phase, given, settings
from buildtool.errors import LatheError
from buildtool.targets.max7800x.simulation.native_simulator import Simulator
from tests.targets.max7800x.mutations import mutated
from tests.targets.max7800x.networks import networks, sample_for
from tests.targets.max7800x.odd_networks import ODD_NETWORKS

library = Path(sys.argv[1])
checks = list(HealthCheck)

def ran(network):
    Simulator(network, library).run(sample_for(network))

def ran_with_mistakes(network, count):
    done = 0
    for seed in range(count):
        try:
            ran(mutated(network, seed))
            done += 1
        except LatheError:
            pass
    return done

@settings(max_examples=40, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=checks)
@given(networks())
def random(network):
    ran(network)
    ran_with_mistakes(network, 20)

for odd in ODD_NETWORKS.values():
    ran(odd)
assert sum(ran_with_mistakes(odd, 40) for odd in ODD_NETWORKS.values()) > 40
random()
print("done")
"""


@pytest.mark.slow
def test_it_stays_inside_its_memory(tmp_path: Path) -> None:
    """With the sanitizers of address and of undefined behaviour, in a process that loads them first."""
    library = tmp_path / "simulator.so"
    source = resources.native_dir() / "max7800x" / "simulator.c"
    flags = ["-std=c99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fPIC", "-shared"]
    command(["gcc", *flags, "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic", source, "-o", library])
    preloaded = [command(["gcc", f"-print-file-name={name}"]).strip() for name in ("libasan.so", "libubsan.so")]
    told = command(
        [sys.executable, "-c", SANITIZED, library],
        LD_PRELOAD=" ".join(preloaded),
        ASAN_OPTIONS="detect_leaks=0",
        PYTHONPATH=str(ROOT),
    )
    assert told.endswith("done\n")
