"""Convolutions: images with the channels first, filters turned as constants."""

from __future__ import annotations

from typing import Any

from buildtool.exporters.onnx.handlers.activations import activated
from buildtool.exporters.onnx.orders import channels_first
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step


def _window(step: Step) -> dict[str, Any]:
    """Attributes that are the defaults are left out."""
    op = step.op
    found: dict[str, Any] = {}
    for key, usual in (("strides", 1), ("pads", 0), ("dilations", 1)):
        if any(number != usual for number in getattr(op, key)):
            found[key] = list(getattr(op, key))
    return found


def _image(step: Step, index: int = 0) -> str:
    return step.input(index, channels_first(step.value(index).type.rank))


def _filters(step: Step, index: int = 1) -> str:
    """O, sides, C to O, C, sides."""
    return _image(step, index)


def _give(step: Step, name: str) -> None:
    step.give(name, order=channels_first(step.node.outputs[0].type.rank))


@handler("conv2d", "conv3d", channels_first=True)
def convolution(step: Step) -> None:
    groups = step.op.groups if step.op.groups > 1 else None
    y = step.emit("Conv", _image(step), _filters(step), step.input(2), group=groups, **_window(step))
    if step.has(3):
        y = step.emit("Add", y, _image(step, 3))
    _give(step, activated(step, y))


@handler("dwconv2d", channels_first=True)
def depthwise(step: Step) -> None:
    height, width, filters = step.known_shape(1)
    turned = step.transposed(step.forms.name(step.value(1)), (2, 0, 1))
    weights = step.writer.reshaped(turned, (filters, 1, height, width), step.value(1).name)
    groups = filters // step.op.multiplier
    y = step.emit("Conv", _image(step), weights, step.input(2), group=groups, **_window(step))
    _give(step, activated(step, y))


def _depthwise_behind(step: Step, image: str) -> str:
    """The depthwise convolution of an operator that holds another one too: with inputs 3 and 4."""
    height, width, channels = step.known_shape(3)
    turned = step.transposed(step.forms.name(step.value(3)), (2, 0, 1))
    weights = step.writer.reshaped(turned, (channels, 1, height, width), step.value(3).name)
    return step.emit("Conv", image, weights, step.input(4), group=channels, **_window(step))


@handler("pointwise_dwconv2d", channels_first=True)
def pointwise_depthwise(step: Step) -> None:
    between = activated(step, step.emit("Conv", _image(step), _filters(step), step.input(2)), step.op.pointwise)
    _give(step, activated(step, _depthwise_behind(step, between)))


@handler("separable_conv2d", channels_first=True)
def separable(step: Step) -> None:
    between = activated(step, _depthwise_behind(step, _image(step)), step.op.depthwise)
    y = step.emit("Conv", between, _filters(step), step.input(2))
    if step.has(5):
        y = step.emit("Add", y, _image(step, 5))
    _give(step, activated(step, y))


@handler("deconv2d", "deconv3d", channels_first=True)
def transposed_convolution(step: Step) -> None:
    """Their filters are [C, O / groups, sides]: those of a group stand together along C."""
    groups = step.op.groups
    outputs, *sides, inputs = step.known_shape(1)
    rank = len(sides)
    parts = step.writer.reshaped(step.input(1), (groups, outputs // groups, *sides, inputs), "filters")
    turned = step.transposed(parts, (0, rank + 2, 1, *range(2, rank + 2)))
    weights = step.writer.reshaped(turned, (groups * inputs, outputs // groups, *sides), "filters")
    extra = list(step.op.output_padding) if any(step.op.output_padding) else None
    shown = groups if groups > 1 else None
    y = step.emit(
        "ConvTranspose", _image(step), weights, step.input(2), group=shown, output_padding=extra, **_window(step)
    )
    _give(step, activated(step, y))


@handler("conv_integer", channels_first=True)
def conv_integer(step: Step) -> None:
    groups = step.op.groups if step.op.groups > 1 else None
    zeros = (step.input(2), step.input(3))
    _give(step, step.emit("ConvInteger", _image(step), _filters(step), *zeros, group=groups, **_window(step)))


@handler("qlinear_conv", channels_first=True)
def qlinear_conv(step: Step) -> None:
    scales = [step.input(index) for index in (1, 2, 4, 5, 6, 7, 8)]
    groups = step.op.groups if step.op.groups > 1 else None
    operands = (_image(step), *scales[:2], _filters(step, 3), *scales[2:])
    _give(step, step.emit("QLinearConv", *operands, group=groups, **_window(step)))


@handler("deform_conv2d", channels_first=True)
def deformable(step: Step) -> None:
    op = step.op
    mask = _image(step, 4) if step.has(4) else ""
    operands = (_image(step), _filters(step), _image(step, 2), step.input(3), mask)
    shown = {"group": op.groups, "offset_group": op.offset_groups}
    _give(step, step.emit("DeformConv", *operands, **shown, **_window(step)))


# -- windows without filters -------------------------------------------------------------------------------------------
def _ceil_mode(step: Step, first: int) -> int | None:
    """1 where a window that hangs over the end counts; `first` is the first spatial axis.

    Not where rounding down gives the same number: a last window that would start in the padding counts nowhere, but
    not everybody knows.
    """
    op = step.op
    before, after = step.value(0).type.shape[first:], step.node.outputs[0].type.shape[first:]
    for axis, kernel in enumerate(op.kernel):
        size, count = before[axis], after[axis]
        if not isinstance(size, int) or not isinstance(count, int):
            return int(op.ceil_mode) or None
        room = size + op.pads[axis] + op.pads[axis + len(op.kernel)] - (kernel - 1) * op.dilations[axis] - 1
        if count != room // op.strides[axis] + 1:
            return 1
    return None


@handler("max_pool2d", "avg_pool2d", channels_first=True)
def pool(step: Step) -> None:
    op = step.op
    shown: dict[str, Any] = {"kernel_shape": list(op.kernel), "ceil_mode": _ceil_mode(step, 1)}
    if op.name == "avg_pool2d":
        shown["count_include_pad"] = int(op.count_include_pad) or None
    kind = "MaxPool" if op.name == "max_pool2d" else "AveragePool"
    _give(step, step.compute(kind, _image(step), **shown, **_window(step)))


@handler("max_pool_indices")
def max_pool_indices(step: Step) -> None:
    op = step.op
    names = step.emit_many(
        "MaxPool",
        2,
        step.input(0),
        kernel_shape=list(op.kernel),
        ceil_mode=_ceil_mode(step, 2),
        storage_order=int(op.column_major),
        **_window(step),
    )
    for index, name in enumerate(names):
        step.give(name, index)


@handler("roi_align", channels_first=True)
def roi_align(step: Step) -> None:
    op = step.op
    y = step.emit(
        "RoiAlign",
        _image(step),
        step.input(1),
        step.input(2),
        output_height=op.size[0],
        output_width=op.size[1],
        sampling_ratio=op.samples,
        spatial_scale=op.scale,
        mode="avg" if op.mode == "mean" else "max",
        coordinate_transformation_mode="half_pixel" if op.half_pixel else "output_half_pixel",
    )
    _give(step, y)


@handler("max_roi_pool", channels_first=True)
def max_roi_pool(step: Step) -> None:
    op = step.op
    y = step.emit("MaxRoiPool", _image(step), step.input(1), pooled_shape=list(op.size), spatial_scale=op.scale)
    _give(step, y)


@handler("grid_sample", channels_first=True)
def grid_sample(step: Step) -> None:
    op = step.op
    grid = step.forms.name(step.value(1))
    y = step.emit(
        "GridSample", _image(step), grid, mode=op.mode, padding_mode=op.padding, align_corners=int(op.align_corners)
    )
    _give(step, y)
