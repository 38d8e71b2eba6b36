"""The model of the accelerator: known answers from what was written alone, and complaints about what makes no sense."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.firmware.program import Program
from buildtool.targets.max7800x.network import INPUT, Network
from buildtool.targets.max7800x.planning import planner
from tests.targets.max7800x.known_answers import NAMES, KnownAnswer, exist
from tests.targets.max7800x.machine import FIFO, Outcome, Script, differences, script_of
from tests.targets.max7800x.networks import networks, sample_for
from tests.targets.max7800x.sketches import Sketch, halved


def known_script(known: KnownAnswer) -> Script:
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
    script = known_script(known)
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


def small_program() -> Program:
    """Three layers that read what the one before wrote: a convolution, a pool, and a convolution of all channels."""
    net = Sketch(3, (6, 5))
    x = net.conv(INPUT, out=5)
    net.conv(net.passed(x, pool=halved()), out=4)
    network = planner.place(net.network())
    return program.make(network, sample_for(network))


def outcome_of(made: Program, *edits: tuple[str, str]) -> Outcome:
    """Of its accesses, after the lines that begin with a word were replaced by others; "" leaves them out."""
    script = script_of(made)
    for begins, instead in edits:
        assert any(line.startswith(begins) for line in script.lines), begins
        script.lines = [instead if line.startswith(begins) else line for line in script.lines]
    script.lines = [line for line in script.lines if line]
    return script.run()


def test_a_program_that_is_right_has_no_complaints() -> None:
    assert outcome_of(small_program()).complaints == ()


def register(number: int, layer: int) -> str:
    """The line that writes a register of the first quadrant, without its value."""
    return f"w {0x50100010 + 0x80 * number + 4 * layer:x} "


ROWS, WRITE_BASE, WRITE_MASK, READ_BASE, MASKS, ENABLE = 0, 6, 8, 10, 12, 14
MISUSES = {
    "the input is missing": (("w 50400", ""), "processor 0 reads row 0, column 0, pass 0, which was never written"),
    "a layer reads elsewhere": (
        ("w 50100008", f"w 50100008 2\n{register(READ_BASE, 0)}1000"),
        "which was never written",
    ),
    "kernels beyond memory": ((register(MASKS, 0), register(MASKS, 0) + "17e01800"), "its kernels reach to column"),
    "kernels that nobody wrote": (("b 501", ""), "come without a byte that says to which column"),
    "another processor": ((register(ENABLE, 0), register(ENABLE, 0) + "70003"), "processors and kernels are enabled"),
    "a sleeping quadrant": ((register(WRITE_BASE, 0), register(WRITE_BASE, 0) + "12000"), "which does not run"),
    "outside the memory": ((register(WRITE_BASE, 0), register(WRITE_BASE, 0) + "1fff"), "which does not exist"),
    "a register that follows": ((register(WRITE_MASK, 0), register(WRITE_MASK, 0) + "4000"), "the layer needs 0x2000"),
    "a bit without meaning": ((register(ROWS, 0), register(ROWS, 0) + "10407"), "some of its bits mean nothing"),
    "nothing at that address": (("w 50001000", "w 50002000 0"), "0x50002000 is written, where nothing is"),
    "no clock": (("w 50100000 100008", "w 50100000 100000"), "while the clock of quadrant 0 is off"),
    "no memory control": (("w 50100004", ""), "runs without its memory control"),
    "fewer layers": (("w 50100008", "w 50100008 20"), "comes after"),
    "FIFO that is off": (("w 50001000", "w 50000008 1"), "the FIFO of quadrant 0, which is off"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_is_told(name: str) -> None:
    edit, told = MISUSES[name]
    complaints = outcome_of(small_program(), edit).complaints
    assert any(told in line for line in complaints), complaints


def test_a_layer_that_overwrites_what_it_still_reads_is_told() -> None:
    made = small_program()
    # The picture begins at word 0; the outputs of the first layer one word further, in the same memory.
    assert made.network.layers[0].in_offset == 0
    complaints = outcome_of(made, (register(WRITE_BASE, 0), register(WRITE_BASE, 0) + "8")).complaints
    assert any("after the layer itself wrote there" in line for line in complaints), complaints


def test_single_faults_in_registers_are_noticed() -> None:
    """Nine of ten bits: by other results, or by a complaint. Of some, both values do the same."""
    made = small_program()
    choose = random.Random(1)
    writes = list(made.register_writes["cnn_configure"])
    noticed = 0
    for _ in range(60):
        address, value = choose.choice(writes)
        script = script_of(made)
        line = f"w {address:x} {value:x}"
        script.lines[script.lines.index(line)] = f"w {address:x} {value ^ 1 << choose.randrange(32):x}"
        for block in made.expected:
            script.read(block.address, len(block.words))
        outcome = script.run()
        wanted = [(block.mask, word) for block in made.expected for word in block.words]
        same = all((got ^ word) & mask == 0 for got, (mask, word) in zip(outcome.words, wanted, strict=True))
        noticed += bool(outcome.complaints) or not same
    assert noticed >= 54


def test_registers_of_the_larger_chip_are_cleared_first() -> None:
    net = Sketch(3, (6, 5), MAX78002)
    net.conv(INPUT, out=4)
    script = script_of(program.make(planner.place(net.network()), net.sample()))
    assert script.run().complaints == ()
    test_of_memories = "w 5100000c "
    script.lines = [line for line in script.lines if not line.startswith(test_of_memories)]
    assert script.run().complaints == ("quadrant 0 runs with registers that were not cleared",)
