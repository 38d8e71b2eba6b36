"""Operators of one input that the graph has under another name, with or without attributes."""

from __future__ import annotations

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.step import Step

_PLAIN = {
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Exp": "exp",
    "Log": "log",
    "Sqrt": "sqrt",
    "Abs": "abs",
    "Neg": "neg",
    "Floor": "floor",
    "Ceil": "ceil",
    "Erf": "erf",
    "Reciprocal": "reciprocal",
    "Softplus": "softplus",
    "HardSwish": "hard_swish",
}


@handler(*_PLAIN)
def plain(step: Step) -> Tensor:
    return step.emit(_PLAIN[step.node.op], step.input(0))


@handler("LeakyRelu")
def leaky_relu(step: Step) -> Tensor:
    return step.emit("leaky_relu", step.input(0), alpha=step.real("alpha", 0.01))


@handler("Elu")
def elu(step: Step) -> Tensor:
    return step.emit("elu", step.input(0), alpha=step.real("alpha", 1.0))


@handler("HardSigmoid")
def hard_sigmoid(step: Step) -> Tensor:
    return step.emit("hard_sigmoid", step.input(0), alpha=step.real("alpha", 0.2), beta=step.real("beta", 0.5))


@handler("Gelu")
def gelu(step: Step) -> Tensor:
    return step.emit("gelu", step.input(0), approximate=step.text("approximate", "none"))


@handler("Swish")
def swish(step: Step) -> Tensor:
    alpha = step.real("alpha", 1.0)
    if alpha != 1.0:
        step.unsupported(f"Swish with alpha {alpha}", "alpha 1 is supported")
    return step.emit("swish", step.input(0))


@handler("PRelu")
def prelu(step: Step) -> Tensor:
    return step.emit("prelu", step.input(0), step.input(1))


@handler("Identity", "Dropout")
def identity(step: Step) -> Tensor:
    if step.node.op == "Dropout" and step.optional(2) is not None and step.known_number(2, "training_mode") != 0:
        step.unsupported("a dropout in training mode", "export the model for inference")
    return step.emit("identity", step.input(0))
