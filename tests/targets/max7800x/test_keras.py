"""Models of Keras on the MAX78000, padded as TensorFlow pads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from buildtool.importers.keras import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.lowering.lower import lower
from tests.importers.keras import writer
from tests.targets.k210.generating import calibrate, pictures
from tests.targets.max7800x.graphs import assert_machine_agrees, nearness

LEAST = 0.985


def keras_model() -> bytes:
    """Strides of 2 that are padded at the end only, batch normalisation, depthwise layers, a softmax."""
    dice = np.random.default_rng(4)

    def drawn(*shape: int, fan: int) -> Array:
        return dice.normal(0, np.sqrt(2 / fan), shape).astype(np.float32)

    same: dict[str, Any] = {"padding": "same", "kernel_size": [3, 3], "activation": "relu"}
    layers = [
        writer.given(32, 32, 3),
        writer.layer("Conv2D", "one", filters=12, strides=[2, 2], **same),
        writer.layer("BatchNormalization", "norm", axis=[3], epsilon=1e-3),
        writer.layer("ReLU", "relu"),
        writer.layer("MaxPooling2D", "pool", pool_size=[3, 3], strides=[2, 2], padding="same"),
        writer.layer("DepthwiseConv2D", "deep", strides=[1, 1], **same),
        writer.layer("Conv2D", "two", filters=16, strides=[2, 2], **same),
        writer.layer("GlobalAveragePooling2D", "mean"),
        writer.layer("Dense", "dense", units=5, activation="softmax"),
    ]
    weights = {
        "one": {"kernel": drawn(3, 3, 3, 12, fan=27), "bias": drawn(12, fan=200)},
        "norm": {
            "gamma": dice.uniform(0.5, 1.5, 12).astype(np.float32),
            "beta": dice.normal(0, 0.2, 12).astype(np.float32),
            "moving_mean": dice.normal(0, 0.2, 12).astype(np.float32),
            "moving_variance": dice.uniform(0.5, 2, 12).astype(np.float32),
        },
        "deep": {"depthwise_kernel": drawn(3, 3, 12, 1, fan=9), "bias": drawn(12, fan=200)},
        "two": {"kernel": drawn(3, 3, 12, 16, fan=108), "bias": drawn(16, fan=200)},
        "dense": {"kernel": drawn(16, 5, fan=2), "bias": drawn(5, fan=200)},
    }
    return writer.h5(writer.sequential(*layers), weights)


def with_ranges(graph: Graph) -> Graph:
    optimise(graph, quantised=True)
    calibrate(graph, pictures(graph, 6))
    return graph


def test_keras(tmp_path: Path) -> None:
    (tmp_path / "model.h5").write_bytes(keras_model())
    graph = with_ranges(import_model(ImportRequest("keras", tmp_path / "model.h5")).graph)
    lowered = lower(graph, MAX78000)
    assert sum(layer.name.endswith(" with a border") for layer in lowered.network.layers) == 3
    assert min(nearness(graph, lowered)) >= LEAST
    assert lowered.input.order.shape == (3, 32, 32), "channels first, whatever the model has"
    (picture,) = pictures(graph, 1, seed=3)[0].values()
    assert_machine_agrees(lowered, picture)
