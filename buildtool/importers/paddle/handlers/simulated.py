"""Simulated quantisation: weights, which are known, get the values that it gives them; activations are rounded in the
graph where their scale is known, and stay as they are where it is found anew each time.
"""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.fake_quantisation import fake_quantised
from buildtool.importers.paddle.quantisation import ROUNDED
from buildtool.importers.paddle.registry import Outputs, handler, many, maybe, one, wants
from buildtool.importers.paddle.values import flag, real, scalar
from buildtool.importers.step import Step
from buildtool.ir.operator import Array

_ON_THE_WAY = (
    "fake_quantize_dequantize_abs_max",
    "fake_quantize_dequantize_moving_average_abs_max",
    "fake_channel_wise_quantize_dequantize_abs_max",
    "moving_average_abs_max_scale",
)
_WITH_SCALE = ("fake_quantize_range_abs_max", "fake_quantize_moving_average_abs_max", "fake_quantize_abs_max")


def _range(step: Step, name: str = "bit_length") -> float:
    """The largest number of so many bits."""
    bits = step.integer(name, 8)
    if not 2 <= bits <= 16:
        step.malformed(f"{bits} bits")
    return float(2 ** (bits - 1) - 1)


@handler(*_ON_THE_WAY)
def left_out(step: Step) -> Outputs:
    x = one(step, "X")
    known = x.content
    scale_in = maybe(step, "InScale")
    limit = None if scale_in is None else scale_in.content
    if step.node.op == "moving_average_abs_max_scale":
        return {"Out": step.emit("identity", x)}
    if known is None and limit is not None and limit.size == 1 and float(limit.reshape(-1)[0]) > 0:
        top = float(limit.reshape(-1)[0])
        return {"Out": fake_quantised(step, x, -top, top, bits=step.integer("bit_length", 8), narrow=True)}
    if known is None:
        return {"Out": step.emit("identity", x)}
    axes: tuple[int, ...] | None = None
    if step.node.op.startswith("fake_channel"):
        axis = step.axis(step.integer("quant_axis", 0), x.rank)
        axes = tuple(other for other in range(x.rank) if other != axis)
    scale = np.maximum(np.abs(known).max(axis=axes, keepdims=True), np.finfo(np.float32).tiny)
    steps = _range(step)
    return {"Out": step.constant((np.round(known / scale * steps) * (scale / steps)).astype(known.dtype))}


@handler(*_WITH_SCALE)
def quantised(step: Step) -> Outputs:
    """The numbers that bytes would hold, without being rounded."""
    x, scale = one(step, "X"), maybe(step, "InScale")
    if scale is None:
        if step.node.op != "fake_quantize_abs_max":
            step.malformed("its scale is missing")
        scale = step.emit("reduce_max", step.emit("abs", x), axes=tuple(range(x.rank)), keepdims=False)
    scale = step.reshape(scale, ())
    y = step.emit("div", step.emit("mul", x, scalar(step, _range(step), x)), scale)
    return {"Out": y, "OutScale": step.reshape(scale, (1,))} if wants(step, "OutScale") else {"Out": y}


@handler("fake_dequantize_max_abs")
def dequantised(step: Step) -> Tensor:
    x, scale = one(step, "X"), step.reshape(one(step, "Scale"), ())
    return step.emit("mul", x, step.emit("div", scale, scalar(step, real(step, "max_range"), x)))


@handler("fake_channel_wise_dequantize_max_abs")
def dequantised_by_channel(step: Step) -> Tensor:
    """One scale for each channel of weights; or those of the weights' channels, and one of the activations."""
    x, scales = one(step, "X"), many(step, "Scales")
    bits = step.integers("quant_bits", (8, 8))
    if not 1 <= len(scales) <= 2 or len(bits) < len(scales) or not all(2 <= count <= 16 for count in bits):
        step.malformed(f"{len(scales)} scales of {list(bits)} bits")
    axis = step.integer("quant_axis", 0) if len(scales) == 1 else step.integer("x_num_col_dims", 1)
    shape = [1] * x.rank
    axis = step.axis(axis, x.rank)
    (count,) = step.check_rank(scales[0], 1, what="its scale").shape
    if not isinstance(count, int):
        step.malformed("its scales have no fixed number")
    shape[axis] = count
    y = step.emit("mul", x, step.reshape(scales[0], tuple(shape)))
    if len(scales) == 2:
        y = step.emit("mul", y, step.reshape(scales[1], ()))
    largest = np.prod([2.0 ** (count - 1) - 1 for count in bits[: len(scales)]])
    return step.emit("mul", y, scalar(step, float(1 / largest), x))


@handler(ROUNDED)
def rounded(step: Step) -> Tensor:
    """Quantised and back. The scale is what the largest number stands for, or, in Paddle-Lite, what 1 does."""
    x, scale, zeros = one(step, "X"), maybe(step, "Scale"), maybe(step, "ZeroPoint")
    largest = _range(step)
    bits = step.integer("bit_length", 8)
    if step.has("step"):
        steps = np.array([step.real("step")], np.float32)
    elif scale is None or scale.content is None:
        return step.emit("identity", x)
    else:
        steps = scale.content.astype(np.float32).reshape(-1) / np.float32(largest)
    axis = step.integer("quant_axis", -1)
    by_axis = steps.size > 1
    if zeros is not None and (zeros.content is None or zeros.content.any()):
        step.unsupported("a zero point that is not 0", "quantise symmetrically when exporting")
    if not (steps > 0).all() or (by_axis and not -x.rank <= axis < x.rank):
        step.malformed(f"scales {steps.ravel()[:4].tolist()} along axis {axis} of {x.type}")
    ends = steps if by_axis else steps[0]
    return fake_quantised(
        step, x, -ends * (largest + 1), ends * largest, bits=bits, narrow=False, axis=axis if by_axis else None
    )


@handler("dequantize_linear")
def linear(step: Step) -> Outputs:
    """Weights in bytes."""
    x, scale = one(step, "X"), one(step, "Scale")
    known, scales = x.content, scale.content
    if known is None or scales is None:
        step.unsupported("integers that are known only at run time", "export floats")
    zeros = maybe(step, "ZeroPoint")
    return {"Y": step.constant(_reals(step, known, scales, None if zeros is None else zeros.content))}


def _reals(step: Step, known: Array, scales: Array, zeros: Array | None) -> Array:
    axis = step.integer("quant_axis", -1)
    shape = [1] * known.ndim
    if scales.size > 1:
        shape[step.axis(axis, known.ndim)] = scales.size
    largest = _range(step)
    if flag(step, "only_observer"):
        return known.astype(np.float32)
    if step.has("qmax") and step.integer("qmax") > 0:
        largest = float(step.integer("qmax"))
    values = known.astype(np.float32)
    if zeros is not None and zeros.size == scales.size:
        values = values - zeros.astype(np.float32).reshape(shape)
    return np.asarray(values * (scales.astype(np.float32).reshape(shape) / np.float32(largest)))
