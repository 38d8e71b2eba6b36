"""Models and cases as files: what shrinking tries, what findings are kept in, what frameworks write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from buildtool.importers.request import TensorRequest
from tests.strangers.drawing import Model
from tests.strangers.judge import Case, Run


def write_model(model: Model, file: Path) -> None:
    """A drawn model, whose sizes are kept in its metadata."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model.proto)
    onnx.helper.set_model_props(copy, {"sizes": json.dumps(model.symbols), "seed": str(model.seed)})
    file.write_bytes(copy.SerializeToString())


def read_model(file: Path) -> Model:
    """The same again."""
    proto = onnx.load(file)
    kept = {item.key: item.value for item in proto.metadata_props}
    sizes = {word: tuple(item) for word, item in json.loads(kept["sizes"]).items()}
    return Model(proto, sizes, int(kept["seed"]))


def read_case(folder: Path) -> Case:
    """What a framework wrote: case.json, the model, and the arrays of its runs in runs.npz.

    The names of arrays are `<run>_in_<input>` and `<run>_out_<position>`.
    """
    about: dict[str, Any] = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    arrays = np.load(folder / "runs.npz")
    inputs = [
        TensorRequest(
            item["name"],
            None if item["shape"] is None else tuple(tuple(n) if isinstance(n, list) else n for n in item["shape"]),
            item["format"],
        )
        for item in about["inputs"]
    ]
    outputs = [TensorRequest(item["name"], None, item["format"]) for item in about["outputs"]]
    runs = []
    for run in range(about["runs"]):
        feeds = {item.name: arrays[f"{run}_in_{index}"] for index, item in enumerate(inputs)}
        expected = tuple(arrays[f"{run}_out_{index}"] for index in range(len(outputs)))
        runs.append(Run(feeds, expected, (True,) * len(expected)))
    tolerance = about.get("rtol", 5e-4)
    return Case(about["platform"], folder / about["file"], tuple(inputs), tuple(outputs), tuple(runs), rtol=tolerance)
