"""Pools."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import SPATIAL, picture, sides
from buildtool.importers.caffe.registry import handler
from buildtool.importers.spatial import from_channels_last, to_channels_last
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue


@handler("Pooling")
def pooling(step: Step) -> Tensor:
    """A mean counts the padding, but not what hangs over it."""
    x, method = picture(step), step.text("pool", "MAX")
    if method == "STOCHASTIC":
        step.unsupported("stochastic pooling", "train the network with MAX or AVE")
    if step.integer("global_pooling", 0):
        if max(sides(step, "pad", "pad", 0, 0)):
            step.malformed("a global pool with padding")
        return step.emit("reduce_max" if method == "MAX" else "reduce_mean", x, axes=SPATIAL, keepdims=True)
    kernel, strides = sides(step, "kernel_size", "kernel", None, 1), sides(step, "stride", "stride", 1, 1)
    pads = sides(step, "pad", "pad", 0, 0)
    ceil = step.text("round_mode", "CEIL" if step.integer("ceil_mode", 1) else "FLOOR") == "CEIL"
    for axis in range(2):
        _check_windows(step, x, axis, kernel[axis], strides[axis], pads, ceil)
    window: dict[str, AttrValue] = {
        "kernel": kernel,
        "strides": strides,
        "pads": (*pads, *pads),
        "dilations": (1, 1),
        "ceil_mode": ceil,
    }
    moved = to_channels_last(step, x)
    if method == "MAX":
        y = step.emit("max_pool2d", moved, **window)
    else:
        y = step.emit("avg_pool2d", moved, count_include_pad=True, **window)
    return from_channels_last(step, y, 4)


def _check_windows(
    step: Step, x: Tensor, axis: int, kernel: int, stride: int, pads: tuple[int, int], ceil: bool
) -> None:
    """Caffe refuses paddings as large as the window, and without any padding counts windows behind the end."""
    if pads[axis] >= kernel:
        step.malformed(f"a padding of {pads[axis]} for windows of {kernel}")
    size = x.shape[2 + axis]
    if (
        ceil
        and not any(pads)
        and kernel < stride
        and isinstance(size, int)
        and -(-(size - kernel) // stride) * stride >= size
    ):
        step.unsupported(
            f"a window of {kernel} elements every {stride} that starts after the {size} elements of its input",
            "round_mode: FLOOR omits it",
        )
