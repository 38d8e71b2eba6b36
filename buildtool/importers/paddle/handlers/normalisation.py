"""Normalisations: by stored statistics (batch), per picture, per group of channels, per row, over neighbours."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import Outputs, handler, maybe, one, wants
from buildtool.importers.paddle.values import activated, flag, is_channels_last, plus, real, to_first, to_last
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step


@handler("batch_norm", "sync_batch_norm")
def batch_norm(step: Step) -> Outputs:
    x = one(step, "X")
    last = is_channels_last(step) or x.rank == 2
    parameters = [one(step, slot) for slot in ("Scale", "Bias", "Mean", "Variance")]
    y = step.emit("batch_norm", x if last else to_last(step, x), *parameters, epsilon=real(step, "epsilon"))
    y = activated(step, y, "relu" if flag(step, "fuse_with_relu") else "")
    return {"Y": y if last else to_first(step, y)}


@handler("instance_norm")
def instance_norm(step: Step) -> Outputs:
    x = one(step, "X")
    return {"Y": _grouped(step, x, channels(step, x), False)}


@handler("group_norm")
def group_norm(step: Step) -> Outputs:
    x, last = one(step, "X"), is_channels_last(step)
    groups, count = step.integer("groups"), channels(step, x, -1 if last else 1)
    if groups < 1 or count % groups:
        step.malformed(f"{count} channels cannot be divided into {groups} groups")
    return {"Y": _grouped(step, x, groups, last)}


def _grouped(step: Step, x: Tensor, groups: int, last: bool) -> Tensor:
    count = channels(step, x, -1 if last else 1)
    scale, bias = maybe(step, "Scale"), maybe(step, "Bias")
    scale = scale if scale is not None else step.filled((count,), 1, x.dtype)
    bias = bias if bias is not None else step.filled((count,), 0, x.dtype)
    moved = x if last else to_last(step, x)
    y = step.emit("group_norm", moved, scale, bias, groups=groups, epsilon=real(step, "epsilon", default=1e-5))
    y = activated(step, y, step.text("activation_type", ""))
    return y if last else to_first(step, y)


@handler("layer_norm")
def layer_norm(step: Step) -> Outputs:
    """The rows begin at an axis; scale and bias are flat."""
    x = one(step, "X")
    axis, epsilon = step.axis(step.integer("begin_norm_axis", 1), x.rank), real(step, "epsilon", default=1e-5)
    row = x.shape[axis:]
    scale, bias = maybe(step, "Scale"), maybe(step, "Bias")
    operands = [step.reshape(scale, row)] if scale is not None else []
    if bias is not None and scale is not None:
        operands.append(step.reshape(bias, row))
    y = step.emit("layer_norm", x, *operands, axis=axis, epsilon=epsilon)
    if bias is not None and scale is None:
        y = plus(step, y, step.reshape(bias, row))
    return {"Y": y} | (_statistics(step, x, axis) if wants(step, "Mean") or wants(step, "Variance") else {})


def _statistics(step: Step, x: Tensor, axis: int) -> dict[str, Tensor]:
    axes = tuple(range(axis, x.rank))
    mean = step.emit("reduce_mean", x, axes=axes, keepdims=True)
    apart = step.emit("sub", x, mean)
    variance = step.emit("reduce_mean", step.emit("mul", apart, apart), axes=axes, keepdims=True)
    rows = x.shape[:axis]
    return {"Mean": step.reshape(mean, rows), "Variance": step.reshape(variance, rows)}


@handler("lrn")
def over_neighbours(step: Step) -> Outputs:
    """Here alpha is for the sum, in the graph for the mean."""
    x, last = one(step, "X"), is_channels_last(step)
    size = step.integer("n", 5)
    if size < 1 or size % 2 == 0:
        step.unsupported(f"{size} neighbours", "an odd number of neighbours is supported")
    y = step.emit(
        "lrn",
        x if last else to_last(step, x),
        size=size,
        alpha=real(step, "alpha", default=1e-4) * size,
        beta=real(step, "beta", default=0.75),
        bias=real(step, "k", default=2.0),
    )
    return {"Out": y if last else to_first(step, y)}


@handler("data_norm")
def data_norm(step: Step) -> Outputs:
    """By the sums over the training data."""
    x, size = one(step, "X"), one(step, "BatchSize")
    mean = step.emit("div", one(step, "BatchSum"), size)
    scale = step.emit("sqrt", step.emit("div", size, one(step, "BatchSquareSum")))
    return {"Y": step.emit("mul", step.emit("sub", x, mean), scale)}
