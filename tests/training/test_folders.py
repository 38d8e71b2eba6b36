"""Samples from folders of pictures and sounds."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from buildtool.cli import main
from buildtool.errors import LatheError
from buildtool.training import data, folders

RNG = np.random.default_rng(1)


def picture(file: Path, pixels: np.ndarray) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.astype(np.uint8)).save(file)


def sound(file: Path, steps: np.ndarray, rate: int = 16000) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(file), "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(steps.astype("<i2").tobytes())


def test_pictures_of_the_right_size_stay_as_they_are(tmp_path: Path) -> None:
    pixels = RNG.integers(0, 256, (4, 6, 8, 3))
    for number, one in enumerate(pixels):
        picture(tmp_path / ("dog" if number % 2 else "cat") / f"{number}.png", one)
    found = folders.read(tmp_path, (6, 8))
    assert found.classes == ("cat", "dog")
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert np.array_equal(found.samples, (pixels[[0, 2, 1, 3]] - 128).transpose(0, 3, 1, 2))


def test_other_pictures_cover_the_size_and_lose_their_edges(tmp_path: Path) -> None:
    wide = np.zeros((10, 40), np.uint8)
    wide[:, 10:30] = 255
    for name in ("a/1.png", "b/1.bmp"):
        picture(tmp_path / name, wide)
    found = folders.read(tmp_path, (5, 10), grey=True)
    assert found.samples.shape == (2, 1, 5, 10)
    assert found.samples[:, :, :, 1:-1].min() == 127  # the middle half of the width


def test_sounds_follow_each_other_along_the_channels(tmp_path: Path) -> None:
    steps = RNG.integers(-128, 128, 12)
    sound(tmp_path / "no" / "1.wav", steps * 256)
    sound(tmp_path / "yes" / "1.wav", steps[:5] * 256)
    found = folders.read(tmp_path, (4, 3), rate=16000)
    assert found.samples.shape == (2, 4, 3)
    assert np.array_equal(found.samples[0].T.reshape(-1), steps)
    assert np.array_equal(found.samples[1].T.reshape(-1), [*steps[:5], *[0] * 7])
    with pytest.raises(LatheError, match="16000 samples per second"):
        folders.read(tmp_path, (4, 3), rate=8000)


def test_the_command_writes_what_training_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(12):
        picture(tmp_path / "in" / ("b" if number % 3 else "a") / f"{number}.png", RNG.integers(0, 256, (8, 8)))
    file = tmp_path / "mine.npz"
    assert (
        main.run(["train", "samples", str(tmp_path / "in"), "--size", "8x8", "--grey", "-o", str(file), "--json"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["classes"] == [{"name": "a", "samples": 4}, {"name": "b", "samples": 8}]
    found = data.read(str(file))
    assert (found.shape, found.classes, len(found.samples) + len(found.test_samples)) == ((1, 8, 8), 2, 12)
