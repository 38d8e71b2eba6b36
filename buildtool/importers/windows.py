"""Convolutions and pools over [N, ..., C] whose paddings depend on run-time sizes: the input is padded before them.

Such paddings are always those of `same_pads`: they give ceil(size / stride) windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, ceil_div
from buildtool.ops._shapes import extent


def windowed(step: Step, op: str, x: Tensor, *operands: Tensor, **attributes: Any) -> Tensor:
    """The output of an operator that moves a window; its `pads` may be run-time dimensions."""
    pads, rank = attributes["pads"], x.rank - 2
    if all(isinstance(pad, int) for pad in pads):
        return step.emit(op, x, *operands, **attributes)
    kernel = attributes.get("kernel") or operands[0].shape[slice(0, -1) if op == "dwconv2d" else slice(1, -1)]
    rules = zip(x.shape[1:-1], kernel, attributes["strides"], attributes["dilations"], strict=True)
    sizes = [_padded_size(*rule) for rule in rules]
    attributes["pads"] = (0,) * (2 * rank)
    if op == "avg_pool2d" and not attributes["count_include_pad"]:
        # A mean over windows with zeros in them, divided by the share of each window that is inside of the input.
        ones = step.emit("broadcast_to", step.filled((1,) * x.rank, 1, x.dtype), shape=(1, *x.shape[1:-1], 1))
        share = step.emit(op, _padded(step, ones, pads, sizes, 0.0), **attributes)
        return step.emit("div", step.emit(op, _padded(step, x, pads, sizes, 0.0), **attributes), share)
    value = -np.inf if op == "max_pool2d" else 0.0
    return step.emit(op, _padded(step, x, pads, sizes, value), *operands, **attributes)


def _padded_size(size: Dim, width: int, stride: int, dilation: int) -> Dim:
    """What ceil(size / stride) windows span."""
    return (ceil_div(size, stride) - 1) * stride + extent(width, dilation)


def _padded(step: Step, x: Tensor, pads: Sequence[Dim], sizes: Sequence[Dim], value: float) -> Tensor:
    """The input of the windows; `sizes`: how large it is along axes of run-time paddings."""
    rank = len(sizes)
    before, after = (0, *pads[:rank], 0), (0, *pads[rank:], 0)
    fixed = [isinstance(one, int) and isinstance(other, int) for one, other in zip(before, after, strict=True)]
    known = [None if fixed[1 + axis] else size for axis, size in enumerate(sizes)]
    return padded(step, x, before, after, value, (None, *known, None))


def padded(
    step: Step,
    x: Tensor,
    before: Sequence[Dim],
    after: Sequence[Dim],
    value: float,
    sizes: Sequence[Dim | None] | None = None,
) -> Tensor:
    """A border of run-time widths, also below 0: the widest one, cut. `sizes`: simpler forms of the resulting sizes."""
    ends = [tuple(max(bounds(width)[1], 0) for width in widths) for widths in (before, after)]
    wide = step.emit("pad", x, before=ends[0], after=ends[1], mode="constant", value=value)
    known = sizes or (None,) * x.rank
    exact = [dim + one + other for dim, one, other in zip(x.shape, before, after, strict=True)]
    return step.emit(
        "slice",
        wide,
        starts=tuple(most - width for most, width in zip(ends[0], before, strict=True)),
        steps=(1,) * x.rank,
        sizes=tuple(size if given is None else given for size, given in zip(exact, known, strict=True)),
    )
