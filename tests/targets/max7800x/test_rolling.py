"""The data buffer of descriptions: shifted, added to and read, as the chip finds it in its memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ConfigError, LatheError, UnsupportedError
from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.description import Described
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.simulation import simulate
from buildtool.targets.max7800x.simulation.native_simulator import Simulator
from tests.targets.max7800x import machine, native

# Five steps of 8 channels; each run puts the last one in, and looks at all of them.
NETWORK = """
arch: recent
dataset: steps
data_buffer:
  - {processors: 0xff00, dim: 5, channels: 8, offset: 0x100, name: steps}
layers:
  - {processors: 0x7, output_processors: 0xff, in_offset: 0, out_offset: 0x1000, operation: conv2d, name: look}
  - processors: 0xff00
    output_processors: 0xff00
    in_sequences: steps
    in_offset: 0x104
    in_channels: 8
    in_dim: 4
    out_offset: 0x100
    operation: passthrough
    buffer_shift: 1
  - processors: 0xff
    output_processors: 0xff00
    in_sequences: look
    in_offset: 0x1000
    out_offset: 0x110
    operation: conv2d
    pad: 0
    output_shift: -2
    buffer_insert: 1
  - processors: 0xff00
    output_processors: 0x3f
    in_sequences: steps
    in_offset: 0x100
    in_channels: 8
    in_dim: 5
    out_offset: 0x2000
    operation: conv1d
    kernel_size: 3
    pad: 0
    output_width: 32
"""
OVER = "processors: 0x700, output_processors: 0xff, in_offset: 0x100,"
SHAPES = ((8, 3, 3, 3), (8, 8, 3, 3), (6, 8, 3))


def described(folder: Path, device: Device, text: str = NETWORK) -> Described:
    rng = np.random.default_rng(9)
    (folder / "net.yaml").write_text(text)
    with (folder / "weights.npy").open("wb") as weights:
        for shape in SHAPES:
            np.save(weights, rng.integers(-128, 128, shape))
    np.save(folder / "sample.npy", rng.integers(-128, 128, (3, 3, 3)))
    weights_file, sample_file = folder / "weights.npy", folder / "sample.npy"
    return description.read(folder / "net.yaml", device=device, weights=weights_file, sample=sample_file)


@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
def test_the_machine_finds_in_the_buffer_what_the_simulator_says(tmp_path: Path, device: Device) -> None:
    found = described(tmp_path, device)
    assert found.sample is not None
    wrong, outcome = machine.differences(program.make(found.network, found.sample))
    assert not wrong
    assert not outcome.complaints
    trace = simulate.run(found.network, found.sample)
    newest = trace.outputs[2].reshape(8)
    assert newest.any()
    kernel = found.network.layers[3].kernel
    assert kernel is not None
    last = kernel.weights[:, :, 2, 0].astype(np.int64) @ newest  # what came before is zero
    assert np.array_equal(trace.result[:, 2, 0], last)
    assert not trace.result[:, :2].any()


def test_runs_go_on_with_what_is_in_the_buffer(tmp_path: Path) -> None:
    """On the model of the chip, started three times: the last steps are those of the last pictures."""
    found = described(tmp_path, MAX78000)
    assert found.sample is not None
    pictures = [found.sample, -found.sample - 1, np.roll(found.sample, 1, axis=2)]
    first = program.make(found.network, pictures[0])
    script = machine.script_of(first)
    for picture in pictures[1:]:
        for block in program.make(found.network, picture).inputs:
            assert block.address is not None
            script.write_words(block.address, block.words)
        script.write_all(first.register_writes["cnn_start"])
        script.wait()
    for expected in first.expected:
        script.read(expected.address, len(expected.words))
    outcome = script.run()
    assert not outcome.complaints
    steps = np.array([simulate.run(found.network, picture).outputs[2].reshape(8) for picture in pictures])
    kernel = found.network.layers[3].kernel
    assert kernel is not None
    wanted = np.einsum("oct,tc->o", kernel.weights[..., 0].astype(np.int64), steps)  # the last position sees all three
    numbers = set(np.array(outcome.words, np.uint32).view(np.int32).tolist())
    assert set(wanted.tolist()) <= numbers


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("out_offset: 0x110", "out_offset: 0x10c", "puts 1 pixels from 0x010c on"),
        ("in_offset: 0x104", "in_offset: 0x108", "are read from 0x0108 on"),
        ("buffer_shift: 1", "buffer_shift: 2", "moves pixels by 4 bytes"),
        ("out_offset: 0x1000, operation", "out_offset: 0x1000, output_width: 8, operation", ""),
        ("in_offset: 0x1000", "in_offset: 0x1004", "it finds"),
        ("processors: 0x7, output_processors: 0xff, in_offset: 0,", OVER, "overlaps the data buffer"),
        ("out_offset: 0x2000", "out_offset: 0x0f8", ""),
    ],
)  # fmt: skip
def test_offsets_that_do_not_fit_are_refused(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert old in NETWORK
    found = described(tmp_path, MAX78000, NETWORK.replace(old, new, 1))
    assert found.sample is not None
    if what:
        with pytest.raises(LatheError, match=what):
            program.make(found.network, found.sample)
    else:
        program.make(found.network, found.sample)


def test_a_layer_over_the_buffer_is_told(tmp_path: Path) -> None:
    text = NETWORK.replace("output_processors: 0x3f", "output_processors: 0x3f00").replace("0x2000", "0x0f8")
    found = described(tmp_path, MAX78000, text)
    assert found.sample is not None
    with pytest.raises(UnsupportedError, match="over"):
        program.make(found.network, found.sample)


def test_places_are_written_and_data_sets_are_not_simulated_fast(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="places are left out in a network with a data buffer"):
        described(tmp_path, MAX78000, NETWORK.replace("{processors: 0x7, ", "{"))
    with pytest.raises(UnsupportedError, match="no data buffer"):
        Simulator(described(tmp_path, MAX78000).network, native.library())
