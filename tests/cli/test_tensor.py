"""`lathe tensor`, and pictures as inputs of `lathe run`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import RunError
from buildtool.ir.types import DType
from buildtool.running.inputs import TensorSpec, read_array
from tests.cli.conftest import Lathe

Image = pytest.importorskip("PIL.Image")

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    Image.fromarray(PIXELS).save(tmp_path / "picture.png")
    return tmp_path / "picture.png"


def test_there_and_back(lathe: Lathe, picture: Path, tmp_path: Path) -> None:
    words = ("--mean", "127.5", "--scale", "0.0078125,0.0078125,0.0078125", "--layout", "NCHW")
    made = lathe("tensor", picture, picture, *words, "-o", tmp_path / "x.npy", "--json").document
    assert made["tensors"][0]["shape"] == [2, 3, 6, 8]
    array = np.load(tmp_path / "x.npy")
    assert np.allclose(array[0].transpose(1, 2, 0), (PIXELS - 127.5) / 128)
    np.save(tmp_path / "one.npy", array[:1])
    assert lathe("tensor", tmp_path / "one.npy", *words, "-o", tmp_path / "back.bmp").code == 0
    assert (np.asarray(Image.open(tmp_path / "back.bmp")) == PIXELS).all()


def test_without_an_output_the_command_prints_type_and_shape(lathe: Lathe, picture: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[1.0, 5.0]], np.float32))
    assert "float32  1x2" in lathe("tensor", tmp_path / "a.npy").stdout
    assert "float32  1x3x4x3" in lathe("tensor", picture, "--resize", "3x4").stdout
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npy", "picture.png"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("picture.png", "--resize", "3y4"), 2, "--resize cannot be '3y4'"),
        (("picture.png", "--resize", "1x2x3"), 2, "HEIGHTxWIDTH"),
        (("picture.png", "--mean", "a"), 2, "--mean cannot be 'a'"),
        (("picture.png", "--scale", "nan"), 2, "not a finite number"),
        (("picture.png", "--dtype", "string"), 2, "--dtype cannot be"),
        (("picture.png", "a.npy"), 2, "cannot be combined"),
        (("picture.png", "-o", "x.png"), 2, "cannot be written to 'x.png'"),
        (("a.npy", "-o", "x.txt"), 2, "cannot be written to 'x.txt'"),
        (("a.npy", "-o", "x.png"), 8, "is not an image"),
        (("none.npy",), 8, "does not exist"),
        (("text.npy",), 8, "not a .npy file"),
    ],
)
def test_mistakes(
    lathe: Lathe, picture: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, message: str
) -> None:
    monkeypatch.chdir(picture.parent)
    np.save("a.npy", np.zeros(5))
    Path("text.npy").write_text("hello")
    result = lathe("tensor", *words)
    assert result.code == code
    assert message in result.stderr
    assert not Path("x.png").exists() and not Path("x.txt").exists()


def test_without_pillow_it_says_how_to_get_it(
    lathe: Lathe, picture: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    result = lathe("tensor", picture)
    assert result.code == 6
    assert "lathe-build[images]" in result.stderr


def test_a_picture_is_an_input(picture: Path) -> None:
    spread = read_array(picture, TensorSpec("x", (1, 3, 6, 8), DType.F32, "NCHW", (-2.0, 2.0)))
    assert np.allclose(spread[0].transpose(1, 2, 0), PIXELS / 255.0 * 4 - 2, atol=1e-6)
    assert (read_array(picture, TensorSpec("x", (1, 6, 8, 3), DType.U8, "NHWC")) == PIXELS).all()
    assert read_array(picture, TensorSpec("x", (1, 4, 4, 1), DType.F32, "NHWC")).shape == (1, 4, 4, 1)
    for shape, layout in (((2, 6, 8, 3), "NHWC"), ((1, 6, 8, 4), "NHWC"), ((6, 8, 3), "NONE")):
        with pytest.raises(RunError, match="an image does not fit 'x'"):
            read_array(picture, TensorSpec("x", shape, DType.F32, layout))
