"""Programs against the known answers: every register, kernel, bias, input and expected word, in order."""

from __future__ import annotations

import functools

import pytest

from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.firmware.program import Program
from tests.targets.max7800x import known_answers
from tests.targets.max7800x.known_answers import KnownAnswer

pytestmark = known_answers.exist
each = pytest.mark.parametrize("name", known_answers.NAMES)


@functools.cache
def made(name: str) -> tuple[KnownAnswer, Program]:
    known = KnownAnswer(name)
    return known, program.make(known.network, known.sample)


@each
def test_registers(name: str) -> None:
    known, found = made(name)
    assert {function: list(writes) for function, writes in found.register_writes.items()} == {
        function: [(int(address, 16), value) for address, value in writes]
        for function, writes in known.expected["register_writes"].items()
    }


@each
def test_kernels(name: str) -> None:
    known, found = made(name)
    whole_words = [(address, data + bytes(-len(data) % 4)) for address, data in found.kernels]
    assert whole_words == [(int(address, 16), bytes.fromhex(data)) for address, data in known.expected["kernels"]]


@each
def test_biases(name: str) -> None:
    known, found = made(name)
    held = known.expected["bias"]
    expected = [(int(address, 16), bytes(held[f"BIAS_{at}"])) for address, at in known.expected["bias_addr"]]
    assert list(found.biases) == expected


@each
def test_input(name: str) -> None:
    known, found = made(name)
    assert {f"SAMPLE_INPUT_{block.name}": list(block.words) for block in found.inputs} == known.expected["input"]
    assert [(block.address, block.name, len(block.words)) for block in found.inputs if block.address is not None] == [
        (int(address, 16), int(at), int(count)) for address, at, count in known.expected["input_dst"]
    ]


@each
def test_expected_output(name: str) -> None:
    known, found = made(name)
    assert [(block.address, block.mask, list(block.words)) for block in found.expected] == [
        (int(address, 16), int(mask, 16), values) for address, mask, values in known.expected["expected_output"]
    ]


@each
def test_the_addresses_of_unloading_are_the_known_ones(name: str) -> None:
    known, found = made(name)
    addresses = [run.address for output in found.unload for run in output.runs]
    assert addresses == [int(address, 16) for address in known.expected["unload_reads"]]
