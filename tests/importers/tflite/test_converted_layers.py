"""Recurrent layers as TensorFlow's converter writes them give what LiteRT gives."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from buildtool.passes.pipeline import optimise
from tests.importers.tensorflow.harness import EXPECTED
from tests.importers.tflite.harness import imported, litert, random, run


@pytest.mark.parametrize("name", ["gru", "lstm", "rnn"])
def test_results(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(EXPECTED / "lite.zip") as archive:
        data = archive.read(f"{name}.tflite")
    graph = imported(data, tmp_path).graph
    optimise(graph)
    assert [node.op.name for node in graph.walk()].count("loop") == 1
    for seed in range(3):
        x = random(1, 6, 5, seed=seed)
        inputs = {graph.inputs[0].name: x}
        np.testing.assert_allclose(run(graph, inputs)[0], litert(data, inputs)[0], rtol=1e-5, atol=1e-6)
