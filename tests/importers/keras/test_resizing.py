"""Resizes by the nearest pixel whose places are those of a pixel but for rounding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.ir.evaluate import evaluate
from tests.importers.keras import writer
from tests.importers.keras.harness import imported


@pytest.mark.parametrize(("height", "taken"), [(41, [21, 20]), (47, [24, 23])])
def test_takes_the_pixel_that_tensorflow_takes(height: int, taken: list[int], tmp_path: Path) -> None:
    """`taken`: how many rows are the first and the second one, as TensorFlow 2.21 resizes."""
    layer = writer.layer("Resizing", "s", height=height, width=3, interpolation="nearest")
    graph = imported(writer.h5(writer.sequential(writer.given(2, 3, 1), layer)), tmp_path, ".h5").graph
    x = np.repeat(np.arange(2, dtype=np.float32), 3).reshape(1, 2, 3, 1)
    (y,) = evaluate(graph, {graph.inputs[0].name: x}).values()
    assert np.bincount(y[0, :, 0, 0].astype(int)).tolist() == taken
