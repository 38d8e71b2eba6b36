"""Memory images: what a simulation would load is what the program writes and expects."""

from __future__ import annotations

import re

import pytest

from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.firmware import addresses, memory_images
from buildtool.targets.max7800x.firmware.registers_control import CLOCKS, FIFO
from tests.targets.max7800x import test_sources as programs
from tests.targets.max7800x.machine import Script

WORD = re.compile(r"@([0-9a-f]{4}) ([0-9a-fx]+)\n")


def loaded(text: bytes) -> dict[int, str]:
    """As `$readmemh` reads it: every line is a place and a value."""
    found = {int(place, 16): value for place, value in WORD.findall(text.decode())}
    assert "".join(f"@{place:04x} {value}\n" for place, value in found.items()) == text.decode()
    return found


def test_registers_are_those_of_the_program_in_order() -> None:
    program = programs.made(programs.classifier(MAX78002), clear_memories=True, clear_tram=True)
    lines = memory_images.emit(program)["registers.txt"].decode().splitlines()
    starts = [lines.index(f"# {name}") for name in ("cnn_init", "cnn_configure", "cnn_start")]
    sections = zip(starts, [*starts[1:], len(lines)], program.register_writes.values(), strict=True)
    for begin, end, writes in sections:
        told = [line.split()[:3] for line in lines[begin + 1 : end]]
        assert [(int(at, 16), int(value, 16)) for letter, at, value in told if letter == "w"] == list(writes)
    assert {line[0] for line in lines[1 : starts[1]]} == set("wpcz")


def test_kernels_and_biases_are_those_that_are_loaded() -> None:
    program = programs.made(programs.classifier())
    files = memory_images.emit(program)
    memory = program.placed.kernels
    for name in (name for name in files if name.startswith("kernels/")):
        processor = int(name.removeprefix("kernels/processor_").removesuffix(".mem"))
        for column, value in loaded(files[name]).items():
            assert bytes.fromhex(value) == memory.bytes[processor, column].tobytes()
    columns = sum(len(data) // 9 for _, data in program.kernels)
    assert sum(len(loaded(files[name])) for name in files if name.startswith("kernels/")) == columns
    held = b"".join(bytes.fromhex(value) for value in loaded(files["biases/quadrant_0.mem"]).values())
    assert held == program.biases[0][1]


def test_words_that_do_not_count_are_unknown() -> None:
    program = programs.made(programs.picture())
    found = [loaded(text) for name, text in memory_images.emit(program).items() if name.startswith("expected/")]
    assert sum(len(words) for words in found) == sum(len(block.words) for block in program.expected)
    values = {value for words in found for value in words.values()}
    assert any("x" in value for value in values) and all(len(value) == 8 for value in values)


def test_input_is_in_memory_or_in_fifos() -> None:
    files = memory_images.emit(programs.made(programs.classifier()))
    assert len(loaded(files["input/memory_00.mem"])) == 64
    fifo = memory_images.emit(programs.made(programs.classifier(MAX78000, fifo=True)))["input/fifo_0.mem"]
    assert fifo.decode().split() == list(loaded(files["input/memory_00.mem"]).values())


def accesses(text: str, script: Script) -> None:
    """The lines of a function of `registers.txt`. What is waited for or looked at is what the model always says."""
    for line in text.splitlines():
        letter, address, value = line.split()[:3]
        if letter == "w":
            script.write(int(address, 16), int(value, 16))
        elif letter == "z":
            script.write_words(int(address, 16), [0] * int(value, 16))


def data_word(device: Device, name: str, place: int) -> int:
    places = addresses.of(device)
    return places.data_memory(4 * int(name.removesuffix(".mem")[-2:])) + 4 * place


@pytest.mark.parametrize("options", [{}, {"clear_unused": True, "compact_weights": False}], ids=["plain", "other"])
@pytest.mark.parametrize("fifo", [False, True], ids=["memory", "fifo"])
@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
def test_files_alone_lead_to_the_expected_words(device: Device, fifo: bool, options: dict[str, bool]) -> None:
    """A simulation that loads nothing but these files, here the model of the chip at the level of registers."""
    program = programs.made(programs.classifier(device, fifo=fifo), **options)
    files = memory_images.emit(program)
    titles = ("# cnn_init\n", "# cnn_configure\n", "# cnn_start\n")
    _, init, configure, start = re.split("|".join(titles), files["registers.txt"].decode())
    script = Script(device.name)
    accesses(init, script)
    places = addresses.of(device)
    for name in (name for name in files if name.startswith("kernels/")):
        processor = int(name.removesuffix(".mem")[-2:])
        script.write(places.control_register(processor // 16), CLOCKS | fifo * FIFO)  # columns come word by word
        for column, value in loaded(files[name]).items():
            at = places.kernel_memory(processor) + 16 * column
            words = [value[:2], value[2:10], value[10:], "0"]
            script.write_words(at, [int(word, 16) for word in words])
    for name in (name for name in files if name.startswith("biases/")):
        quadrant = int(name.removesuffix(".mem")[-1])
        for offset, value in loaded(files[name]).items():
            script.write(places.bias(quadrant) + 4 * offset, int(value, 16))
    assert ("\nz " in f"\n{configure}") == bool(options)
    accesses(configure, script)
    for name in (name for name in files if name.startswith("input/memory")):
        for place, value in loaded(files[name]).items():
            script.write(data_word(device, name, place), int(value, 16))
    accesses(start, script)
    if fifo:
        for word in files["input/fifo_0.mem"].decode().split():
            script.write(addresses.FIFO_DATA, int(word, 16))
    script.wait()
    wanted = []
    for name in (name for name in files if name.startswith("expected/")):
        for place, value in loaded(files[name]).items():
            script.read(data_word(device, name, place))
            wanted.append(value)
    outcome = script.run()
    assert not outcome.complaints and outcome.interrupts == 1
    found = [f"{word:08x}" for word in outcome.words]
    assert [
        "".join("x" if digit == "x" else other for digit, other in zip(value, word, strict=True))
        for value, word in zip(wanted, found, strict=True)
    ] == wanted
