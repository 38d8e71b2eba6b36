"""Convolutions and pools over [N, ..., C] whose paddings depend on run-time sizes: the input is padded before them.

Such paddings are always those of `same_pads`: they give ceil(size / stride) windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, DimExpr, bounds, ceil_div
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
    """The widest paddings on all sides, cut to those of the size at run time."""
    rank = len(sizes)
    wide = step.emit(
        "pad",
        x,
        before=(0, *(_most(pad) for pad in pads[:rank]), 0),
        after=(0, *(_most(pad) for pad in pads[rank:]), 0),
        mode="constant",
        value=value,
    )
    starts = [_most(pad) - pad for pad in pads[:rank]]
    fixed = [not isinstance(pads[axis], DimExpr) and not isinstance(pads[axis + rank], DimExpr) for axis in range(rank)]
    kept = [wide.shape[1 + axis] if fixed[axis] else sizes[axis] for axis in range(rank)]
    return step.emit(
        "slice",
        wide,
        starts=(0, *starts, 0),
        steps=(1,) * x.rank,
        sizes=(x.shape[0], *kept, x.shape[-1]),
    )


def _most(pad: Dim) -> int:
    return bounds(pad)[1]
