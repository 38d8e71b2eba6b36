"""Saves networks of keras.applications in all four forms that are imported: one model, one set of weights.

The weights of a layer repeat a few numbers, and statistics have few bits, so that megabytes of them pack into little:
`expected/routes/<network>.tar.xz` holds the files as they were saved, and what Keras makes of a picture.
"""

from __future__ import annotations

import io
import lzma
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from tests.oracles.keras.networks import APPLICATIONS, pictures

_PERIOD, _BITS = 31, 4
_MEAN, _VARIANCE = (0.485, 0.456, 0.406), (0.0524, 0.0502, 0.0506)  # of the colours, for what normalises pictures
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2**27}]  # far enough back to see the same file again


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in APPLICATIONS:
        keras.backend.clear_session()
        keras.utils.set_random_seed(1)
        model = getattr(keras.applications, name)(weights=None)
        _draw(model)
        _settle(model, pictures(name, 4, 5))
        with tempfile.TemporaryDirectory() as made:
            _save(model, Path(made), pictures(name, 1, 1))
            _pack(Path(made), folder / f"{name}.tar.xz")


def _draw(model: Any) -> None:
    """Weights with which signals stay alive."""
    dice = np.random.default_rng(7)
    for layer in model.layers:
        if isinstance(layer, keras.layers.Normalization):
            layer.set_weights([np.array(_MEAN, np.float32), np.array(_VARIANCE, np.float32), np.array(0, np.int32)])
            layer.finalize_state()
        else:
            layer.set_weights([_drawn(dice, variable) for variable in layer.weights])


def _drawn(dice: np.random.Generator, variable: Any) -> NDArray[Any]:
    shape, name = tuple(variable.shape), variable.path
    few = dice.normal(0, 1, _PERIOD)
    if "gamma" in name or "variance" in name:
        few = 1 + 0.2 * np.tanh(few)
    elif len(shape) <= 1:
        few *= 0.1
    else:
        few /= np.sqrt(np.prod(shape[:2]) if "depthwise" in name else np.prod(shape[:-1]))
    return _rough(np.resize(few, shape))


def _rough(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers of few bits."""
    mantissa, exponent = np.frexp(array)
    return np.asarray(np.ldexp(np.round(mantissa * 2**_BITS) / 2**_BITS, exponent), np.float32)


def _settle(model: Any, shown: NDArray[Any]) -> None:
    """Gives normalisations the statistics of some pictures: otherwise outputs hardly depend on what goes in."""
    norms = [layer for layer in model.layers if isinstance(layer, keras.layers.BatchNormalization)]
    usual = [layer.momentum for layer in norms]
    for layer in norms:
        layer.momentum = 0.0
    model(shown, training=True)
    for layer, momentum in zip(norms, usual, strict=True):
        layer.momentum = momentum
        gamma, beta, mean, variance = layer.get_weights()
        layer.set_weights([gamma, beta, _rough(mean), _rough(variance)])


def _save(model: Any, folder: Path, picture: NDArray[Any]) -> None:
    np.save(folder / "output.npy", np.asarray(model(picture, training=False)))
    model.save(folder / "model.h5")
    model.save(folder / "model.keras")
    model.export(folder / "saved", format="tf_saved_model", verbose=False)
    call = tf.function(lambda image: model(image, training=False))
    spec = tf.TensorSpec(picture.shape, tf.float32, name="image")
    frozen = convert_variables_to_constants_v2(call.get_concrete_function(spec))
    tf.io.write_graph(frozen.graph, str(folder), "frozen.pb", as_text=False)


def _pack(folder: Path, target: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in _files(folder):
            entry = tarfile.TarInfo(str(file.relative_to(folder)))
            entry.size = file.stat().st_size
            archive.addfile(entry, io.BytesIO(file.read_bytes()))
    target.write_bytes(lzma.compress(packed.getvalue(), filters=_FILTERS))


def _files(folder: Path) -> Iterator[Path]:
    yield from (file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != "fingerprint.pb")
