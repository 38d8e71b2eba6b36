"""Recurrent layers of integers as the file stores them, beside the nodes that compute them in floats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tflite.values import output_quantisation, quantisation
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType

_TANH = 4  # the code of the activation
_GATES = ((1, 2, 3, 4), (5, 6, 7, 8), (12, 13, 14, 15))  # weights of i, f, c, o, those for the last output, biases
_EXTRA = (9, 10, 11, 16, 17, 20, 21, 22, 23)  # peepholes, projection, norms
_OUTPUT, _CELL = 18, 19
_HIDDEN = 4  # among what the file states of the steps in between
_HISTORY = 4  # the state of SVDF


def keep_lstm(step: Step, y: Tensor) -> None:
    """A plain layer of bytes with cells of 16 bits. Others have the nodes only."""
    x, output, cell = (_of(step, index) for index in (0, _OUTPUT, _CELL))
    made = _single(output_quantisation(step))
    hidden = _single(step.node.between[_HIDDEN]) if len(step.node.between) > _HIDDEN else None
    weights, recurrent, bias = (_arrays(step, places) for places in _GATES)
    plain = not any(step.optional(index) is not None for index in _EXTRA)
    known = weights is not None and recurrent is not None and bias is not None
    if not plain or not known or x is None or output is None or cell is None or made is None or hidden is None:
        return
    assert weights is not None and recurrent is not None and bias is not None
    gates = [[_of(step, index) for index in places] for places in _GATES[:2]]
    bits = round(-math.log2(cell[0]))
    fits = {array.dtype for array in (*weights, *recurrent)} == {np.dtype(np.int8)} and bias[0].dtype == np.int32
    fits = fits and step.input(0).dtype is DType.S8 and step.made_dtype(0) is DType.S8
    fits = fits and all(gate is not None and gate[1] == 0 for row in gates for gate in row)
    fits = fits and cell == (2.0**-bits, 0) and 9 <= bits <= 15 and step.input(_CELL).dtype is DType.S16
    fits = fits and made == output and hidden[1] == output[1]
    if not fits or step.integer("fused_activation_function", 0) != _TANH or step.real("proj_clip", 0.0):
        return
    clip = step.real("cell_clip", 0.0)
    numbers = {
        "time_major": step.integer("time_major", 0),
        "cell_bits": bits,
        "clip": min(clip / cell[0], 32767.0) if clip > 0 else 32767.0,
        "input_scale": x[0],
        "input_zero": x[1],
        "output_scale": output[0],
        "output_zero": output[1],
        "hidden_scale": hidden[0],
    }
    scales = [np.array([gate[0] for gate in row if gate is not None], np.float32) for row in gates]
    arrays = {
        "weights": np.stack(weights),
        "recurrent": np.stack(recurrent),
        "bias": np.stack(bias),
        "weight_scales": scales[0],
        "recurrent_scales": scales[1],
    }
    step.keep_stored("lstm", [step.input(0)], [y], arrays, numbers)


def keep_svdf(step: Step, y: Tensor, state: Tensor) -> None:
    """Filters of bytes, whose state and weights over time have 16 bits."""
    quants = [_of(step, index) for index in (0, 1, 2, _HISTORY)]
    made, arrays = _single(output_quantisation(step)), _arrays(step, (1, 2))
    bias = step.optional(3)
    if made is None or arrays is None or any(quant is None for quant in quants):
        return
    x, weights, times, history = (quant for quant in quants if quant is not None)
    fits = [array.dtype for array in arrays] == [np.dtype(np.int8), np.dtype(np.int16)]
    fits = fits and step.input(0).dtype is DType.S8 and step.made_dtype(0) is DType.S8
    fits = fits and step.input(_HISTORY).dtype is DType.S16
    fits = fits and weights[1] == times[1] == history[1] == 0
    row: Array | None = np.zeros(len(arrays[0]) // step.integer("rank", 0), np.int32)
    if bias is not None:
        row = bias.content
    if not fits or row is None or row.dtype != np.int32:
        return
    numbers = {
        "rank": step.integer("rank", 0),
        "input_scale": x[0],
        "input_zero": x[1],
        "weight_scale": weights[0],
        "time_scale": times[0],
        "state_scale": history[0],
        "output_scale": made[0],
        "output_zero": made[1],
    }
    held = {"weights": arrays[0], "times": arrays[1], "bias": row}
    step.keep_stored("svdf", [step.input(0), step.input(_HISTORY)], [y, state], held, numbers)


def _of(step: Step, index: int) -> tuple[float, int] | None:
    return _single(quantisation(step, index))


def _single(quant: QuantType | None) -> tuple[float, int] | None:
    """Scale and zero point of a tensor that has one of each."""
    return None if quant is None or quant.axis is not None else (quant.scales[0], quant.zero_points[0])


def _arrays(step: Step, places: Sequence[int]) -> list[Array] | None:
    """What constants hold; None where one is missing or no constant."""
    found = [tensor.content for tensor in map(step.optional, places) if tensor is not None]
    kept = [array for array in found if array is not None]
    return kept if len(kept) == len(places) else None
