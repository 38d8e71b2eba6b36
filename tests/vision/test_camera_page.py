"""The commands of docs/how-to/camera.md, on a frame that shows a digit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import buildtool

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "camera.md"
EXAMPLES = ROOT / "examples"
SIDE, WIDTH, HEIGHT = 480, 640, 480


def frame_of(
    picture: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Dark ink on bright paper, which fills the frame: NV21 without colour."""
    rows, columns = (np.arange(size) * 8 // size for size in (HEIGHT, WIDTH))
    luma = 255 - np.rint(picture.reshape(8, 8)[rows][:, columns] * 255)
    return np.concatenate([luma.ravel(), np.full(WIDTH * HEIGHT // 2, 128)]).astype(np.uint8)


@pytest.mark.slow
def test_the_commands_of_the_page_classify_a_frame(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "camera", tmp_path / "camera")
    (tmp_path / "digits").mkdir()
    shutil.copy(EXAMPLES / "digits" / "digits.onnx", tmp_path / "digits")
    pictures = np.load(EXAMPLES / "digits" / "pictures.npy")[:5].astype(np.float32)
    here = tmp_path / "camera"
    frame_of(pictures[0]).tofile(here / "frame.nv21")
    (block,) = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", "-euc", block]
    done = subprocess.run(
        words, cwd=here, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    session = buildtool.load(here / "build" / "camera" / "lib" / "host" / "libcamera.so")
    for number, picture in enumerate(pictures):
        (wanted,) = session.run({"image": picture.reshape(1, 8, 8, 1)})["probabilities"]
        (made,) = session.run_image(frame_of(picture), "nv21", size=(WIDTH, HEIGHT))["probabilities"]
        np.testing.assert_allclose(made, wanted, atol=0.03)
        if number == 0:
            lines = done.stdout.splitlines()[-4:]
            assert int(lines[0].split()[0]) == wanted.argmax()
            assert re.fullmatch(r"image \d+ us, network \d+ us", lines[-1])


def test_the_page_shows_the_keys_of_the_example() -> None:
    shown, _ = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert shown in (EXAMPLES / "camera" / "deploy.yml").read_text(encoding="utf-8")
