"""TFLite models with LiteRT, or with the interpreter of TensorFlow.

Floats are what the whole numbers of quantised tensors stand for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NEEDS = ("ai_edge_litert.interpreter", "tflite_runtime.interpreter", "tensorflow.lite.python.interpreter")


def compute(litert: Any, request: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
    interpreter = litert.Interpreter(request["model"], experimental_preserve_all_tensors=True, num_threads=1)
    known = {detail["name"]: detail for detail in interpreter.get_tensor_details()}
    given = [known[name] for name in request["inputs"]]
    for detail, array in zip(given, inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    for detail, array in zip(given, inputs, strict=True):
        interpreter.set_tensor(detail["index"], _stored(array, detail))
    interpreter.invoke()
    return [_real(interpreter.get_tensor(known[name]["index"]), known[name]) for name in request["outputs"]]


def _stored(array: Any, detail: Mapping[str, Any]) -> Any:
    (scale, zero_point), dtype = detail["quantization"], detail["dtype"]
    if not scale or array.dtype.kind != "f":
        return array.astype(dtype)
    bits = 8 * dtype().itemsize
    low = 0 if dtype.__name__.startswith("u") else -(2 ** (bits - 1))
    return ((array / array.dtype.type(scale)).round() + zero_point).clip(low, low + 2**bits - 1).astype(dtype)


def _real(array: Any, detail: Mapping[str, Any]) -> Any:
    scale, zero_point = detail["quantization"]
    return (array.astype("float32") - zero_point) * array.astype("float32").dtype.type(scale) if scale else array
