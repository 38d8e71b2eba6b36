"""Normalisations: with statistics from training, of neighbours, of whole blobs; and softmax."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import axis_of, blob_count, content_of, numbers, picture, row
from buildtool.importers.caffe.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels, from_channels_last, to_channels_last
from buildtool.importers.step import Step

_LP_LEAST = 1e-6  # added to the norms of MACE's layers


@handler("BatchNorm")
def batch_norm(step: Step) -> Tensor:
    """The blobs hold mean and variance as sums, followed by their weight."""
    x = step.input(0)
    if not step.integer("use_global_stats", 1):
        step.unsupported("statistics of the batch", "inference needs use_global_stats: true")
    if x.rank < 2:
        step.malformed(f"its bottom has rank {x.rank}, and there are no channels")
    count = channels(step, x)
    weights = numbers(step, 2, "weight of the statistics")
    if weights.size != 1:
        step.malformed(f"{weights.size} weights of the statistics")
    weight = float(weights[0])
    factor = np.float32(1.0 / weight if weight else 0.0)
    mean, variance = (
        content_of(step, row(step, index, what, count), what) for index, what in ((0, "mean"), (1, "variance"))
    )
    one, zero = np.ones(count, np.float32), np.zeros(count, np.float32)
    last = (0, *range(2, x.rank), 1)
    y = step.emit(
        "batch_norm",
        step.transpose(x, last),
        *(step.constant(numbers_) for numbers_ in (one, zero, mean * factor, variance * factor)),
        epsilon=step.real("eps", 1e-5),
    )
    return step.transpose(y, (0, x.rank - 1, *range(1, x.rank - 1)))


@handler("GroupNorm")
def group_norm(step: Step) -> Tensor:
    """MACE's: without a scale and a bias of its own."""
    x = picture(step)
    count, groups = channels(step, x), step.integer("group_num", 32)
    if groups < 1 or count % groups:
        step.malformed(f"{count} channels cannot be divided into {groups} groups")
    one, zero = step.filled((count,), 1.0, x.dtype), step.filled((count,), 0.0, x.dtype)
    y = step.emit("group_norm", to_channels_last(step, x), one, zero, groups=groups, epsilon=step.real("eps", 1e-5))
    return from_channels_last(step, y, 4)


@handler("LRN")
def local_response(step: Step) -> Tensor:
    x, size = to_channels_last(step, picture(step)), step.integer("local_size", 5)
    alpha, beta = step.real("alpha", 1.0), step.real("beta", 0.75)
    if size < 1 or size % 2 == 0:
        step.malformed(f"'local_size' is {size}, which is not odd")
    if step.text("norm_region", "ACROSS_CHANNELS") == "ACROSS_CHANNELS":
        whole = alpha if step.integer("norm_by_size", 1) else alpha * size
        y = step.emit("lrn", x, size=size, alpha=whole, beta=beta, bias=step.real("k", 1.0))
        return from_channels_last(step, y, 4)
    side = (size - 1) // 2
    step.check_table(size, size)
    mean = step.emit(
        "avg_pool2d",
        step.emit("mul", x, x),
        kernel=(size, size),
        strides=(1, 1),
        pads=(side, side, side, side),
        dilations=(1, 1),
        ceil_mode=False,
        count_include_pad=True,
    )
    base = _moved(step, _times(step, mean, alpha), 1.0)
    factor = step.emit("pow", base, step.constant(np.array(-beta, np.float32)))
    return from_channels_last(step, step.emit("mul", x, factor), 4)


@handler("MVN")
def mean_and_variance(step: Step) -> Tensor:
    """Less the mean, and divided by the deviation."""
    x = step.input(0)
    if x.rank < 2:
        step.malformed(f"its bottom has rank {x.rank}")
    axes = tuple(range(1 if step.integer("across_channels", 0) else 2, x.rank))
    apart = step.emit("sub", x, step.emit("reduce_mean", x, axes=axes, keepdims=True))
    if not step.integer("normalize_variance", 1):
        return apart
    variance = step.emit("reduce_mean", step.emit("mul", apart, apart), axes=axes, keepdims=True)
    return step.emit("div", apart, _moved(step, step.emit("sqrt", variance), step.real("eps", 1e-9)))


@handler("Normalize")
def normalize(step: Step) -> Tensor:
    """SSD's: to the length 1 at each place, or as a whole; times a scale."""
    x = step.input(0)
    if x.rank < 2:
        step.malformed(f"its bottom has rank {x.rank}")
    axes = tuple(range(1, x.rank)) if step.integer("across_spatial", 1) else (1,)
    total = step.emit("reduce_sum", step.emit("mul", x, x), axes=axes, keepdims=True)
    y = step.emit("div", x, step.emit("sqrt", _moved(step, total, step.real("eps", 1e-10))))
    if not blob_count(step):
        return y
    count = 1 if step.integer("channel_shared", 1) else channels(step, x)
    scale = step.reshape(row(step, 0, "scale", count), (count, *(1 for _ in x.shape[2:])))
    return step.emit("mul", y, scale)


@handler("L1Normalization", "L2Normalization")
def lp_normalization(step: Step) -> Tensor:
    """MACE's: divided by the norm over an axis and all behind it."""
    x = step.input(0)
    axes = tuple(range(axis_of(step, x, default=-1), x.rank))
    if step.node.op == "L1Normalization":
        norm = step.emit("reduce_sum", step.emit("abs", x), axes=axes, keepdims=True)
    else:
        norm = step.emit("sqrt", step.emit("reduce_sum", step.emit("mul", x, x), axes=axes, keepdims=True))
    return step.emit("div", x, _moved(step, norm, step.real("eps", _LP_LEAST)))


@handler("Softmax")
def softmax(step: Step) -> Tensor:
    x = step.input(0)
    return step.emit("softmax", x, axis=axis_of(step, x))


def _times(step: Step, x: Tensor, factor: float) -> Tensor:
    return step.emit("mul", x, step.constant(np.array(factor, np.float32)))


def _moved(step: Step, x: Tensor, shift: float) -> Tensor:
    return step.emit("add", x, step.constant(np.array(shift, np.float32)), **NO_ACTIVATION)
