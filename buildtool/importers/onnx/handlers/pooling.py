"""MaxPool, AveragePool and the global pools, which are reductions."""

from __future__ import annotations

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.spatial import from_channels_last, pads_of, per_axis, spatial_rank, to_channels_last
from buildtool.importers.onnx.step import Step
from buildtool.ir.attributes import AttrValue


@handler("MaxPool")
def max_pool(step: Step) -> Tensor:
    if step.integer("storage_order", 0) != 0:
        step.unsupported("column-major indices")
    return _pool(step, "max_pool2d", {})


@handler("AveragePool")
def average_pool(step: Step) -> Tensor:
    return _pool(step, "avg_pool2d", {"count_include_pad": bool(step.integer("count_include_pad", 0))})


def _pool(step: Step, op: str, more: dict[str, AttrValue]) -> Tensor:
    x = step.input(0)
    rank = spatial_rank(step, x)
    if not step.has("kernel_shape"):
        step.malformed("the attribute 'kernel_shape' is missing")
    kernel = per_axis(step, "kernel_shape", rank)
    strides, dilations = per_axis(step, "strides", rank), per_axis(step, "dilations", rank)
    pads = pads_of(step, x, kernel, strides, dilations)
    y = step.emit(
        op,
        to_channels_last(step, x),
        kernel=kernel,
        strides=strides,
        pads=pads,
        dilations=dilations,
        ceil_mode=bool(step.integer("ceil_mode", 0)),
        **more,
    )
    return from_channels_last(step, y, x.rank)


@handler("GlobalAveragePool")
def global_average_pool(step: Step) -> Tensor:
    return _reduced(step, "reduce_mean")


@handler("GlobalMaxPool")
def global_max_pool(step: Step) -> Tensor:
    return _reduced(step, "reduce_max")


def _reduced(step: Step, op: str) -> Tensor:
    x = step.input(0)
    if x.rank < 3:
        step.malformed(f"its input has rank {x.rank}, not batch, channels and spatial axes")
    return step.emit(op, x, axes=tuple(range(2, x.rank)), keepdims=True)
