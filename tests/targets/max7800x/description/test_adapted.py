"""What is asked for beside a description changes it as if it said so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import ConfigError
from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.description import Options
from buildtool.targets.max7800x.devices import MAX78002
from buildtool.targets.max7800x.network import Network
from tests.targets.max7800x.description.refused import Description


def network(folder: Path, *changes: str, **options: Any) -> Network:
    description = Description(options=options)
    for change in changes:
        description.change(change)
    return description.read(folder).network


def test_the_network_stops_after_a_layer(tmp_path: Path) -> None:
    layers = network(tmp_path, stop_after=1).layers
    assert [layer.index for layer in layers] == [0, 1]
    assert layers[1].is_output


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (("2 processors: 0xffff0000",), 0xFFFF0000),  # those that the next layer would read from
        (("1 next_sequence: 3", "3 processors: 0xffff0000"), 0xFFFF0000),  # the layer that would run next
        (("1 next_sequence: stop", "2 processors: 0xffff0000"), 0xFFFF),  # no layer would follow
        (("2 -processors", "3 -processors"), 0xFFFF),  # the next layer leaves the choice to the planner
        (("1 output_processors: 0xffff00", "2 processors: 0xffff0000"), 0xFFFF00),
        (("* output_map: 0xffff00", "2 processors: 0xffff0000"), 0xFFFF00),
    ],
)
def test_the_last_output_stays_where_the_next_layer_would_read(
    tmp_path: Path, changes: tuple[str, ...], expected: int
) -> None:
    assert network(tmp_path, *changes, stop_after=1).layers[1].output_processors == expected


def test_a_layer_that_is_not_there_cannot_be_the_last(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot stop after layer 9"):
        network(tmp_path, stop_after=9)


def test_layers_stream_or_do_not(tmp_path: Path) -> None:
    asked = network(tmp_path, streaming_layers=(0, 1), streams_freely=True)
    assert [layer.streaming for layer in asked.layers] == [True, True, False, False, False]
    said = network(tmp_path, "0 streaming: true", ignore_streaming=True)
    assert not any(layer.streaming for layer in said.layers)


def test_activations_are_left_out(tmp_path: Path) -> None:
    assert [layer.activation for layer in network(tmp_path).layers[:2]] == ["relu", "relu"]
    assert {layer.activation for layer in network(tmp_path, ignore_activation=True).layers} == {None}


def test_the_borders_have_other_places_and_widths(tmp_path: Path) -> None:
    layers = network(tmp_path, input_offset=0x100, output_width=8).layers
    assert (layers[0].in_offset, layers[1].in_offset, layers[-1].output_width) == (0x100, 0x2000, 8)


def test_biases_and_weights_are_passed_over(tmp_path: Path) -> None:
    changes = ("weights 0 1x1x1x1", "weights 1 8x3x3x3", "weights 2 16x8x3x3", "weights 3 4x16x3", "weights 4 10x64")
    assert network(tmp_path, *changes, skipped_weights=1).layers[0].out_channels == 8
    with pytest.raises(ConfigError):
        network(tmp_path, *changes)


def test_layers_are_passed_over_and_numbers_stay(tmp_path: Path) -> None:
    """References go on to mean the numbers that are written."""
    changes = ("2 in_sequences: 1", "weights 0 16x3x3x3", "weights 1 4x16x3", "weights 2 10x64", "sample 3x8x8")
    found = network(tmp_path, *changes, "1 processors: 0x7", skipped_layers=1, stop_after=2)
    assert [(layer.index, layer.sources) for layer in found.layers] == [(0, (-1,)), (1, (0,))]
    with pytest.raises(ConfigError, match="no layer is left of 5"):
        network(tmp_path, skipped_layers=5)


def test_all_biases_are_left_out(tmp_path: Path) -> None:
    bias = tmp_path / "bias.npy"
    with bias.open("wb") as stream:
        for count in (8, 16, 4, 10):
            np.save(stream, np.arange(count))
    network(tmp_path)
    for options, kept in ((Options(), 4), (Options(no_bias=(0, 4)), 2), (Options(no_bias=None), 0)):
        found = description.read(
            tmp_path / "network.yaml",
            device=MAX78002,
            weights=tmp_path / "weights.npy",
            bias=bias,
            sample=tmp_path / "sample.npy",
            options=options,
        )
        held = [layer for layer in found.network.layers if layer.kernel is not None and layer.kernel.bias is not None]
        assert len(held) == kept
