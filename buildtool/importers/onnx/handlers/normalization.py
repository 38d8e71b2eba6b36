"""BatchNormalization with its stored statistics."""

from __future__ import annotations

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.step import Step


@handler("BatchNormalization")
def batch_normalization(step: Step) -> Tensor:
    if step.integer("training_mode", 0) or not step.integer("spatial", 1):
        step.unsupported("statistics of the batch or of every position", "export the model for inference")
    x = step.input(0)
    if x.rank < 2:
        step.malformed(f"its input has rank {x.rank}, not batch and channels")
    last = (0, *range(2, x.rank), 1)
    back = (0, x.rank - 1, *range(1, x.rank - 1))
    parameters = [step.input(index) for index in range(1, 5)]
    y = step.emit("batch_norm", step.transpose(x, last), *parameters, epsilon=step.real("epsilon", 1e-5))
    return step.transpose(y, back)
