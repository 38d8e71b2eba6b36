"""Where a run went wrong is found, and said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import RunError
from buildtool.targets.max7800x.network import Network, Pool
from buildtool.targets.max7800x.simulation import compare, intermediates
from buildtool.targets.max7800x.simulation.simulate import Trace, run
from tests.targets.max7800x import known_answers
from tests.targets.max7800x.known_answers import KnownAnswer, words
from tests.targets.max7800x.networks import sample_for
from tests.targets.max7800x.odd_networks import kernel, layer, network

PLACE = {"output_processors": 0xFF0, "out_offset": 0x800}


def two_layers() -> Network:
    """Both with their outputs in the memories of processors 4 to 11."""
    return network(
        3,
        (6, 7),
        layer(0, "conv2d", (-1,), 3, (6, 7), kernel=kernel(8, 3, 3, 3), output_shift=-4, activation="relu", **PLACE),
        layer(
            1, "conv2d", (0,), 8, (6, 7), kernel=kernel(8, 8, 3, 3), output_shift=-4,
            pool=Pool("average", (2, 2), (2, 2)), write_gap=1, **PLACE,
        ),
    )  # fmt: skip


def traced() -> Trace:
    return run(two_layers(), sample_for(two_layers()))


def test_equal_outputs_are_reported_as_expected() -> None:
    trace = traced()
    found = compare.with_outputs(trace, {0: trace.outputs[0], 1: trace.outputs[1]})
    assert found.same
    assert str(found) == "all 2 outputs as expected"


def test_the_first_wrong_layer_channel_and_pixel_are_named() -> None:
    trace = traced()
    outputs = [output.copy() for output in trace.outputs]
    outputs[0][3, 4, 5] ^= 0x15
    outputs[0][6, 0, 1] ^= 0x15
    outputs[1][0, 0, 0] += 1
    found = compare.with_outputs(trace, dict(enumerate(outputs)))
    first = found.first
    assert first is not None
    assert (first.layer.index, first.channel, first.row, first.column) == (0, 3, 4, 5)
    assert (first.expected, first.found) == (trace.outputs[0][3, 4, 5], outputs[0][3, 4, 5])
    assert (first.wrong, first.compared, first.channels) == (2, 8 * 6 * 7, (3, 6))
    assert "layer 0, channel 3, row 4, column 5" in str(found)
    assert "layers 1" in str(found)
    assert not found.same


def test_outputs_of_another_shape_or_of_no_layer() -> None:
    trace = traced()
    found = compare.with_outputs(trace, {1: np.zeros((8, 3, 4), np.int64)})
    assert found.missing == ("layer 1 is 8 x 3 x 4 instead of 8 x 3 x 3",)
    assert compare.with_outputs(trace, {9: np.zeros((1, 1, 1), np.int64)}).missing


GUESSES = {
    "all zeros": (0, lambda values: values * 0, "all zeros"),
    "other positions": (0, lambda values: values[:, ::-1], "at other positions"),
    "channels": (0, lambda values: values[::-1], "channels are exchanged"),
    "shift": (0, lambda values: values >> 1, "2 times too small"),
    "other shift": (1, lambda values: np.clip(values << 2, -128, 127), "4 times too large"),
    "one memory": (0, lambda values: np.where(np.arange(8)[:, None, None] < 4, values ^ 1, values), "data memory 1"),
}


@pytest.mark.parametrize("name", GUESSES)
def test_guesses(name: str) -> None:
    at, change, guess = GUESSES[name]
    trace = traced()
    first = compare.with_outputs(trace, {at: change(trace.outputs[at])}).first
    assert first is not None
    assert guess in first.guess


def test_options_that_differ_are_guessed() -> None:
    averaging = network(3, (6, 6), layer(0, "none", (-1,), 3, (6, 6), pool=Pool("average", (2, 2), (1, 1))))
    rounding = run(replace(averaging, average_rounds=True), sample_for(averaging))
    first = compare.with_outputs(run(averaging, sample_for(averaging)), {0: rounding.result}).first
    assert first is not None
    assert "--avg-pool-rounding" in first.guess
    given = two_layers()
    without = replace(given.layers[0], activation=None)
    found = run(replace(given, layers=(without, *given.layers[1:])), sample_for(given)).outputs[0]
    first = compare.with_outputs(traced(), {0: found}).first
    assert first is not None
    assert first.guess == "the activation is missing"


def test_words_of_memory() -> None:
    trace = traced()
    memory = {address: word for address, (_, word) in expected_words(trace).items()}
    assert compare.with_words(trace, memory).same
    wrong = max(memory)
    memory[wrong] ^= 0x0000FF00
    first = compare.with_words(trace, memory).first
    assert first is not None
    # the last pixel; the second processor of the memory of processors 8 to 11
    assert (first.layer.index, first.channel, first.row, first.column, first.address) == (1, 5, 2, 2, wrong)
    assert first.wrong == 1
    del memory[wrong]
    part = compare.with_words(trace, memory)
    assert part.same
    assert not compare.with_words(trace, {}).same


def expected_words(trace: Trace) -> dict[int, tuple[int, int]]:
    """Of the last layer. The network is one of the MAX78002, whose memories lie elsewhere."""
    moved = {}
    for address, (mask, word) in words(trace.network.layers[-1], trace.result).items():
        instance, inside = divmod(address - 0x50400000, 0x8000)
        moved[0x51800000 + instance * 0x20000 + inside] = (mask, word)
    return moved


@known_answers.exist
@pytest.mark.parametrize("name", known_answers.NAMES)
def test_known_answers(name: str) -> None:
    known = KnownAnswer(name)
    trace = run(known.network, known.sample)
    expected = known.expected_words()
    memory = {address: word for address, (_, word) in expected.items()}
    assert compare.with_words(trace, memory).same
    address = sorted(memory)[len(memory) // 2]
    memory[address] ^= expected[address][0] & -expected[address][0]
    first = compare.with_words(trace, memory).first
    assert first is not None
    assert first.address == address
    assert abs(first.expected - first.found) == 1
    assert first.wrong == 1


def test_outputs_are_written_and_read(tmp_path: Path) -> None:
    trace = traced()
    files = intermediates.texts(trace)
    assert list(files) == ["input.txt", "layer-000-layer-0.txt", "pooled-001.txt", "layer-001-layer-1.txt"]
    pooled = [[int(word) for word in line.split()] for line in files["pooled-001.txt"].decode().splitlines()[3:6]]
    windows = trace.outputs[0][0, :, :6].reshape(3, 2, 3, 2).sum((1, 3)) / 4
    assert pooled == np.trunc(windows).astype(int).tolist()
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
    assert compare.with_outputs(trace, intermediates.read(tmp_path)).same
    lines = files["layer-001-layer-1.txt"].decode().splitlines()
    assert lines[:2] == ["8 3 3", "# layer 1 'layer 1': average pool, conv2d; 8 bits"]
    assert lines[2] == "# channel 0"
    assert [int(word) for word in lines[3].split()] == trace.outputs[1][0, 0].tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "damaged"),
        ("1 1 2\n3 x\n", "damaged"),
        ("1 1 2\n3\n", "1 numbers found"),
        ("1 2\n3 4\n", "the first line declares 1 x 2"),
        ("-1 -1 1\n3\n", "the first line"),
        ("1 1 99999999999999999999\n3\n", "the first line"),
        ("1 1 1\n99999999999999999999\n", "more than 32 bits"),
    ],
)
def test_damaged_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "layer-000.txt").write_text(text)
    with pytest.raises(RunError, match=message):
        intermediates.read(tmp_path)


def test_folders_without_outputs(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="contains no layer outputs"):
        intermediates.read(tmp_path)
    with pytest.raises(RunError, match="cannot read"):
        intermediates.read(tmp_path / "nowhere")
