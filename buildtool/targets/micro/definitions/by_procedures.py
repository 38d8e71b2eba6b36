"""Definitions of operators that procedures of C compute as a whole (native/micro/ops/procedures.h)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from buildtool.ops.bitcast import Bitcast
from buildtool.ops.deform_conv2d import DeformConv2d
from buildtool.ops.max_roi_pool import MaxRoiPool
from buildtool.ops.roi_align import RoiAlign
from buildtool.targets.micro.definitions import expressions as ex
from buildtool.targets.micro.definitions.tracing import Traced, UntraceableError


def determinants(x: Traced) -> Traced:
    count, size = prod(x.shape[:-2]), x.shape[-1]
    return _called(x.shape[:-2], x, "lm_det", (x,), f"{count}, {size}", size * size)


def inverses(x: Traced) -> Traced:
    count, size = prod(x.shape[:-2]), x.shape[-1]
    return _called(x.shape, x, "lm_inverse", (x,), f"{count}, {size}", 2 * size * size)


def roi_align(op: RoiAlign, x: Traced, regions: Traced, pictures: Traced) -> Traced:
    about = (*_regions(op, x, regions), op.samples, int(op.half_pixel), int(op.mode == "max"))
    shape = (regions.shape[0], *op.size, x.shape[3])
    return _called(shape, x, "lm_roi_align", (x, regions, pictures.astype(np.int64)), _struct("lm_regions", about))


def max_roi_pool(op: MaxRoiPool, x: Traced, regions: Traced) -> Traced:
    about = (*_regions(op, x, regions), 0, 0, 0)
    shape = (regions.shape[0], *op.size, x.shape[3])
    return _called(shape, x, "lm_max_roi_pool", (x, regions), _struct("lm_regions", about))


def _regions(op: RoiAlign | MaxRoiPool, x: Traced, regions: Traced) -> tuple[Any, ...]:
    scale = np.format_float_scientific(np.float32(op.scale), unique=True, trim="0")
    return (*x.shape, regions.shape[0], *op.size, f"{scale}f")


def deform_conv2d(op: DeformConv2d, x: Traced, w: Traced, offsets: Traced, *rest: Traced) -> Traced:
    bias, mask = (*rest, None, None)[:2]
    sizes = (*x.shape, *offsets.shape[1:3], w.shape[0], *w.shape[1:3])
    about = (*sizes, *op.strides, *op.pads[:2], *op.dilations, op.groups, op.offset_groups)
    shape = (*offsets.shape[:3], w.shape[0])
    return _called(shape, x, "lm_deform_conv", (x, w, offsets, bias, mask), _struct("lm_deformed", about))


def bitcast(op: Bitcast, x: Traced) -> Traced:
    to = op.to.numpy
    if x.dtype.kind != "f" and to.kind != "f":
        return x.astype(to)
    if x.dtype.kind == to.kind:
        return x
    if x.dtype.itemsize != 4:
        raise UntraceableError(f"the bits of {x.dtype}")
    code = "lm_bits_of({0})" if x.dtype.kind == "f" else "lm_of_bits((uint32_t){0})"
    return Traced(ex.Map(x.shape, to, code, (x.expr,)))


def _struct(kind: str, numbers: Sequence[Any]) -> str:
    return f"&(const {kind}){{{', '.join(map(str, numbers))}}}"


def _called(
    shape: tuple[int, ...], x: Traced, name: str, operands: Sequence[Traced | None], about: str, scratch: int = 0
) -> Traced:
    known = tuple(each if each is None else each.expr for each in operands)
    return Traced(ex.Called(shape, x.dtype, name, known, about, scratch))
