"""Models and cases as files: what shrinking tries, what findings are kept in, what frameworks write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from buildtool.importers.request import TensorRequest
from tests.strangers.drawing import Model
from tests.strangers.judge import ATOL, Case, Run


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

    The names of arrays are `<run>_in_<position>`, `<run>_out_<position>`, and `<run>_real_<position>` of models that
    round to a few bits. Inputs are numbers where the model has all
    sizes; else they have names and shapes, with bounds.
    """
    about: dict[str, Any] = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    arrays = np.load(folder / "runs.npz")
    declared = about["inputs"]
    requests = [] if isinstance(declared, int) else [_request(item) for item in declared]
    names = [item.name for item in requests] or [str(index) for index in range(declared)]
    runs = []
    for run in range(about["runs"]):
        feeds = {name: arrays[f"{run}_in_{index}"] for index, name in enumerate(names)}
        expected = tuple(arrays[f"{run}_out_{index}"] for index in range(about["outputs"]))
        stable = about["stable"][run] if "stable" in about else True
        real = tuple(arrays[name] for index in range(about["outputs"]) if (name := f"{run}_real_{index}") in arrays)
        runs.append(Run(feeds, expected, (stable,) * len(expected), real))
    return Case(
        about["platform"],
        folder / about["file"],
        tuple(requests),
        (),
        tuple(runs),
        about["rtol"],
        about.get("atol", ATOL),
        about.get("quantised", False),
        folder / about["program"] if "program" in about else None,
    )


def _request(item: Any) -> TensorRequest:
    shape = tuple(tuple(size) if isinstance(size, list) else size for size in item["shape"])
    return TensorRequest(item["name"], shape, "MODEL")
