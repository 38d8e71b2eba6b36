"""Normalisations by stored statistics and over neighbours, and softmax."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.importers.tensorflow.values import Picture


@handler("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def batch_normalisation(step: Step) -> Tensor:
    x = step.input(0)
    if step.integer("is_training", 1):
        step.unsupported("statistics of the batch", "save the model for inference: training=False")
    picture = Picture.of(step, x, x.rank if x.rank == 5 else 4)
    parameters = [step.input(index) for index in range(1, 5)]
    return picture.back(step.emit("batch_norm", picture.last(x), *parameters, epsilon=step.real("epsilon", 1e-4)))


@handler("BatchNormWithGlobalNormalization")
def old_batch_normalisation(step: Step) -> Tensor:
    """Inputs: x, mean, variance, bias, scale, of which the attribute says whether it counts."""
    x, mean, variance, bias, scale = (step.input(index) for index in range(5))
    if not step.integer("scale_after_normalization"):
        scale = step.constant(np.ones(1, x.dtype.numpy))
        scale = step.emit("broadcast_to", scale, shape=bias.shape)
    return step.emit("batch_norm", x, scale, bias, mean, variance, epsilon=step.real("variance_epsilon"))


@handler("LRN")
def local_response_normalisation(step: Step) -> Tensor:
    """The sum is not divided by the number of channels in it, as it is in the graph."""
    size = 2 * step.integer("depth_radius", 5) + 1
    return step.emit(
        "lrn",
        step.input(0),
        size=size,
        alpha=step.real("alpha", 1.0) * size,
        beta=step.real("beta", 0.5),
        bias=step.real("bias", 1.0),
    )


@handler("Softmax", "LogSoftmax")
def softmax(step: Step) -> Tensor:
    x = step.input(0)
    return step.emit("softmax" if step.node.op == "Softmax" else "log_softmax", x, axis=x.rank - 1)
