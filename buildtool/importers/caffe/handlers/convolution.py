"""Convolutions, transposed ones, and fully connected layers."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import axis_of, blob, bottoms, known_sizes, picture, row, sides
from buildtool.importers.caffe.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels, from_channels_last, to_channels_last
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import product


@handler("Convolution", "ConvolutionDepthwise", "DepthwiseConvolution")
def convolution(step: Step) -> Sequence[Tensor]:
    """Every bottom gives a top, with the same weights."""
    return [_convolved(step, index) for index in range(len(bottoms(step)))]


def _convolved(step: Step, index: int) -> Tensor:
    x = picture(step, index)
    deep = channels(step, x)
    kernel, window = _window(step)
    filters = step.integer("num_output")
    groups = step.integer("group", 1 if step.node.op == "Convolution" else deep)
    if groups < 1 or deep % groups or filters < 1 or filters % groups:
        step.malformed(f"{groups} groups, {deep} channels and {filters} outputs do not fit")
    weights = step.reshape(blob(step, 0, "filter"), (filters, deep // groups, *kernel))
    bias = _bias(step, filters)
    moved = to_channels_last(step, x)
    if groups == deep and groups > 1:
        flat = step.transpose(step.reshape(weights, (filters, *kernel)), (1, 2, 0))
        y = step.emit("dwconv2d", moved, flat, *bias, multiplier=filters // groups, **window, **NO_ACTIVATION)
    else:
        last = step.transpose(weights, (0, 2, 3, 1))
        y = step.emit("conv2d", moved, last, *bias, groups=groups, **window, **NO_ACTIVATION)
    return from_channels_last(step, y, 4)


def _bias(step: Step, count: int) -> tuple[Tensor, ...]:
    return (row(step, 1, "bias", count),) if step.integer("bias_term", 1) else ()


def _window(step: Step) -> tuple[tuple[int, int], dict[str, AttrValue]]:
    """The sides of the filter, and how it moves."""
    if step.integer("axis", 1) not in (1, -3):
        step.unsupported(f"channels along axis {step.integer('axis')}", "axis 1 is supported")
    kernel = sides(step, "kernel_size", "kernel", None, 1)
    strides = sides(step, "stride", "stride", 1, 1)
    pads = sides(step, "pad", "pad", 0, 0)
    dilations = sides(step, "dilation", "dilation", 1, 1)
    return kernel, {"strides": strides, "pads": (*pads, *pads), "dilations": dilations}


@handler("Deconvolution")
def deconvolution(step: Step) -> Sequence[Tensor]:
    return [_deconvolved(step, index) for index in range(len(bottoms(step)))]


def _deconvolved(step: Step, index: int) -> Tensor:
    x = picture(step, index)
    deep = channels(step, x)
    kernel, window = _window(step)
    filters, groups = step.integer("num_output"), step.integer("group", 1)
    if groups < 1 or deep % groups or filters < 1 or filters % groups:
        step.malformed(f"{groups} groups, {deep} channels and {filters} outputs do not fit")
    # [C, O/groups, KH, KW] -> [O, KH, KW, C/groups]
    split = step.reshape(blob(step, 0, "filter"), (groups, deep // groups, filters // groups, *kernel))
    turned = step.transpose(split, (0, 2, 3, 4, 1))
    y = step.emit(
        "deconv2d",
        to_channels_last(step, x),
        step.reshape(turned, (filters, *kernel, deep // groups)),
        *_bias(step, filters),
        output_padding=(0, 0),
        groups=groups,
        **window,
        **NO_ACTIVATION,
    )
    return from_channels_last(step, y, 4)


@handler("InnerProduct")
def inner_product(step: Step) -> Sequence[Tensor]:
    tensors = bottoms(step)
    return [_product(step, x) for x in tensors]


def _product(step: Step, x: Tensor) -> Tensor:
    axis = axis_of(step, x)
    deep, made = product(known_sizes(step, x.shape[axis:], "a fully connected part")), step.integer("num_output")
    weights = blob(step, 0, "weights")
    if step.integer("transpose", 0):
        weights = step.transpose(step.reshape(weights, (deep, made)), (1, 0))
    else:
        weights = step.reshape(weights, (made, deep))
    rows = step.reshape(x, (*x.shape[:axis], deep))
    return step.emit("fully_connected", rows, weights, *_bias(step, made), **NO_ACTIVATION)
