"""Normalisations over any axes. Keras reads the weights, row by row, in the order of the input's axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.ir.operator import Array
from tests.importers.keras.harness import imported, run
from tests.importers.keras.writer import given, h5, layer, sequential

_X = np.random.default_rng(1).uniform(-2, 2, (1, 3, 4, 2, 5)).astype(np.float32)


def _weights(axes: list[int]) -> dict[str, Array]:
    dice = np.random.default_rng(2)
    shape = [_X.shape[axis] for axis in axes]
    return {name: dice.uniform(0.5, 1.5, shape).astype(np.float32) for name in ("gamma", "beta")}


def _normalised(axes: list[int], weights: dict[str, Array], *, root_mean_square: bool = False) -> Array:
    """As in keras/src/layers/normalization/layer_normalization.py."""
    places = [axis % _X.ndim for axis in axes]
    broadcast = [_X.shape[axis] if axis in places else 1 for axis in range(_X.ndim)]
    mean, variance = (take(_X, axis=tuple(places), keepdims=True) for take in (np.mean, np.var))
    over = np.sqrt(variance + np.float32(0.01))
    y = (_X if root_mean_square else _X - mean) / over
    for name, array in weights.items():
        y = y * array.reshape(broadcast) if name == "gamma" else y + array.reshape(broadcast)
    return np.asarray(y, np.float32)


@pytest.mark.parametrize("axes", [[1, 4], [2], [2, 1], [4, 2], [-1, -3], [1, 2, 3], [3, 4]], ids=str)
def test_layer_normalisation(tmp_path: Path, axes: list[int]) -> None:
    weights = _weights(axes)
    settings: dict[str, Any] = {"axis": axes, "epsilon": 0.01}
    file = h5(sequential(given(*_X.shape[1:]), layer("LayerNormalization", "n", **settings)), {"n": weights})
    (y,) = run(imported(file, tmp_path, ".h5").graph, [_X])
    np.testing.assert_allclose(y, _normalised(axes, weights), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("axes", [[1, 4], [2], [4]], ids=str)
def test_by_the_root_of_the_variance(tmp_path: Path, axes: list[int]) -> None:
    weights = {"gamma": _weights(axes)["gamma"]}
    settings: dict[str, Any] = {"axis": axes, "epsilon": 0.01, "rms_scaling": True}
    file = h5(sequential(given(*_X.shape[1:]), layer("LayerNormalization", "n", **settings)), {"n": weights})
    (y,) = run(imported(file, tmp_path, ".h5").graph, [_X])
    np.testing.assert_allclose(y, _normalised(axes, weights, root_mean_square=True), rtol=1e-5, atol=1e-5)
