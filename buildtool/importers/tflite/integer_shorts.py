"""Products with activations of 16 bits as the file stores them, beside the nodes that compute them in floats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tflite.values import output_quantisation, quantisation, stored_bounds
from buildtool.ir.attributes import AttrValue
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_CHANNELS = {"conv16": 0, "depthwise16": 3, "dense16": 0}  # the axis of the filters


def keep_product(step: Step, y: Tensor, kind: str, window: Mapping[str, AttrValue] | None = None) -> None:
    """Weights of 8 bits without zero points, biases of 64. Other layers have the nodes only."""
    of_x, of_w, of_y = quantisation(step, 0), quantisation(step, 1), output_quantisation(step)
    if of_x is None or of_w is None or of_y is None:
        return
    weights, bias = step.input(1).content, step.optional(2)
    row = np.zeros(1, np.int64) if bias is None else bias.content
    fits = step.input(0).dtype is DType.S16 and step.made_dtype(0) is DType.S16
    fits = fits and all(quant.axis is None and quant.zero_points == (0,) for quant in (of_x, of_y))
    fits = fits and not any(of_w.zero_points) and of_w.axis in (None, _CHANNELS[kind])
    if not fits or weights is None or weights.dtype != np.int8 or row is None or row.dtype != np.int64:
        return
    pads = () if window is None else window["pads"]
    if not isinstance(pads, tuple) or not all(isinstance(pad, int) for pad in pads):
        return
    if kind == "conv16" and step.input(0).shape[3] != weights.shape[3]:
        return
    bounds = stored_bounds(step, of_y, DType.S16)
    if bounds is None:
        return
    numbers = {
        "input_scale": of_x.scales[0],
        "output_scale": of_y.scales[0],
        "low": bounds[0],
        "high": bounds[1],
        **({} if window is None else _numbers(window)),
    }
    filters = _filters(weights, kind)
    arrays = {
        "weights": filters,
        "scales": np.array(of_w.scales, np.float32),
        "bias": np.broadcast_to(row.astype(np.int64).reshape(-1), (len(filters),)),
    }
    step.keep_stored(kind, [step.input(0)], [y], arrays, numbers)


def _filters(weights: Array, kind: str) -> Array:
    """[O, KH, KW, I]"""
    if kind == "depthwise16":
        return np.ascontiguousarray(weights.transpose(3, 1, 2, 0))
    return weights if kind == "conv16" else weights.reshape(weights.shape[0], 1, 1, -1)


def _numbers(window: Mapping[str, AttrValue]) -> dict[str, float]:
    found: dict[str, float] = {}
    for word, key in (("stride", "strides"), ("dilation", "dilations")):
        pair = window[key]
        assert isinstance(pair, tuple)
        found |= {f"{word}_{axis}": float(size) for axis, size in zip("hw", pair, strict=True)}  # type: ignore[arg-type]
    pads = window["pads"]
    assert isinstance(pads, tuple)
    top, left = (float(pad) for pad in pads[:2] if isinstance(pad, int))
    return {**found, "pad_h": top, "pad_w": left}
