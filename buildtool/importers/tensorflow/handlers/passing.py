"""Constants, variables, and what passes its input on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler


@handler("Const", "VarHandleOp", "Variable", "VariableV2")
def constant(step: Step) -> Tensor:
    """A variable stands for its content, so that what reads it passes that on."""
    value = step.attribute("value")
    if not isinstance(value, np.ndarray):
        if "value" in step.node.unreadable:
            step.unsupported(f"elements of type {step.node.unreadable['value']}", "cut the model before them")
        step.malformed("it has no value")
    return step.constant(value)


@handler(
    "CheckNumerics",
    "EnsureShape",
    "Identity",
    "PlaceholderWithDefault",
    "PreventGradient",
    "ReadVariableOp",
    "Snapshot",
    "StopGradient",
)
def passed_on(step: Step) -> Tensor:
    return step.input(0)


@handler("IdentityN")
def all_passed_on(step: Step) -> Sequence[Tensor]:
    return step.present()
