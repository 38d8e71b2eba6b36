"""The measurement of importers: what a process of its own takes for a model."""

from __future__ import annotations

from pathlib import Path

from tests.bench.importers import Model, measured
from tests.importers.tensorflow.harness import network


def test_a_measurement(tmp_path: Path) -> None:
    file, inputs, _ = network("frozen_keras", tmp_path)
    model = Model("tensorflow", "small", file, None, (("image", inputs["image"].shape, "NHWC"),))
    found = measured(model)
    assert model.size() == file.stat().st_size
    assert 0 < found["seconds"] < 60
    assert 20 < found["before"] <= found["peak"] < 300
