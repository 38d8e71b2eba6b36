"""Samples from files and scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ConfigError, LatheError, RunError
from buildtool.ir.types import DType
from buildtool.running.inputs import TensorSpec
from buildtool.validation import samples
from buildtool.validation.samples import Reader

IMAGE = TensorSpec("image", (1, 3, 4, 5), DType.F32, "NCHW", (0.0, 1.0))
SIZE = TensorSpec("size/0", (2,), DType.F32)
RANDOM = np.random.default_rng(0)


def _read(path: Path, specs: Sequence[TensorSpec] = (IMAGE,)) -> list[Mapping[str, np.ndarray]]:
    found, reader = samples.find(path, specs), Reader(specs)
    read = [dict(reader.inputs(sample)) for sample in found]
    assert found.count in (None, len(read))
    for inputs in read:
        assert {spec.name: (spec.shape, spec.dtype.numpy) for spec in specs} == {
            name: (array.shape, array.dtype) for name, array in inputs.items()
        }
    return read  # type: ignore[return-value]


@pytest.mark.parametrize("shape", [(7, 3, 4, 5), (7, 1, 3, 4, 5)])
@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_samples_along_the_first_dimension(tmp_path: Path, shape: tuple[int, ...], ending: str) -> None:
    array = RANDOM.normal(size=shape)
    file = tmp_path / f"images.{ending}"
    np.save(file, array) if ending == "npy" else np.savez(file, image=array)
    read = _read(file)
    assert len(read) == 7
    assert all(
        np.array_equal(one["image"][0], array[index].astype(np.float32).reshape(3, 4, 5))
        for index, one in enumerate(read)
    )


def test_batches_are_samples_of_a_network_that_takes_batches(tmp_path: Path) -> None:
    spec = TensorSpec("x", (4, 6), DType.F32)
    array = RANDOM.normal(size=(12, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", array)
    read = _read(tmp_path / "x.npy", [spec])
    assert np.array_equal(np.concatenate([one["x"] for one in read]), array)
    np.save(tmp_path / "x.npy", array[:11])
    with pytest.raises(RunError, match="does not contain samples of 'x'"):
        _read(tmp_path / "x.npy", [spec])


def test_a_folder_has_files_of_all_kinds_in_the_order_of_their_names(tmp_path: Path) -> None:
    images = RANDOM.random((6, 3, 4, 5)).astype(np.float32)
    np.save(tmp_path / "a.npy", images[0])
    images[1].tofile(tmp_path / "b.raw")
    np.save(tmp_path / "c.npy", images[2:5])
    np.savez(tmp_path / "d.npz", images[5])
    (tmp_path / "labels.txt").write_text("none")
    assert np.array_equal(np.concatenate([one["image"] for one in _read(tmp_path)]), images)


def test_pictures_are_spread_over_the_range_of_the_input(tmp_path: Path) -> None:
    pictures = pytest.importorskip("PIL.Image")
    pictures.fromarray(np.full((9, 7, 3), 255, np.uint8)).save(tmp_path / "white.png")
    (one,) = _read(tmp_path)
    assert (one["image"] == 1).all()


def test_several_inputs_are_in_one_archive_or_in_files_of_their_names(tmp_path: Path) -> None:
    images, sizes = RANDOM.random((4, 3, 4, 5)).astype(np.float32), RANDOM.random((4, 2)).astype(np.float32)
    np.savez(tmp_path / "all.npz", **{"image": images[:2], "size/0": sizes[:2], "other": sizes})  # type: ignore[arg-type]
    for index in (2, 3):  # as MACE's tools name them
        images[index].tofile(tmp_path / f"image_{index}.dat")
        sizes[index].tofile(tmp_path / f"size_0_{index}.dat")
    read = _read(tmp_path, [IMAGE, SIZE])
    assert np.array_equal(np.concatenate([one["image"] for one in read]), images)
    assert np.array_equal(np.stack([one["size/0"] for one in read]), sizes)
    (tmp_path / "size_0_3.dat").unlink()
    with pytest.raises(ConfigError, match=r"'size_0_3.dat' is missing beside 'image_3.dat'"):
        _read(tmp_path, [IMAGE, SIZE])


def test_a_script_yields_arrays_or_inputs_by_name(tmp_path: Path) -> None:
    script = tmp_path / "make.py"
    script.write_text(
        "import numpy as np\n\n\ndef samples():\n    for index in range(3):\n        yield np.full((3, 4, 5), index)\n"
        "    yield {'image': [[[3.0] * 5] * 4] * 3}\n"
    )
    assert [float(one["image"].max()) for one in _read(script)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("def samples():\n    yield {'picture': [1.0]}\n", "no data for the input 'image'", 0),
        ("def samples():\n    yield [1.0]\n", "does not fit 'image'", 0),
        ("x = 1\n\n\ndef samples():\n    yield 1 / 0\n", "ZeroDivisionError", 5),
        ("x = 1\n", "has no attribute 'samples'", 0),
        ("def samples(:\n", "SyntaxError", 1),
    ],
)
def test_errors_of_a_script_are_reported(tmp_path: Path, text: str, message: str, line: int) -> None:
    script = tmp_path / "make.py"
    script.write_text(text)
    with pytest.raises(LatheError, match=message) as caught:
        _read(script)
    (problem,) = caught.value.problems
    assert (problem.where.file, problem.where.line) == (str(script), line)


def test_folders_without_samples_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no samples found"):
        _read(tmp_path)
    with pytest.raises(ConfigError, match="there is no such file or folder"):
        _read(tmp_path / "missing")
    np.save(tmp_path / "x.npy", np.zeros((7, 5)))
    with pytest.raises(RunError, match=r"shape \[7, 5\] does not contain samples of 'image'"):
        _read(tmp_path)
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00nonsense")
    with pytest.raises(RunError, match="NumPy cannot read this array"):
        _read(tmp_path)
    (tmp_path / "x.npy").unlink()
    np.savez(tmp_path / "x.npz", a=np.zeros(3), b=np.zeros(3))
    with pytest.raises(RunError, match="no array for the input 'image'"):
        _read(tmp_path)


def test_the_identity_changes_with_the_samples(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 3, 4, 5)))
    before = samples.find(tmp_path, [IMAGE]).identity
    assert samples.find(tmp_path, [IMAGE]).identity == before
    np.save(tmp_path / "a.npy", np.zeros((3, 3, 4, 5)))
    assert samples.find(tmp_path, [IMAGE]).identity != before
