"""What a model is fed: random numbers that never change, and files that must fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import RunError
from buildtool.ir.types import DType
from buildtool.running.inputs import TensorSpec, check_names, fit, random_inputs, read_array

IMAGE = TensorSpec("image", (1, 2, 3, 4), DType.F32, "NHWC", (2.0, 5.0))


def test_random_inputs_keep_to_range_and_seed() -> None:
    first = random_inputs([IMAGE], 7)["image"]
    assert first.shape == (1, 2, 3, 4)
    assert first.dtype == np.float32
    assert first.min() >= 2
    assert first.max() <= 5
    np.testing.assert_array_equal(first, random_inputs([TensorSpec("x", (1,), DType.F32), IMAGE], 7)["image"])
    assert not np.array_equal(first, random_inputs([IMAGE], 8)["image"])


def test_random_integers_reach_both_ends_and_fit_the_type() -> None:
    spec = TensorSpec("ids", (1000,), DType.U8, value_range=(-5.0, 3.0))
    assert set(random_inputs([spec], 0)["ids"].tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("dtype", [DType.F16, DType.S8, DType.S64, DType.BOOL])
def test_random_inputs_have_the_declared_type(dtype: DType) -> None:
    assert random_inputs([TensorSpec("x", (5,), dtype)], 0)["x"].dtype == dtype.numpy


def test_files_are_npy_or_raw(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    np.save(tmp_path / "a.npy", array)
    (tmp_path / "a.raw").write_bytes(array.tobytes())
    for name in ("a.npy", "a.raw"):
        np.testing.assert_array_equal(read_array(tmp_path / name, IMAGE), array)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("none.npy", None, "does not exist"),
        ("short.raw", b"123", r"3 bytes does not fit f32\[1, 2, 3, 4\] \(96 bytes\)"),
        ("broken.npy", b"\x93NUMPYgarbage", "NumPy cannot read this array"),
    ],
)
def test_wrong_files(tmp_path: Path, name: str, data: bytes | None, message: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(RunError, match=message):
        read_array(tmp_path / name, IMAGE)


def test_pickles_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(RunError, match="NumPy"):
        read_array(tmp_path / "p.npy", IMAGE)


def test_fit_takes_missing_ones_and_refuses_the_rest() -> None:
    assert fit(np.zeros((2, 3, 4), np.float32), IMAGE).shape == (1, 2, 3, 4)
    assert fit(np.zeros(24, np.float32), IMAGE).shape == (1, 2, 3, 4)
    with pytest.raises(RunError, match=r"\[1, 4, 2, 3\] does not fit 'image'"):
        fit(np.zeros((1, 4, 2, 3), np.float32), IMAGE)
    with pytest.raises(RunError, match="complex"):
        fit(np.zeros((1, 2, 3, 4), np.complex64), IMAGE)


def test_an_array_in_the_other_order_of_axes_gets_the_transposition() -> None:
    channels_last = TensorSpec("image", (1, 4, 5, 3), DType.F32, "NHWC")
    with pytest.raises(RunError) as caught:
        fit(np.zeros((1, 3, 4, 5), np.float32), channels_last)
    (problem,) = caught.value.problems
    assert "array.transpose(0, 2, 3, 1)" in problem.remedy
    assert np.zeros((1, 3, 4, 5)).transpose(0, 2, 3, 1).shape == channels_last.shape


def test_unknown_names_are_told() -> None:
    with pytest.raises(RunError, match="no input 'imgae'"):
        check_names({"imgae": 1}, [IMAGE])
