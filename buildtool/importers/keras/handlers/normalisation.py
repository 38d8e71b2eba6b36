"""Normalisations with weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import array, floating, number, numbers, only, optional_weight, plus, weight
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step


def _axes(step: Step, x: Tensor, default: int = -1) -> tuple[int, ...]:
    """A setting that is one axis or several."""
    stated = step.attribute("axis")
    if isinstance(stated, tuple):
        listed = step.integers("axis")
        if not listed:
            step.malformed("'axis' is empty")
        return step.axes(listed, x.rank)
    return step.axes([step.integer("axis", default)], x.rank)


def _last(x: Tensor, axis: int) -> tuple[int, ...]:
    """The order of axes in which one of them is the last."""
    return (*(other for other in range(x.rank) if other != axis), axis)


def _back(perm: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(place) for place in np.argsort(perm))


def _row(step: Step, name: str, size: int, value: float) -> Tensor:
    return optional_weight(step, name) or step.constant(np.full(size, value, np.float32))


@handler("BatchNormalization", "SyncBatchNormalization")
def batch_normalisation(step: Step) -> Tensor:
    x = floating(step, only(step))
    axes = _axes(step, x)
    if len(axes) != 1:
        step.unsupported(f"statistics along the axes {list(axes)}", "normalise along one axis")
    perm = _last(x, axes[0])
    turned = step.transpose(x, perm)
    count = channels(step, turned, -1)
    y = step.emit(
        "batch_norm",
        turned,
        _row(step, "gamma", count, 1.0),
        _row(step, "beta", count, 0.0),
        weight(step, "moving_mean"),
        weight(step, "moving_variance"),
        epsilon=number(step, "epsilon", 1e-3),
    )
    return step.transpose(y, _back(perm))


@handler("LayerNormalization")
def layer_normalisation(step: Step) -> Tensor:
    """With `rms_scaling` Keras divides by the root of the variance, and does not take the mean off before."""
    x = floating(step, only(step))
    turned, first, back = _axes_last(step, x)
    gamma, beta = (_over_axes(step, optional_weight(step, name), turned, first) for name in ("gamma", "beta"))
    axes, epsilon = tuple(range(first, x.rank)), number(step, "epsilon", 1e-3)
    if step.integer("rms_scaling", 0):
        mean = step.emit("reduce_mean", turned, axes=axes, keepdims=True)
        apart = step.emit("sub", turned, mean)
        variance = step.emit("reduce_mean", step.emit("mul", apart, apart), axes=axes, keepdims=True)
        root = step.emit("sqrt", plus(step, variance, array(step, epsilon)))
        y = step.emit("div", turned, root)
        return step.transpose(y if gamma is None else step.emit("mul", y, gamma), back)
    if gamma is None and beta is not None:
        gamma = step.constant(np.ones([int(str(dim)) for dim in beta.shape], np.float32))
    operands = [row for row in (gamma, beta) if row is not None]
    return step.transpose(step.emit("layer_norm", turned, *operands, axis=first, epsilon=epsilon), back)


def _axes_last(step: Step, x: Tensor) -> tuple[Tensor, int, tuple[int, ...]]:
    """The input with the axes of the layer behind the others, the first of them, and the order of axes back."""
    axes = sorted(_axes(step, x))
    perm = (*(axis for axis in range(x.rank) if axis not in axes), *axes)
    return step.transpose(x, perm), x.rank - len(axes), _back(perm)


def _over_axes(step: Step, weights: Tensor | None, x: Tensor, first: int) -> Tensor | None:
    """A weight for each place along the last axes of x: Keras has them in the order of its list of axes, and reads
    them row by row, in the order of the input's axes.
    """
    if weights is None:
        return None
    return step.reshape(weights, tuple(channels(step, x, axis) for axis in range(first, x.rank)))


@handler("LayerScale")
def layer_scale(step: Step) -> Tensor:
    """Of keras.applications, not of keras.layers: a factor for each channel."""
    return step.emit("mul", floating(step, only(step)), weight(step, "gamma"))


@handler("RMSNormalization")
def root_mean_square_normalisation(step: Step) -> Tensor:
    x = floating(step, only(step))
    axes = sorted(_axes(step, x))
    if axes != list(range(axes[0], x.rank)):
        step.unsupported(f"a normalisation over the axes {axes}", "normalise over the last axes")
    return step.emit("rms_norm", x, weight(step, "scale"), axis=axes[0], epsilon=number(step, "epsilon", 1e-6))


@handler("GroupNormalization")
def group_normalisation(step: Step) -> Tensor:
    """-1 groups: as many as channels."""
    x = floating(step, only(step))
    axes = _axes(step, x)
    perm = _last(x, axes[0])
    turned = step.transpose(x, perm)
    count = channels(step, turned, -1)
    groups = step.integer("groups", 32)
    y = step.emit(
        "group_norm",
        turned,
        _row(step, "gamma", count, 1.0),
        _row(step, "beta", count, 0.0),
        groups=count if groups == -1 else groups,
        epsilon=number(step, "epsilon", 1e-3),
    )
    return step.transpose(y, _back(perm))


@handler("Normalization")
def feature_normalisation(step: Step) -> Tensor:
    """The mean and the variance of features, as weights or as settings; `invert` is the way back."""
    x = floating(step, only(step))
    mean, variance = (_statistics(step, x, name) for name in ("mean", "variance"))
    root = step.emit("maximum", step.emit("sqrt", variance), array(step, 1e-7))
    if step.integer("invert", 0):
        return plus(step, step.emit("mul", x, root), mean)
    return step.emit("div", step.emit("sub", x, mean), root)


def _statistics(step: Step, x: Tensor, name: str) -> Tensor:
    """One number for each place along the axes that are kept apart, in the shape of the input."""
    stated = step.attribute(name)
    if isinstance(stated, int | float):
        return array(step, float(stated))
    found = array(step, numbers(step, name)) if isinstance(stated, tuple) else weight(step, name)
    if step.attribute("axis") is None:
        return step.reshape(found, ())
    axes = _axes(step, x)
    return step.reshape(found, tuple(x.shape[axis] if axis in axes else 1 for axis in range(x.rank)))
