"""Activations that are layers."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.activation import bounded_relu
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import array, floating, number, only, weight
from buildtool.importers.step import Step


@handler("ReLU")
def relu(step: Step) -> Tensor:
    x = floating(step, only(step))
    return bounded_relu(
        step, x, number(step, "negative_slope", 0.0), number(step, "max_value", np.inf), number(step, "threshold", 0.0)
    )


@handler("LeakyReLU")
def leaky_relu(step: Step) -> Tensor:
    """Keras 2 calls the slope alpha."""
    slope = number(step, "negative_slope", number(step, "alpha", 0.3))
    return step.emit("leaky_relu", floating(step, only(step)), alpha=slope)


@handler("ThresholdedReLU")
def thresholded_relu(step: Step) -> Tensor:
    return step.emit("thresholded_relu", floating(step, only(step)), alpha=number(step, "theta", 1.0))


@handler("ELU")
def elu(step: Step) -> Tensor:
    return step.emit("elu", floating(step, only(step)), alpha=number(step, "alpha", 1.0))


@handler("PReLU")
def prelu(step: Step) -> Tensor:
    return step.emit("prelu", floating(step, only(step)), weight(step, "alpha"))


@handler("Softmax")
def softmax(step: Step) -> Tensor:
    """Over several axes at once the numbers are shifted by the largest of them all."""
    x, stated = floating(step, only(step)), step.attribute("axis")
    given = [int(item) for item in stated if isinstance(item, int)] if isinstance(stated, tuple) else []
    axes = step.axes(given or [step.integer("axis", -1)], x.rank)
    if len(axes) == 1:
        return step.emit("softmax", x, axis=axes[0])
    peak = step.emit("reduce_max", x, axes=tuple(sorted(axes)), keepdims=True)
    powers = step.emit("exp", step.emit("sub", x, peak))
    return step.emit("div", powers, step.emit("reduce_sum", powers, axes=tuple(sorted(axes)), keepdims=True))


@handler("UnitNormalization")
def unit_normalisation(step: Step) -> Tensor:
    x, stated = floating(step, only(step)), step.attribute("axis")
    given = [int(item) for item in stated if isinstance(item, int)] if isinstance(stated, tuple) else []
    axes = step.axes(given or [step.integer("axis", -1)], x.rank)
    squares = step.emit("reduce_sum", step.emit("mul", x, x), axes=tuple(sorted(axes)), keepdims=True)
    return step.emit("div", x, step.emit("sqrt", step.emit("maximum", squares, array(step, 1e-12))))
