"""Pad: attributes in opset 7 to 10, inputs from 11, axes from 18. Negative pads crop."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step
from buildtool.importers.windows import padded
from buildtool.ir.dims import Dim


@handler("Pad")
def pad(step: Step) -> Tensor:
    x = step.input(0)
    mode = step.text("mode", "constant")
    if mode not in ("constant", "reflect", "edge", "wrap"):
        step.malformed(f"the attribute 'mode' is '{mode}'")
    before, after = _amounts(step, x)
    if step.opset < 11:
        value = step.real("value", 0.0)
    else:
        value = step.known_number(2, "constant_value") if step.optional(2) is not None else 0.0
    if x.dtype.is_integer and float(np.float32(value)) != value:
        step.unsupported(f"a border of {value}", "integers that a 32-bit float holds are supported")
    fixed = [amount for amount in (*before, *after) if isinstance(amount, int)]
    if len(fixed) < 2 * x.rank:
        if mode != "constant":
            step.unsupported(f"pads of run-time widths in mode {mode}", "fix the input shapes")
        return padded(step, x, before, after, value)
    return _padded(step, x, fixed[: x.rank], fixed[x.rank :], mode, value)


def _padded(step: Step, x: Tensor, before: list[int], after: list[int], mode: str, value: float) -> Tensor:
    x = _cropped(step, x, before, after)
    if not any(amount > 0 for amount in (*before, *after)):
        return x
    return step.emit(
        "pad",
        x,
        before=tuple(max(amount, 0) for amount in before),
        after=tuple(max(amount, 0) for amount in after),
        mode=mode,
        value=value,
    )


def _amounts(step: Step, x: Tensor) -> tuple[list[Dim], list[Dim]]:
    stated = step.integers("pads") if step.opset < 11 else step.known_dims(1, "pads")
    axes = tuple(range(x.rank))
    if step.opset >= 18 and step.optional(3) is not None:
        axes = step.axes(step.known_ints(3, "axes"), x.rank)
    if len(stated) != 2 * len(axes):
        step.malformed(f"it has {len(stated)} pads for {len(axes)} axes")
    before: list[Dim] = [0] * x.rank
    after: list[Dim] = [0] * x.rank
    for position, axis in enumerate(axes):
        before[axis], after[axis] = stated[position], stated[position + len(axes)]
    return before, after


def _cropped(step: Step, x: Tensor, before: list[int], after: list[int]) -> Tensor:
    starts = tuple(max(-amount, 0) for amount in before)
    ends = tuple(max(-amount, 0) for amount in after)
    if not any(starts) and not any(ends):
        return step.emit("identity", x)
    sizes = tuple(dim - start - end for dim, start, end in zip(x.shape, starts, ends, strict=True))
    return step.emit("slice", x, starts=starts, steps=(1,) * x.rank, sizes=sizes)
