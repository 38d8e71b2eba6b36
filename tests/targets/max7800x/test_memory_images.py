"""Memory images: what a simulation would load is what the program writes and expects."""

from __future__ import annotations

import re

from buildtool.targets.max7800x.devices import MAX78000, MAX78002
from buildtool.targets.max7800x.firmware import memory_images
from tests.targets.max7800x import test_sources as programs

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
