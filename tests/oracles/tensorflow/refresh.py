"""Writes what the tests of the importer expect: `make oracles FRAMEWORKS=tensorflow`.

`expected/operators.npz` holds, for every case, its graph, what it is fed, and what it gives; `expected/networks.zip`
small networks as frozen graphs, as text and as SavedModels, each with inputs and outputs. `lite.zip` and
`quantised.zip` hold what the converter to TFLite makes: LiteRT tells what they give.
"""

from __future__ import annotations

import inspect
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np
import tensorflow as tf

from tests.oracles.tensorflow import lite, quantised
from tests.oracles.tensorflow.cases import CASES, Array, Case, Fed, Held
from tests.oracles.tensorflow.networks import NETWORKS

EXPECTED = Path(__file__).resolve().parent / "expected"
_LISTED = ("strides", "dilations", "ksize")
_TO_FIRST, _TO_LAST = (0, 3, 1, 2), (0, 2, 3, 1)
_STAMP = (1980, 1, 1, 0, 0, 0)  # of the files in archives, so that the same content gives the same bytes


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    arrays: dict[str, Array] = {}
    for number, case in enumerate(CASES):
        arrays |= {f"{case.op}-{number}/{key}": array for key, array in _computed(case).items()}
    np.savez_compressed(EXPECTED / "operators.npz", **arrays)  # type: ignore[arg-type]
    with zipfile.ZipFile(EXPECTED / "networks.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, make in NETWORKS.items():
            folder = Path(tempfile.mkdtemp())
            make(folder)
            for file in sorted(folder.rglob("*")):
                if file.is_file() and file.name != "fingerprint.pb":
                    entry = zipfile.ZipInfo(f"{name}/{file.relative_to(folder)}", _STAMP)
                    archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
            shutil.rmtree(folder)
    lite.write(EXPECTED / "lite.zip")
    quantised.write(EXPECTED / "quantised.zip")
    versions = {"tensorflow": tf.__version__, "keras": tf.keras.__version__, "numpy": np.__version__}
    (EXPECTED / "versions.json").write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")


def _computed(case: Case) -> dict[str, Array]:
    """The graph of a case as bytes, its inputs `in/<name>` and its outputs `out/<name>`."""
    graph, fed, outputs = _graph(case, case.channels_first)
    running, by_name, results = (graph, fed, outputs) if not case.channels_first else _graph(case, False)
    with tf.compat.v1.Session(graph=running) as session:
        values = session.run(results, by_name)
    if case.channels_first:
        values = [value.transpose(_TO_FIRST) for value in values]
    made = {"graph": np.frombuffer(graph.as_graph_def().SerializeToString(), np.uint8)}
    made |= {f"in/{tensor.op.name}": array for tensor, array in fed.items()}
    return made | {f"out/{tensor.name}": np.asarray(value) for tensor, value in zip(outputs, values, strict=True)}


def _graph(case: Case, channels_first: bool) -> tuple[tf.Graph, dict[Any, Array], list[Any]]:
    fed: dict[Any, Array] = {}

    def tensor(item: Any) -> Any:
        if isinstance(item, Sequence):
            return [tensor(one) for one in item]
        if isinstance(item, Held):
            return tf.constant(item.array, item.dtype)
        if not isinstance(item, Fed):
            return tf.constant(item)
        array = item.array.transpose(_TO_FIRST) if channels_first else item.array
        placeholder = tf.compat.v1.placeholder(array.dtype, array.shape, f"x{len(fed)}")
        fed[placeholder] = array
        return placeholder

    with tf.Graph().as_default() as graph:
        if case.op == "Const":
            return graph, fed, [tf.constant(case.attributes["value"], name="y")]
        operator = getattr(tf.raw_ops, case.op)
        names = list(inspect.signature(operator).parameters)
        inputs = {name: tensor(item) for name, item in zip(names, case.inputs, strict=False)}
        attributes = _turned(case.attributes) if channels_first else dict(case.attributes)
        made = operator(**inputs, **attributes, name="y")
    if case.op.startswith("FusedBatchNorm"):  # the others are for training
        made = made.y
    return graph, fed, [made] if isinstance(made, tf.Tensor) else list(made)


def _turned(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Lists with an entry for each axis, in the other order."""
    turned = {
        key: [value[axis] for axis in _TO_FIRST] if key in _LISTED else value for key, value in attributes.items()
    }
    return turned | {"data_format": "NCHW"}


if __name__ == "__main__":
    main()
