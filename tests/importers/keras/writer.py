"""Writes small files as Keras does, without Keras: for what it would not write itself."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import h5py
import numpy as np

from buildtool.ir.operator import Array

Weights = Mapping[str, Mapping[str, Array]]


def layer(op: str, name: str, **settings: Any) -> dict[str, Any]:
    return {"class_name": op, "config": {"name": name, **settings}}


def given(*shape: int | None, dtype: str = "float32") -> dict[str, Any]:
    return layer("InputLayer", "x", batch_input_shape=[None, *shape], dtype=dtype)


def sequential(*layers: Mapping[str, Any], name: str = "model") -> dict[str, Any]:
    return {"class_name": "Sequential", "config": {"name": name, "layers": list(layers)}}


def functional(
    layers: Sequence[tuple[Mapping[str, Any], Sequence[Any]]], inputs: Sequence[Any], outputs: Sequence[Any]
) -> dict[str, Any]:
    """Layers with their calls, in the form of Keras 2."""
    entries = [{**one, "name": one["config"]["name"], "inbound_nodes": list(calls)} for one, calls in layers]
    config = {"name": "model", "layers": entries, "input_layers": list(inputs), "output_layers": list(outputs)}
    return {"class_name": "Functional", "config": config}


def h5(model: Any, weights: Weights | None = None, version: str = "2.15.0") -> bytes:
    """An `.h5` file. `weights`: by the names of layers, then by their own."""
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file.attrs["keras_version"] = version
        file.attrs["model_config"] = model if isinstance(model, str) else json.dumps(model)
        root = file.create_group("model_weights")
        root.attrs["layer_names"] = [name.encode() for name in weights or ()]
        for name, arrays in (weights or {}).items():
            group = root.create_group(name)
            group.attrs["weight_names"] = [f"{name}/{key}:0".encode() for key in arrays]
            for key, array in arrays.items():
                group.create_dataset(f"{name}/{key}:0", data=array)
    return stream.getvalue()


def keras(members: Mapping[str, bytes]) -> bytes:
    """A `.keras` file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def dense(rows: int, columns: int, seed: int = 0) -> dict[str, Array]:
    dice = np.random.default_rng(seed)
    return {
        "kernel": dice.uniform(-1, 1, (rows, columns)).astype(np.float32),
        "bias": dice.uniform(-1, 1, columns).astype(np.float32),
    }
