"""Models of Keras, the older ones with the Keras of that time where it is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

NEEDS = ("keras", "tf_keras")


def compute(keras: Any, request: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
    model, layers = _loaded(keras, request["model"])
    places = [_place(model, name) for name in request["outputs"]]
    part = layers.Model(model.inputs, places)
    order = [str(tensor.name).partition(":")[0] for tensor in model.inputs]
    fed = dict(zip(request["inputs"], inputs, strict=True))
    given = [fed[name] for name in order] if set(order) <= set(fed) else list(inputs)
    results = part(given if len(given) > 1 else given[0], training=False)
    return list(results) if isinstance(results, list | tuple) else [results]


def _loaded(keras: Any, file: str) -> tuple[Any, Any]:
    """The model, and the Keras that has read it."""
    try:
        model = keras.models.load_model(file, compile=False)
    except Exception:
        if importlib.util.find_spec("tf_keras") is None or keras.__name__ == "tf_keras":
            raise
        keras = importlib.import_module("tf_keras")
        model = keras.models.load_model(file, compile=False)
    return model, keras


def _place(model: Any, name: str) -> Any:
    """What the importer calls a tensor: a layer, and which of its outputs."""
    layer, _, number = name.partition(":")
    output = model.get_layer(layer.partition("/")[0]).output
    return output[int(number or 0)] if isinstance(output, list | tuple) else output
