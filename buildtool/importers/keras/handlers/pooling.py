"""Pools over one to three spatial axes; those over everything are reductions."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import (
    as_it_was,
    channels_last,
    floating,
    is_channels_first,
    one_axis,
    only,
    sizes,
    two_axes,
)
from buildtool.importers.pools import Window, adapted, boxes
from buildtool.importers.spatial import lifted, same_pads
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim

_WINDOWS = {"1D": 1, "2D": 2, "3D": 3}


@handler("MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "MaxPool1D", "MaxPool2D", "MaxPool3D")
def max_pool(step: Step) -> Tensor:
    return _pooled(step, "max_pool2d", {})


@handler("AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "AvgPool1D", "AvgPool2D", "AvgPool3D")
def average_pool(step: Step) -> Tensor:
    """What is padded does not count."""
    return _pooled(step, "avg_pool2d", {"count_include_pad": False})


def _pooled(step: Step, op: str, more: dict[str, AttrValue]) -> Tensor:
    rank = _WINDOWS[step.node.op[-2:]]
    x = two_axes(step, channels_last(step, floating(step, only(step)), rank))
    kernel = sizes(step, "pool_size", rank, (2,) * rank)
    strides = kernel if step.attribute("strides") is None else sizes(step, "strides", rank)
    kernel, strides = lifted(kernel, 1), lifted(strides, 1)
    padding = step.text("padding", "valid")
    if padding not in ("same", "valid"):
        step.malformed(f"the padding is '{padding}'")
    pads: tuple[Dim, ...] = (0,) * (2 * len(kernel))
    if padding == "same":
        pads = same_pads(step, x.shape[1:-1], kernel, strides, (1,) * len(kernel))
    window = Window(kernel, strides, pads, (1,) * len(kernel))
    y = boxes(step, x, op, window, {"ceil_mode": False, **more})
    return as_it_was(step, one_axis(step, y, rank + 2))


@handler("GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D")
@handler("GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalAvgPool3D")
def global_average_pool(step: Step) -> Tensor:
    return _whole(step, "reduce_mean")


@handler(
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "GlobalMaxPool3D",
    "GlobalMaxPool2D",
    "GlobalMaxPool1D",
)
def global_max_pool(step: Step) -> Tensor:
    return _whole(step, "reduce_max")


def _whole(step: Step, op: str) -> Tensor:
    x, rank = floating(step, only(step)), _WINDOWS[step.node.op[-2:]]
    if x.rank != rank + 2:
        step.malformed(f"its input has rank {x.rank}, not {rank + 2}")
    first = 2 if is_channels_first(step) else 1
    return step.emit(op, x, axes=tuple(range(first, first + rank)), keepdims=bool(step.integer("keepdims", 0)))


@handler("AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D")
def adaptive_average_pool(step: Step) -> Tensor:
    return _to_a_size(step, "avg")


@handler("AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D")
def adaptive_max_pool(step: Step) -> Tensor:
    return _to_a_size(step, "max")


def _to_a_size(step: Step, kind: str) -> Tensor:
    x, rank = floating(step, only(step)), _WINDOWS[step.node.op[-2:]]
    if x.rank != rank + 2:
        step.malformed(f"its input has rank {x.rank}, not {rank + 2}")
    first = 2 if is_channels_first(step) else 1
    for axis, count in enumerate(sizes(step, "output_size", rank), first):
        x = adapted(step, x, axis, count, kind)
    return x
