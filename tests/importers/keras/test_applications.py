"""Layers that keras.applications defines for its own models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.importers.keras.harness import imported, run
from tests.importers.keras.writer import given, h5, layer, sequential


def test_layers_of_convnext(tmp_path: Path) -> None:
    """A factor for each channel, and a residual that only training drops."""
    gamma = np.array([0.5, -2.0, 3.0], np.float32)
    scale = layer("LayerScale", "scale", init_values=1e-6, projection_dim=3)
    drop = layer("StochasticDepth", "drop", drop_path_rate=0.2)
    file = h5(sequential(given(4, 5, 3), scale, drop), {"scale": {"variable": gamma}})
    x = np.random.default_rng(1).uniform(-1, 1, (1, 4, 5, 3)).astype(np.float32)
    (y,) = run(imported(file, tmp_path, ".h5").graph, [x])
    np.testing.assert_array_equal(y, x * gamma)
