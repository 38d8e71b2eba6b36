"""`lathe check`, `inspect` and `build` of descriptions for the MAX78000 and MAX78002."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Lathe
from tests.targets.max7800x.description.refused import Description


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A description, with its files beside it."""
    Description().read(tmp_path)
    return tmp_path / "network.yaml"


def beside(network: Path) -> list[object]:
    return ["--checkpoint-file", network.with_name("weights.npy"), "--sample-input", network.with_name("sample.npy")]


def test_check_shows_the_layers(lathe: Lathe, network: Path) -> None:
    result = lathe("check", network, *beside(network))
    assert result.code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[1].startswith("test for max78000: 5 layers, 35,968 multiply-accumulates")
    assert [line.split()[0] for line in lines[4:]] == ["0", "1", "2", "3", "4"]
    assert "max 2x2 every 2x2, conv2d 3x3 pad 1, relu" in lines[5] and "16x4x4" in lines[5]
    (shown,) = lathe("check", network, *beside(network), "--abi", "max78002", "--json").document["descriptions"]
    assert shown["device"] == "max78002" and shown["layers"][4]["out"] == "10x1x1"


def test_check_without_weights_shows_what_the_file_says(lathe: Lathe, network: Path) -> None:
    result = lathe("check", network)
    assert result.code == 0
    assert "the weights are missing" in result.stderr
    assert "conv1d 3x1 pad 1" in result.stdout


def test_check_tells_all_mistakes_with_their_lines(lathe: Lathe, network: Path) -> None:
    network.write_text(network.read_text().replace("pad: 1", "pad: 5").replace("max_pool: 2", "max_pool: 20"))
    result = lathe("check", network)
    assert result.code == 2
    assert f"{network}:7:10: error: layer 0 ('first'): `pad` cannot be 5" in result.stderr
    assert f"{network}:12:15: error: layer 1: `max_pool` cannot be 20" in result.stderr


def test_inspect_finds_the_chip(lathe: Lathe, network: Path) -> None:
    assert lathe("inspect", network, "--json").document["device"] == "max78000"
    network.write_text(network.read_text().replace("pad: 1", "calcx4: true"))
    document = lathe("inspect", "description", network, "--json").document
    assert (document["kind"], document["device"], len(document["layers"])) == ("description", "max78002", 5)


def test_build_takes_the_options_of_ai8xize(lathe: Lathe, network: Path) -> None:
    output = network.with_name("out")
    result = lathe("build", network, *beside(network), "--cnn", "softmax", "--dry-run", "-o", output)
    assert result.code == 0, result.stderr
    assert "arm-none-eabi-gcc" in result.stdout and "network_emulated.elf" in result.stdout
    refused = lathe("build", network, "--cnn", "softmaxx")
    assert refused.code == 2 and "did you mean 'softmax'?" in refused.stderr
