"""Pictures and sounds become the tensors that a recipe says, and damaged files one clear message."""

from __future__ import annotations

import io
import struct
import tracemalloc
import wave
import zlib
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ConfigError, LatheError, RunError
from buildtool.tensors import pictures
from buildtool.tensors.files import figures, saved, tensor
from buildtool.tensors.pictures import encoded
from buildtool.tensors.recipe import Array, Recipe

Image = pytest.importorskip("PIL.Image")

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)


def drawn(folder: Path, name: str = "picture.png", pixels: Array = PIXELS) -> Path:
    Image.fromarray(pixels).save(folder / name)
    return folder / name


def sung(folder: Path, samples: Array, width: int = 2) -> Path:
    """A file of whole numbers (samples, channels) of this many bytes."""
    name = "sound.wav"
    with wave.open(str(folder / name), "wb") as writer:
        writer.setnchannels(samples.shape[1])
        writer.setsampwidth(width)
        writer.setframerate(8000)
        writer.writeframes(b"".join(int(item).to_bytes(width, "little", signed=width > 1) for item in samples.flat))
    return folder / name


@pytest.mark.parametrize("name", ["picture.png", "picture.BMP"])
def test_a_picture_is_its_pixels(tmp_path: Path, name: str) -> None:
    assert (tensor([drawn(tmp_path, name)], Recipe(dtype="uint8")) == PIXELS[np.newaxis]).all()
    jpeg = tensor([drawn(tmp_path, "picture.jpg", np.full((8, 8, 3), 90, np.uint8))], Recipe())
    assert np.abs(jpeg - 90).max() <= 2


def test_mean_and_scale_are_those_of_the_channels_that_were_asked_for(tmp_path: Path) -> None:
    file = drawn(tmp_path)
    recipe = Recipe(channels="BGR", mean=(1.0, 2.0, 3.0), scale=(0.5, 0.25, 2.0), layout="NCHW")
    expected = (PIXELS[:, :, ::-1].astype(np.float64) - [1, 2, 3]) * [0.5, 0.25, 2.0]
    made = tensor([file, file], recipe)
    assert made.shape == (2, 3, 6, 8) and made.dtype == np.float32 and made.flags.c_contiguous
    assert np.allclose(made[1].transpose(1, 2, 0), expected)
    grey = tensor([file], Recipe(channels="grey"))
    assert grey.shape == (1, 6, 8, 1)
    assert np.abs(grey[0, :, :, 0] - PIXELS @ [0.299, 0.587, 0.114]).max() <= 1.0


def test_sizes_are_height_and_width(tmp_path: Path) -> None:
    file = drawn(tmp_path)
    assert tensor([file], Recipe(resize=(3, 16))).shape == (1, 3, 16, 3)
    halved = tensor([file], Recipe(resize=(3, 4), method="area"))
    blocks = PIXELS.reshape(3, 2, 4, 2, 3).mean((1, 3))
    assert np.abs(halved[0] - blocks).max() <= 1.0
    assert (tensor([file], Recipe(crop=(2, 4)))[0] == PIXELS[2:4, 2:6]).all()
    nearest = tensor([file], Recipe(resize=(12, 16), method="nearest"))
    assert (nearest[0] == PIXELS.repeat(2, 0).repeat(2, 1)).all()


def test_whole_numbers_are_held_inside_of_their_type(tmp_path: Path) -> None:
    file = drawn(tmp_path, pixels=np.array([[[0, 128, 255]]], np.uint8))
    assert tensor([file], Recipe(mean=(128.0,), dtype="int8")).ravel().tolist() == [-128, 0, 127]
    assert tensor([file], Recipe(mean=(100.0,), scale=(2.0,), dtype="int8")).ravel().tolist() == [-128, 56, 127]


def test_sixteen_bits_of_grey_are_not_cut_off(tmp_path: Path) -> None:
    file = drawn(tmp_path, pixels=np.array([[0, 257 * 100, 65535]], np.uint16))
    assert tensor([file], Recipe(channels="grey")).ravel().tolist() == [0, 100, 255]


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("channels", ["RGB", "BGR", "grey"])
def test_a_picture_comes_back(tmp_path: Path, layout: str, channels: str) -> None:
    pixels = PIXELS[:, :, 0] if channels == "grey" else PIXELS
    recipe = Recipe(mean=(127.5,), scale=(1 / 127.5,), layout=layout, channels=channels)
    made = tensor([drawn(tmp_path, pixels=pixels)], recipe)
    for array in (made, made[0]):
        back = Image.open(io.BytesIO(encoded(array, recipe, Path("x.npy"), ".png")))
        assert (np.asarray(back) == pixels).all()


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_samples_of_every_width(tmp_path: Path, width: int) -> None:
    largest = 2 ** (8 * width - 1)
    whole = np.array([[-largest], [0], [largest // 2], [largest - 1]])
    file = sung(tmp_path, whole + (128 if width == 1 else 0), width)
    made = tensor([file], Recipe(dtype="float64"))
    assert made.shape == (1, 4)
    assert made[0].tolist() == [value / largest for value in whole[:, 0]]


def test_channels_and_length_of_sounds(tmp_path: Path) -> None:
    samples = np.arange(10).reshape(5, 2)
    file = sung(tmp_path, samples)
    counts = Recipe(scale=(32768.0,), dtype="int16")
    assert (tensor([file], counts)[0] == samples).all()
    planes = Recipe(scale=(32768.0,), dtype="int16", layout="NCHW", length=7)
    assert tensor([file], planes)[0].tolist() == [[0, 2, 4, 6, 8, 0, 0], [1, 3, 5, 7, 9, 0, 0]]
    header = bytearray(file.read_bytes())
    header[32:36] = (10).to_bytes(2, "little") + (40).to_bytes(2, "little")  # bytes of a frame, bits of a sample
    (tmp_path / "wide.wav").write_bytes(header)
    with pytest.raises(RunError, match="40 bits"):
        tensor([tmp_path / "wide.wav"], counts)
    with pytest.raises(RunError, match=r"has 8000 samples per second\n.*16000"):
        tensor([file], Recipe(rate=16000))


def test_damaged_files_are_one_message(tmp_path: Path) -> None:
    sources = [drawn(tmp_path, "a.png"), drawn(tmp_path, "a.jpg"), drawn(tmp_path, "a.bmp")]
    sources.append(sung(tmp_path, np.arange(64).reshape(32, 2)))
    np.save(tmp_path / "a.npy", PIXELS)
    sources.append(tmp_path / "a.npy")
    generator = np.random.default_rng(1)
    refused = 0
    for source in sources:
        whole = source.read_bytes()
        for _ in range(60):
            data = bytearray(whole[: generator.integers(0, len(whole) + 1)])
            for at in generator.integers(0, max(1, len(data)), 4 if data else 0):
                data[at] = generator.integers(0, 256)
            file = tmp_path / f"damaged{source.suffix}"
            file.write_bytes(data)
            try:
                saved(file) if source.suffix == ".npy" else tensor([file], Recipe())
            except LatheError as error:
                refused += 1
                assert str(file) in str(error)
    assert refused > 150


def test_recipes_that_do_not_fit_a_file_are_refused(tmp_path: Path) -> None:
    file, other = drawn(tmp_path), drawn(tmp_path, "other.png", PIXELS[:3])
    for recipe, message in (
        (Recipe(crop=(7, 8)), "exceeds the image size 6x8"),
        (Recipe(mean=(1.0, 2.0)), "2 numbers, and this file 3 channels"),
    ):
        with pytest.raises(RunError, match=message):
            tensor([file], recipe)
    with pytest.raises(RunError, match=r"other.png: error: shape \[3, 8, 3\] differs"):
        tensor([file, other], Recipe())
    with pytest.raises(RunError, match="does not exist"):
        tensor([tmp_path / "none.png"], Recipe())
    with pytest.raises(ConfigError, match="not a kind of file"):
        tensor([tmp_path / "film.mp4"], Recipe())
    with pytest.raises(ConfigError, match="--method cannot be 'best'"):
        Recipe(method="best")
    with pytest.raises(ConfigError, match="sizes are from 1"):
        Recipe(resize=(0, 5))
    for shape in ((2, 4, 4, 3), (4, 4, 2), (5,), (0, 4, 3)):
        with pytest.raises(RunError, match=r"image"):
            encoded(np.zeros(shape), Recipe(), Path("x.npy"), ".png")


def test_a_picture_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 40)
    with pytest.raises(RunError, match="too large"):
        tensor([drawn(tmp_path)], Recipe())


def test_figures_leave_out_what_is_not_finite() -> None:
    assert figures(np.array([1.0, np.nan, 3.0]))["mean"] == 2.0
    assert figures(np.array([np.inf]))["least"] is None
    assert figures(np.array(["a"]))["least"] is None
    assert figures(np.array([True, False]))["mean"] == 0.5


def _png(width: int, height: int) -> bytes:
    """A black picture in a file of few bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    deflate = zlib.compressobj(9)
    rows = b"".join(deflate.compress(bytes(1 + 3 * width)) for _ in range(height)) + deflate.flush()
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_a_small_file_of_many_pixels_is_refused_before_it_is_a_tensor(tmp_path: Path) -> None:
    """9000 x 9000 black pixels need 240 kB in the file, and needed 5.6 GB in memory."""
    file = tmp_path / "large.png"
    file.write_bytes(_png(6000, 5000))
    with pytest.raises(RunError, match="it would become 90,000,000 numbers") as caught:
        tensor([file], Recipe())
    (problem,) = caught.value.problems
    assert problem.where is not None and problem.where.file == str(file)
    assert "at most 67,108,864" in problem.rule and "--resize" in problem.remedy
    assert tensor([file], Recipe(resize=(4, 5))).shape == (1, 4, 5, 3)
    assert tensor([file], Recipe(crop=(4, 5), channels="grey")).shape == (1, 4, 5, 1)
    assert pictures.size(file) == (5000, 6000)


def test_a_picture_takes_little_more_memory_than_its_tensor(tmp_path: Path) -> None:
    """Not eight bytes for each number, several times."""
    (tmp_path / "large.png").write_bytes(_png(2000, 2000))
    tracemalloc.start()
    made = tensor([tmp_path / "large.png"], Recipe(mean=(1.0,), layout="NCHW", dtype="uint8"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made.shape == (1, 3, 2000, 2000)
    assert peak <= 5 * made.nbytes


@pytest.mark.parametrize("length", [2**31, 2**63])
def test_sounds_are_not_longer_than_memory(tmp_path: Path, length: int) -> None:
    file = sung(tmp_path, np.zeros((9, 2)))
    with pytest.raises(RunError, match=f"it would become {2 * length:,} numbers"):
        tensor([file], Recipe(length=length))


def test_many_channels_of_few_bytes_are_refused(tmp_path: Path) -> None:
    """A header of 44 bytes says 65,535 channels; a second of it would be 8 GB."""
    file = sung(tmp_path, np.zeros((1, 2)))
    data = bytearray(file.read_bytes())
    data[22:24] = struct.pack("<H", 65535)
    file.write_bytes(data)
    with pytest.raises(RunError, match="it would become 1,048,560,000 numbers"):
        tensor([file], Recipe(length=16000))


def test_of_a_long_sound_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    file = sung(tmp_path, np.arange(9)[:, np.newaxis])
    with file.open("r+b") as stream:  # a file with a hole, whose header says that there is no end
        stream.seek(4 * 2**30)
        stream.write(b"\0")
        stream.seek(40)
        stream.write(b"\xff\xff\xff\xff")
    assert (tensor([file], Recipe(length=9, scale=(32768.0,), dtype="int16")) == np.arange(9)).all()
    with pytest.raises(RunError, match="give its length in samples: --length N"):
        tensor([file], Recipe())


@pytest.mark.parametrize("shape", ["9" * 9000, "1, " * 3000, "-1", "9223372036854775807, 2"])
def test_headers_of_arrays_are_not_repeated_whole(tmp_path: Path, shape: str) -> None:
    words = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape},), }}\n".replace(", ,", ",").encode()
    (tmp_path / "odd.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words)
    with pytest.raises(RunError, match="NumPy cannot read this array") as caught:
        saved(tmp_path / "odd.npy")
    (problem,) = caught.value.problems
    assert len(problem.what) < 300
    assert "numpy.save" in problem.remedy
