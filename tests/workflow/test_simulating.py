"""Accuracy on simulated chips, and the first layer that differs: by the commands that users have."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.max7800x.simulation import intermediates
from tests.cli.conftest import Lathe, lathe
from tests.targets.max7800x.test_digits import DIGITS
from tests.workflow.test_on_simulator import graph

__all__ = ["graph", "lathe"]  # fixtures

NETWORK = """
arch: tiny
dataset: none
layers:
  - processors: 0x7
    operation: conv2d
    activate: relu
    output_shift: -3
    out_offset: 0x2000
    avg_pool: 2
    pool_stride: 2
  - processors: 0xf
    operation: mlp
    flatten: true
    output_width: 32
"""


@pytest.fixture
def described(tmp_path: Path) -> tuple[object, ...]:
    """A network of two layers with the files that it takes, as words of a command line."""
    rng = np.random.default_rng(4)
    (tmp_path / "net.yaml").write_text(NETWORK)
    with (tmp_path / "weights.npy").open("wb") as stream:
        for shape in ((4, 3, 3, 3), (5, 36)):
            np.save(stream, rng.integers(-128, 128, shape))
    np.save(tmp_path / "sample.npy", rng.integers(-128, 128, (3, 6, 6)))
    words = ("--checkpoint-file", tmp_path / "weights.npy", "--sample-input", tmp_path / "sample.npy")
    return (tmp_path / "net.yaml", *words, "--abi", "max78000", "--output", tmp_path / "build")


def test_a_run_is_compared_with_dumped_layers(tmp_path: Path, lathe: Lathe, described: tuple[object, ...]) -> None:
    folder = tmp_path / "layers"
    assert lathe("run", *described, "--dump", folder).code == 0
    (written,) = (folder / "max78000").iterdir()
    assert len(list(written.iterdir())) == 4
    same = lathe("run", *described, "--compare", folder)
    assert same.code == 0
    assert "all 2 outputs as expected" in same.stderr
    differs = lathe("run", *described, "--compare", written, "--cnn", "avg_pool_rounding")
    assert differs.code == 9
    assert re.search(r"layer 0, channel \d, row \d, column \d", differs.stderr)
    assert "--avg-pool-rounding" in differs.stderr
    (one,) = written.glob("layer-001*")
    (shape, *rest), numbers = one.read_text().splitlines(), intermediates.read(written)[1].reshape(-1)
    one.write_text(
        "\n".join(
            [shape, *[line for line in rest if line.startswith("#")][:1], str(numbers[0] + 1)]
            + [str(number) for number in numbers[1:]]
        )
    )
    differs = lathe("run", *described, "--compare", folder)
    assert differs.code == 9
    assert f"layer 1, channel 0, row 0, column 0: {numbers[0] + 1} instead of {numbers[0]}" in differs.stderr
    words = tmp_path / "words.txt"  # five sums, one for each processor of the first data memories
    places = [0x50400000 + 4 * at for at in range(4)] + [0x50408000]
    made = [f"{place:08x} {int(number) & 0xFFFFFFFF:08x}" for place, number in zip(places, numbers, strict=True)]
    words.write_text("# address, word\n" + "\n".join(made) + "\n")
    same = lathe("run", *described, "--compare", words)
    assert same.code == 0, same.stderr
    words.write_text("\n".join([*made[:2], f"{places[2]:08x} 00000001", *made[3:]]) + "\n")
    differs = lathe("run", *described, "--compare", words)
    assert differs.code == 9
    assert f"channel 2, row 0, column 0 (word at {places[2]:#010x}): 1 instead of {numbers[2]}" in differs.stderr
    words.write_text("where what\n")
    assert "not a memory dump" in lathe("run", *described, "--compare", words).stderr
    nothing = lathe("run", *described, "--compare", tmp_path / "build")
    assert nothing.code not in (0, 9)


def test_right_answers_of_a_description(tmp_path: Path, lathe: Lathe, described: tuple[object, ...]) -> None:
    samples = np.random.default_rng(6).integers(-128, 128, (12, 3, 6, 6))
    answers = []
    for sample in samples:
        np.save(tmp_path / "one.npy", sample)
        found = lathe("run", *described, "--input", f"input={tmp_path / 'one.npy'}", "--output-dir", tmp_path / "out")
        assert found.code == 0, found.stderr
        (output,) = (tmp_path / "out").rglob("*.npy")
        answers.append(int(np.load(output).argmax()))
    labels = np.array(answers)
    labels[:3] = (labels[:3] + 1) % 5
    np.savez(tmp_path / "data.npz", samples=samples, labels=labels)
    told = lathe("validate", *described, "--labelled", tmp_path / "data.npz", "--json")
    assert told.code == 0, told.stderr
    (result,) = told.document["results"]
    assert result["metrics"] == {"top1": 0.75}
    assert result["wrong"] == [0, 1, 2]
    assert np.array(result["confusion"]).sum() == 12
    (all_of_them,) = lathe("validate", *described, "--labelled", tmp_path / "data.npz", "--top", 5, "--json").document[
        "results"
    ]
    assert all_of_them["metrics"] == {"top5": 1.0}


@pytest.mark.slow
def test_labelled_samples_that_cannot_be_used_are_errors(
    tmp_path: Path, lathe: Lathe, described: tuple[object, ...]
) -> None:
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 not a zip")
    np.savez(tmp_path / "other.npz", pictures=np.zeros(3))
    np.savez(tmp_path / "floats.npz", samples=np.zeros((2, 3, 6, 6)), labels=np.zeros(2, int))
    np.savez(tmp_path / "label.npz", samples=np.zeros((1, 3, 6, 6), int), labels=np.array([5]))
    np.save(tmp_path / "array.npz", np.zeros(3))
    for name in ("nowhere", "broken", "other", "floats", "array.npz"):
        file = tmp_path / f"{name.removesuffix('.npz')}.npz"
        result = lathe("validate", *described, "--labelled", file)
        assert result.code != 0
        assert file.name in result.stderr
    assert "0 to 4" in lathe("validate", *described, "--labelled", tmp_path / "label.npz").stderr
    both = lathe("validate", *described, "--labelled", tmp_path / "label.npz", "--accuracy")
    assert both.code == 2
    assert "--accuracy and --labelled" in both.stderr
    of_library = lathe("validate", DIGITS / "deploy.yml", "--abi", "host", "--labelled", tmp_path / "label.npz")
    assert "max78000, max78002" in of_library.stderr
    of_library = lathe("run", DIGITS / "deploy.yml", "--abi", "host", "--compare", tmp_path, "--output", tmp_path)
    assert of_library.code != 0


def test_layers_are_benchmarked_by_their_arithmetic(tmp_path: Path, lathe: Lathe, graph: Path) -> None:
    where = ("--output", tmp_path / "build")
    told = lathe("bench", graph, *where)
    assert told.code == 0, told.stderr
    assert "== digits on the max78000, estimated ==" in told.stdout
    assert "energy unknown: no power was given" in told.stdout
    (plain,) = lathe("bench", graph, *where, "--json").document["estimates"]
    (powered,) = lathe("bench", graph, *where, "--json", "--power", "0.02,0.001").document["estimates"]
    layers = powered["estimate"]["layers"]
    assert [layer["cycles"] for layer in layers] == [layer["cycles"] for layer in plain["estimate"]["layers"]]
    assert layers[0]["joules"] == pytest.approx((0.02 + 0.001 * layers[0]["processors"]) * layers[0]["cycles"] / 50e6)
    assert powered["estimate"]["joules"] == pytest.approx(sum(layer["joules"] for layer in layers))
    refused = lathe("bench", graph, *where, "--filter", ".", "--trace", tmp_path / "trace")
    assert refused.code == 4
    assert "--filter and --trace" in refused.stderr
    assert lathe("bench", graph, *where, "--power", "much").code == 2
    assert lathe("bench", graph, "--abi", "host", *where, "--power", "1").code != 0


def test_digits_are_read_by_the_simulated_chip(graph: Path, tmp_path: Path, lathe: Lathe) -> None:
    """The whole test set, twice: as labelled samples, and by the script of the example."""
    with np.load(DIGITS / "test.npz") as data:
        pictures, labels = data["pictures"].astype(np.float32)[:, None] / 16, data["labels"]
    np.savez(tmp_path / "test-set.npz", samples=pictures, labels=labels)
    where = ("--output", tmp_path / "build", "--json")
    (labelled,) = lathe("validate", graph, "--labelled", tmp_path / "test-set.npz", *where).document["results"]
    assert labelled["samples"] == 360
    assert labelled["metrics"]["top1"] >= 0.98
    for name in ("accuracy.py", "test.npz"):
        shutil.copy(DIGITS / name, tmp_path)
    graph.write_text(graph.read_text() + "    accuracy_validation_script: accuracy.py\n")
    told = lathe("validate", graph, "--accuracy", *where)
    assert told.code == 0, told.stderr
    (scripted,) = told.document["results"]
    assert (scripted["abi"], scripted["device"]) == ("max78000", "simulator")
    assert scripted["metrics"]["top1"] == labelled["metrics"]["top1"]
    refused = lathe("validate", graph, "--accuracy", "--workers", 2, *where)
    assert "--workers" in refused.stdout
