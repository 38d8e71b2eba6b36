"""Inverse, an operator of com.microsoft."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step


@handler("com.microsoft.Inverse")
def inverse(step: Step) -> Tensor:
    return step.emit("inverse", step.input(0))
