"""The headers of examples/vision, which applications may take over, compiled with sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = [
    "-std=c++17",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("vision") / "vision"
    source = ROOT / "tests" / "examples" / "vision.cc"
    subprocess.run(["c++", *OPTIONS, f"-I{ROOT / 'examples' / 'vision'}", source, "-o", file], check=True)
    return file


@pytest.mark.slow
def test_all_functions(program: Path) -> None:
    done = subprocess.run([program, "checks"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("size", [(40, 30), (7, 50), (96, 64), (200, 190), (1, 1)])
def test_images_are_resized_as_pillow_does(program: Path, tmp_path: Path, size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (64, 96, 3), np.uint8)
    image = Image.fromarray(pixels)
    image.save(tmp_path / "in.ppm")
    subprocess.run([program, "resize", "in.ppm", *map(str, size), "out.ppm"], cwd=tmp_path, check=True)
    ours = np.asarray(Image.open(tmp_path / "out.ppm"), np.int16)
    pillow = np.asarray(image.resize(size, Image.Resampling.BILINEAR), np.int16)
    assert np.abs(ours - pillow).max() <= 1


@pytest.mark.parametrize(
    "content", [b"", b"P6", b"P6 2 2 255\n123", b"P5 1 1 255\n1", b"P6 -1 1 255\n", b"P6 1 1 9999\n123"]
)
def test_other_files_are_refused(program: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "in.ppm").write_bytes(content)
    done = subprocess.run([program, "resize", "in.ppm", "1", "1", "out.ppm"], cwd=tmp_path, check=False)
    assert done.returncode == 2
