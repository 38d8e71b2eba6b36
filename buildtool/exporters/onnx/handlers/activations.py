"""Activations that operators apply to their result: a node of their own in ONNX."""

from __future__ import annotations

from typing import Any

from buildtool.exporters.onnx.handlers.unary import limited
from buildtool.exporters.onnx.step import Step

_PLAIN = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "hard_swish": "HardSwish"}


def activated(step: Step, name: str, part: Any = None) -> str:
    """The result of an operator, or of the `part` of one, behind the activation that it has."""
    op = part or step.op
    match op.activation:
        case "none":
            return name
        case "clip":
            return limited(step, name, op.activation_alpha, op.activation_beta)
        case "leaky_relu":
            return step.emit("LeakyRelu", name, alpha=op.activation_alpha)
        case "elu":
            return step.emit("Elu", name, alpha=op.activation_alpha)
        case "hard_sigmoid":
            return step.emit("HardSigmoid", name, alpha=op.activation_alpha, beta=op.activation_beta)
        case "swish":
            return step.emit("Mul", name, step.emit("Sigmoid", name))
    if op.activation not in _PLAIN:
        step.refuse(f"ONNX has no activation '{op.activation}'")
    return step.emit(_PLAIN[op.activation], name)
