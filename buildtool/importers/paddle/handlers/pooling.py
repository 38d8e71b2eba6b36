"""Pools: plain, global and adaptive ones, of pictures and of volumes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.handlers.convolution import image, numbers, pads
from buildtool.importers.paddle.registry import Outputs, handler, maybe, one, wants
from buildtool.importers.paddle.values import flag, part, to_first, whole
from buildtool.importers.pools import adapted
from buildtool.importers.spatial import fixed_pads
from buildtool.importers.step import Step
from buildtool.importers.windows import windowed
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim, product
from buildtool.ir.types import DType


@dataclass(frozen=True)
class _Window:
    """One entry per spatial axis; `pads` has those before and then those behind."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[Dim, ...]
    ceil_mode: bool

    def along(self, *axes: int | None) -> dict[str, AttrValue]:
        """The attributes of a pool over two of the axes; None is an axis where nothing happens."""

        def picked(values: tuple[Dim, ...], idle: int) -> tuple[Dim, ...]:
            return tuple(idle if axis is None else values[axis] for axis in axes)

        rank = len(self.kernel)
        return {
            "kernel": picked(self.kernel, 1),
            "strides": picked(self.strides, 1),
            "pads": picked(self.pads[:rank], 0) + picked(self.pads[rank:], 0),
            "dilations": (1, 1),
            "ceil_mode": self.ceil_mode,
        }


@handler("pool2d", "pool3d")
def pool(step: Step) -> Tensor:
    x, last = image(step, "X")
    kind = step.text("pooling_type", "max")
    if kind not in ("max", "avg"):
        step.malformed(f"the attribute 'pooling_type' is '{kind}'")
    kernel = _kernel(step, x.rank - 2)
    if flag(step, "global_pooling") or (flag(step, "adaptive") and set(kernel) == {1}):
        axes = tuple(range(1, x.rank - 1))
        y = step.emit("reduce_max" if kind == "max" else "reduce_mean", x, axes=axes, keepdims=True)
    elif flag(step, "adaptive"):
        y = x
        for axis, size in enumerate(kernel):
            y = adapted(step, y, 1 + axis, size, kind)
    else:
        y = _pooled(step, x, kind, kernel)
    return y if last else to_first(step, y)


def _kernel(step: Step, rank: int) -> tuple[int, ...]:
    kernel = whole(step, "ksize", "KernelSize")
    if len(kernel) == 1:
        kernel *= rank
    if len(kernel) != rank or (any(side < 1 for side in kernel) and not flag(step, "global_pooling")):
        step.malformed(f"a window of {list(kernel)} for {rank} axes")
    return kernel


def _pooled(step: Step, x: Tensor, kind: str, kernel: tuple[int, ...]) -> Tensor:
    rank = len(kernel)
    strides, idle = numbers(step, "strides", rank), (1,) * rank
    window = _Window(kernel, strides, pads(step, x.shape[1:-1], kernel, strides, idle), flag(step, "ceil_mode"))
    if window.ceil_mode:
        _check_last_window(step, x, window)
    more: dict[str, AttrValue] = {}
    if kind == "avg":
        more["count_include_pad"] = not flag(step, "exclusive", True)
    op = "max_pool2d" if kind == "max" else "avg_pool2d"
    y = _over_two_axes(step, x, op, rank - 2, window.along(rank - 2, rank - 1) | more)
    for axis in reversed(range(rank - 2)):
        y = _over_two_axes(step, y, op, axis, window.along(axis, None) | more)
    return y


def _over_two_axes(step: Step, x: Tensor, op: str, first: int, attributes: dict[str, AttrValue]) -> Tensor:
    """A pool over spatial axis `first` and all behind it as one; the spatial axes before it count as batch."""
    if x.rank == 4:
        return windowed(step, op, x, **attributes)
    axis = 1 + first
    before, behind = x.shape[:axis], x.shape[axis + 1 : -1]
    y = windowed(
        step, op, step.reshape(x, (product(before), x.shape[axis], product(behind), x.shape[-1])), **attributes
    )
    if len(behind) == 1:  # then the second axis was pooled as well
        behind = y.shape[2:3]
    return step.reshape(y, (*before, y.shape[1], *behind, x.shape[-1]))


def _check_last_window(step: Step, x: Tensor, window: _Window) -> None:
    """Paddle also keeps a last window that lies in the padding alone; the graph has no such windows."""
    rank, around = len(window.kernel), fixed_pads(step, window.pads)
    for axis, (side, stride) in enumerate(zip(window.kernel, window.strides, strict=True)):
        size, before, after = x.shape[1 + axis], around[axis], around[axis + rank]
        if after + stride <= side:
            continue
        if not isinstance(size, int):
            step.unsupported("ceil_mode with windows that can start in the padding", "fix the input shapes")
        count = -(-(size + before + after - side) // stride) + 1
        if (count - 1) * stride >= size + before:
            step.unsupported("ceil_mode with a window that starts in the padding", "choose other paddings")


@handler("max_pool2d_with_index")
def pool_with_places(step: Step) -> Outputs:
    """Channels are first here. The places count within one channel of one picture."""
    x = one(step, "X")
    if flag(step, "adaptive") or flag(step, "global_pooling"):
        return {"Out": _adapted_to(step, x)}
    rank = x.rank - 2
    kernel, strides = _kernel(step, rank), numbers(step, "strides", rank)
    y, places = step.emit_all(
        "max_pool_indices",
        x,
        kernel=kernel,
        strides=strides,
        pads=pads(step, x.shape[2:], kernel, strides, (1,) * rank),
        dilations=(1,) * rank,
        ceil_mode=flag(step, "ceil_mode"),
        column_major=False,
    )
    if not wants(step, "Mask"):
        return {"Out": y}
    area = product(x.shape[2:])
    if not isinstance(area, int):
        step.unsupported("places in images of a run-time size", "fix the input shapes")
    within = step.emit("mod", places, step.constant(np.array(area, np.int64)), fmod=False)
    return {"Out": y, "Mask": step.emit("cast", within, to=DType.S32)}


def _adapted_to(step: Step, x: Tensor) -> Tensor:
    """An adaptive or global pool without places."""
    sizes = (1,) * (x.rank - 2) if flag(step, "global_pooling") else _kernel(step, x.rank - 2)
    for axis, size in enumerate(sizes):
        x = adapted(step, x, 2 + axis, size, "max")
    return x


@handler("unpool")
def unpool(step: Step) -> Tensor:
    """Elements go back to where they came from; everything else is 0."""
    x, places = one(step, "X"), one(step, "Indices")
    wanted = whole(step, "output_size", "OutputSize")
    if len(wanted) < 2 or maybe(step, "Indices") is None or x.rank != 4:
        step.malformed("its sizes are not those of images")
    height, width = wanted[-2:]
    batch, depth, *spatial = x.shape
    count: Dim = product(spatial)
    flat, where = (step.reshape(item, (batch, depth, count)) for item in (x, places))
    zeros = step.emit("broadcast_to", step.filled((), 0, x.dtype), shape=(batch, depth, height * width))
    y = step.emit("scatter_elements", zeros, where, flat, axis=2, reduction="none")
    return step.reshape(y, (batch, depth, height, width))


@handler("temporal_shift")
def temporal_shift(step: Step) -> Tensor:
    """Of each film, a share of the channels comes from the picture before, a share from the one behind."""
    x, count, ratio = one(step, "X"), step.integer("seg_num"), step.real("shift_ratio", 0.25)
    if x.rank != 4 or not 0 <= ratio <= 0.5:
        step.malformed(f"a share of {ratio} of the channels of a tensor of rank {x.rank}")
    batch, depth, *spatial = x.shape
    if not isinstance(depth, int) or count < 1:
        step.malformed(f"{depth} channels of videos of {count} images")
    films = step.reshape(x, (batch // count, count, depth, *spatial))
    first, second = int(depth * ratio), int(depth * 2 * ratio)
    pieces = []
    for start, end, before, after in ((0, first, 1, 0), (first, second, 0, 1), (second, depth, 0, 0)):
        piece = part(step, films, 2, start, end - start)
        if before or after:
            piece = step.emit(
                "pad", piece, before=(0, before, 0, 0, 0), after=(0, after, 0, 0, 0), mode="constant", value=0.0
            )
            piece = part(step, piece, 1, 0 if before else 1, count)
        pieces.append(piece)
    return step.reshape(step.emit("concat", *pieces, axis=2), x.shape)
