"""Whole numbers for constants."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir import quantised
from buildtool.ir.types import DType, TensorType
from buildtool.passes.grids import column_grid, lost, whole_grid


def _back(array: np.ndarray, type_: TensorType) -> np.ndarray:
    return quantised.dequantised(quantised.quantised(array, type_), type_)


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("most", [127, 126, 100, 63, 17, 1])
def test_weights_that_were_whole_numbers_lose_nothing(axis: int, most: int) -> None:
    rng = np.random.default_rng(most)
    scales = rng.uniform(1e-4, 0.2, 6).astype(np.float32)
    whole = rng.integers(-most, most + 1, (40, 6))
    whole[0] = most
    w = np.moveaxis((whole * scales).astype(np.float32).reshape(8, 5, 6), -1, axis)
    quant = column_grid(w, axis)
    np.testing.assert_allclose(_back(w, TensorType(DType.S8, w.shape, quant)), w, rtol=1e-6, atol=1e-9)
    assert quant.axis == axis
    assert set(quant.zero_points) == {0}


def test_other_weights_are_half_a_step_off_at_most() -> None:
    w = np.random.default_rng(0).normal(size=(4, 3, 3, 16)).astype(np.float32)
    quant = column_grid(w, 0)
    largest = np.abs(w).reshape(4, -1).max(axis=1)
    np.testing.assert_allclose(quant.scales, largest / 127, rtol=1e-6)
    difference = np.abs(_back(w, TensorType(DType.S8, w.shape, quant)) - w).reshape(4, -1).max(axis=1)
    assert (difference <= largest / 127 * 0.5001).all()


def test_columns_of_zeros_and_of_next_to_nothing() -> None:
    w = np.zeros((3, 4), np.float32)
    w[1] = 1e-42
    w[2] = 3e38
    quant = column_grid(w, 0)
    stored = quantised.quantised(w, TensorType(DType.S8, w.shape, quant))
    assert np.isfinite(quant.scales).all()
    assert stored.tolist() == [[0] * 4, [0] * 4, [127] * 4]


@pytest.mark.parametrize("ends", [(-1.0, 3.0), (0.5, 2.0), (-4.0, -1.0), (0.0, 0.0)])
def test_zero_is_one_of_the_numbers(ends: tuple[float, float]) -> None:
    array = np.linspace(*ends, 50).astype(np.float32)
    quant = whole_grid(array)
    type_ = TensorType(DType.S8, array.shape, quant)
    step = quant.scales[0]
    assert np.abs(_back(array, type_) - array).max() <= step * 0.51
    assert _back(np.zeros(50, np.float32), type_).tolist() == [0.0] * 50


def test_trained_weights_with_zero_points_lose_something() -> None:
    rng = np.random.default_rng(5)
    whole = rng.integers(-200, 56, (60, 4))
    whole[:, 1] //= 2  # has a place in symmetric numbers
    whole[0] = (-200, -100, -199, -131)
    w = np.float32(whole * np.float32([0.02, 0.1, 0.003, 0.01]))  # type: ignore[arg-type]
    w[:, 2] = rng.normal(0, 1, 60)  # has never been quantised
    found = lost(w, 1, column_grid(w, 1))
    back = _back(w, TensorType(DType.S8, w.shape, column_grid(w, 1)))
    np.testing.assert_allclose(found, np.sqrt(((w - back) ** 2).sum(axis=0)) * (1, 0, 0, 1), rtol=1e-4, atol=1e-6)
    assert found[0] > 0 and found[3] > 0


def test_trained_weights_may_reach_the_lowest_number() -> None:
    """As those of PyTorch's training for quantisation: -128..127 without zero points."""
    whole = np.random.default_rng(3).integers(-100, 101, (40, 4))
    whole[0] = (-128, -128, -128, 128)
    whole[1] = (127, 60, 128, 50)  # the third column is no column of 8 bits; the last one is as well -64..64, halved
    whole[:, 3] = whole[:, 3] // 2 * 2
    w = (whole * np.array([0.02, 0.1, 0.003, 0.01])).astype(np.float32)
    quant = column_grid(w, 1)
    back = _back(w, TensorType(DType.S8, w.shape, quant))
    np.testing.assert_allclose(np.delete(back, 2, 1), np.delete(w, 2, 1), rtol=1e-6)
    assert np.isclose(quant.scales[2], 0.003 * 128 / 127)
    assert not lost(w, 1, quant)[[0, 1, 3]].any()
