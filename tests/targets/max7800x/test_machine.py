"""The model of the accelerator: known answers from what was written alone, and complaints about what makes no sense."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x import planner, program
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.network import Network
from tests.targets.max7800x.known_answers import NAMES, KnownAnswer, exist
from tests.targets.max7800x.machine import FIFO, Script, differences
from tests.targets.max7800x.networks import networks, sample_for


def script_of(known: KnownAnswer) -> Script:
    """The accesses of the known answer's program, up to the interrupt."""
    told = known.expected
    registers = {
        function: [(int(address, 16), value) for address, value in writes]
        for function, writes in told["register_writes"].items()
    }
    made = Script()
    made.write_all(registers["cnn_init"])
    for address, content in told["kernels"]:
        made.express(int(address, 16), bytes.fromhex(content))
    for address, quadrant in told["bias_addr"]:
        made.write_words(int(address, 16), told["bias"][f"BIAS_{quadrant}"])
    made.write_all(registers["cnn_configure"])
    for address, channel, _ in told["input_dst"]:
        made.write_words(int(address, 16), told["input"][f"SAMPLE_INPUT_{channel}"])
    made.write_all(registers["cnn_start"])
    if not told["input_dst"]:  # through the FIFO, once the network runs
        for name, words in told["input"].items():
            made.write_all((FIFO + 4 * int(name.removeprefix("SAMPLE_INPUT_")), word) for word in words)
    made.wait()
    return made


@exist
@pytest.mark.parametrize("name", NAMES)
def test_the_machine_computes_the_known_answers(name: str) -> None:
    known = KnownAnswer(name)
    script = script_of(known)
    wanted = known.expected_words()
    for address in wanted:
        script.read(address)
    outcome = script.run()
    assert outcome.interrupts == 1
    assert outcome.complaints == ()
    assert [word & mask for word, (mask, _) in zip(outcome.words, wanted.values(), strict=True)] == [
        word & mask for mask, word in wanted.values()
    ]


def compare_random_networks(device: Device, count: int, start: int) -> None:
    """Networks that the planner places compute on the machine what the simulator says; most of them have places."""
    tried = []

    @seed(start)
    @settings(
        max_examples=count, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(networks(device))
    def compare(network: Network) -> None:
        try:
            made = program.make(planner.place(network), sample_for(network, start))
        except UnsupportedError:
            tried.append(False)
            return
        tried.append(True)
        wrong, outcome = differences(made)
        assert outcome.complaints == ()
        assert outcome.interrupts == 1
        assert wrong == []

    compare()
    assert tried.count(True) >= count * 2 // 3


@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
def test_random_networks_compute_what_the_simulator_says(device: Device) -> None:
    compare_random_networks(device, 20, 1)


@pytest.mark.sweep
@pytest.mark.parametrize("start", range(2))
@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
def test_many_random_networks_compute_what_the_simulator_says(device: Device, start: int) -> None:
    compare_random_networks(device, 150, 100 + start)
