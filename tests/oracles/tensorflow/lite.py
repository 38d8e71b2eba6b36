"""Recurrent layers as the converter to TFLite writes them: loops that write the rows of a tensor one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tests.oracles.paddle.archive import Archive

_STEPS = (1, 6, 5)
_LAYERS: dict[str, Any] = {"lstm": keras.layers.LSTM, "gru": keras.layers.GRU, "rnn": keras.layers.SimpleRNN}


def write(file: Path) -> None:
    with Archive(file) as archive:
        for name, layer in _LAYERS.items():
            archive.put(f"{name}.tflite", _converted(layer(8, return_sequences=True)))


def _converted(layer: Any) -> bytes:
    start = keras.Input(_STEPS[1:], batch_size=1, name="x")
    model = keras.Model(start, layer(start))
    dice = np.random.default_rng(6)
    model.set_weights([dice.uniform(-0.7, 0.7, array.shape).astype(array.dtype) for array in model.get_weights()])
    return bytes(tf.lite.TFLiteConverter.from_keras_model(model).convert())
