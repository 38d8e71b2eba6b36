"""To quantised numbers and back."""

from __future__ import annotations

from typing import Any

from buildtool.exporters.onnx.elements import code
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step


def _along(step: Step) -> dict[str, Any]:
    """Axis and block, where they mean anything."""
    op = step.op
    axis = op.axis if op.block or step.value(1).type.rank else None
    return {"axis": axis, "block_size": op.block or None}


@handler("quantize_linear")
def quantize_linear(step: Step) -> None:
    to = None if step.has(2) else code(step.op.to)
    step.give(step.emit("QuantizeLinear", *step.inputs(), output_dtype=to, **_along(step)))


@handler("dequantize_linear")
def dequantize_linear(step: Step) -> None:
    step.give(step.emit("DequantizeLinear", *step.inputs(), **_along(step)))
