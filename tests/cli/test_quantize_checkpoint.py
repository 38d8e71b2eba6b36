"""`lathe quantize --scheme max7800x`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.targets.max7800x.checkpoints import torch_archive, torch_writer
from tests.cli.conftest import Lathe

NETWORK = """
arch: net
dataset: none
layers:
  - processors: 0x1
    in_channels: 1
    op: none
  - processors: 0x1
    op: conv2d
    quantization: 4
  - processors: 0xf
    op: mlp
    flatten: true
"""


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    state: dict[str, Any] = {
        "conv1.op.weight": rng.uniform(-0.4, 0.4, (4, 1, 3, 3)).astype(np.float32),
        "conv1.bn.running_mean": np.zeros(4, np.float32),
        "conv1.bn.running_var": np.full(4, 0.25, np.float32),
        "fc.op.weight": rng.uniform(-0.9, 0.9, (2, 16)).astype(np.float32),
    }
    file = tmp_path / "net.pth.tar"
    file.write_bytes(torch_writer.packed({"arch": "net", "state_dict": state}))
    return file


def test_a_checkpoint_is_fused_and_quantised(lathe: Lathe, checkpoint: Path, tmp_path: Path) -> None:
    network = tmp_path / "net.yaml"
    network.write_text(NETWORK)
    words = ("quantize", checkpoint, "--scheme", "max7800x", "--network", network, "--fuse-batch-norm", "--json")
    result = lathe(*words)
    assert result.code == 0, result.stderr
    document = result.document
    assert document["output"] == str(tmp_path / "net-q.pth.tar")
    assert document["fused"] == ["conv1"]
    assert [(layer["name"], layer["bits"]) for layer in document["layers"]] == [("conv1", 4), ("fc", 8)]
    state = torch_archive.read(tmp_path / "net-q.pth.tar")["state_dict"]
    given = torch_archive.read(checkpoint)["state_dict"]
    # a quarter of them, over a standard deviation of one half: less than 0.2
    wanted = np.clip(np.floor(given["conv1.op.weight"] * 0.5 * 2.0**2 * 2**3 + 0.5), -8, 7)
    assert state["conv1.output_shift"] == [-2]
    assert np.array_equal(state["conv1.op.weight"], wanted)


def test_the_rules_of_2020_and_the_place_of_the_result(lathe: Lathe, checkpoint: Path, tmp_path: Path) -> None:
    fused = lathe("quantize", checkpoint, "--scheme", "max7800x", "--clip-method", "none", "--fuse-batch-norm")
    assert fused.code == 0, fused.stderr
    assert "fused the batch normalisation of conv1" in fused.stdout
    words = (
        "--scheme",
        "max7800x",
        "--clip-method",
        "scale",
        "--scale",
        "1.0",
        "-o",
        tmp_path / "there" / "old.pth.tar",
    )
    result = lathe("quantize", tmp_path / "net-fused.pth.tar", *words)
    assert result.code == 0, result.stderr
    tree = torch_archive.read(tmp_path / "there" / "old.pth.tar")
    given = torch_archive.read(checkpoint)["state_dict"]
    assert np.array_equal(tree["state_dict"]["fc.op.weight"], np.round(given["fc.op.weight"] * np.float32(128)))
    assert tree["extras"] == {"clipping_method": "SCALE", "clipping_scale": 1.0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--scheme", "k210"), "there is no scheme 'k210'"),
        (("--scheme", "max7800x"), "--fuse-batch-norm"),
        (("--scheme", "max7800x", "--clip-method", "BEST"), "no clipping method 'BEST'"),
        (("--scheme", "max7800x", "--clip-method", "none"), "nothing to do: no clipping and no fusing is selected"),
        (("--scheme", "max7800x", "--scale", "0"), "the scale is 0"),
        (("--scheme", "max7800x", "--network", "nowhere.yaml"), "nowhere.yaml"),
    ],
)
def test_wrong_options_and_checkpoints_are_errors(
    lathe: Lathe, checkpoint: Path, words: tuple[str, ...], message: str
) -> None:
    result = lathe("quantize", checkpoint, *words)
    assert result.code != 0
    assert message in result.stderr
    assert not list(checkpoint.parent.glob("*-q*"))


def test_a_checkpoint_is_not_replaced(lathe: Lathe, checkpoint: Path) -> None:
    before = checkpoint.read_bytes()
    result = lathe("quantize", checkpoint, "--scheme", "max7800x", "--fuse-batch-norm", "-o", checkpoint)
    assert result.code == 2
    assert "would replace" in result.stderr
    assert checkpoint.read_bytes() == before
    assert lathe("quantize", "--scheme", "max7800x").code == 2
    assert lathe("quantize", checkpoint.with_name("none.pth.tar"), "--scheme", "max7800x").code == 3
