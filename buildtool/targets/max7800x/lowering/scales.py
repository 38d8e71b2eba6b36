"""What the whole numbers of the accelerator stand for: one scale for each piece of data, and shifts between them.

A number q of data stands for q times its scale, and the largest known magnitude is 127. Data that is joined, added or
passed on has one scale. Weights are divided by what the scales and a shift of the sums leave: of the shifts that the
hardware has, the one that loses least is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.passes.store_quantised import known_types
from buildtool.quant.ranges import between
from buildtool.targets.max7800x.lowering.lower_data import Data, Step
from buildtool.targets.max7800x.simulation.arithmetic import BIAS_FACTOR, HIGHEST, LOWEST

_LARGEST_SHIFT = 15
_FRACTION = 7
_TYPICAL = 32.0  # the magnitude of data, in steps: how much an error of a weight weighs beside one of a bias
SOFTMAX_FRACTION = 14  # bits behind the point of what the program's softmax takes
_NEAR = 1.01  # a limit is kept exactly where the range comes as near


@dataclass(frozen=True)
class Numbers:
    """The weights of a layer as it holds them."""

    weights: NDArray[np.int8]
    bias: NDArray[np.int8] | None
    output_shift: int
    error: float  # the mean square of what its outputs lose, as a part of that of the outputs
    result_scale: float  # of what goes out


def scales_of(graph: Graph, steps: Sequence[Step], given: Data) -> dict[Data, float]:
    """The scale of all data but wide outputs. UnsupportedError lists the values whose ranges are not known."""
    ranges = {value: between(quant) for value, quant in known_types(graph).items()}
    groups = _Groups()
    extra: dict[Data, float] = {}
    for step in steps:
        first, *others = step.read.sources
        for other in others:
            groups.join(first, other)
        if step.keeps_scale:
            groups.join(first, step.out)
        if step.read.eltwise:
            extra[first] = max(extra.get(first, 0.0), _reach_of_operands(step, ranges))
    everything = [given, *(step.out for step in steps if not step.wide)]
    largest: dict[Data, float] = {}
    for data in everything:
        group = groups.of(data)
        found = max([_magnitude(ranges, data.values), extra.get(data, 0.0)])
        largest[group] = max(largest.get(group, 0.0), found)
    unknown = [
        data
        for data in everything
        if largest[groups.of(data)] == 0.0 and not any(value in ranges for value in data.values)
    ]
    if unknown:
        raise _unknown(graph, unknown)
    limits = {groups.of(data): data.limit for data in everything if data.limit is not None}
    return {data: _scale(largest[groups.of(data)], limits.get(groups.of(data))) for data in everything}


def _scale(largest: float, limit: float | None) -> float:
    if limit is not None and limit <= largest * _NEAR and largest <= limit * _NEAR:
        largest = limit
    return largest / HIGHEST if largest > 0 else 1.0 / HIGHEST


def _magnitude(ranges: Mapping[Value, tuple[float, float]], values: Iterable[Value]) -> float:
    return max((max(abs(end) for end in ranges[value]) for value in values if value in ranges), default=0.0)


def _reach_of_operands(step: Step, ranges: Mapping[Value, tuple[float, float]]) -> float:
    """How large operands may be whose sum matters, where one of them is known by the sum alone."""
    sums = [ranges[value] for value in step.read.sums if value in ranges]
    known = [ranges[value] for data in step.read.sources for value in data.values if value in ranges]
    reach = _magnitude(ranges, step.read.sums)
    if sums and any(not data.values for data in step.read.sources):
        reach = max(reach, sums[0][1] - min([low for low, _ in known], default=0.0))
    return reach


def _unknown(graph: Graph, data: Sequence[Data]) -> UnsupportedError:
    names = list(dict.fromkeys(name for one in data for name in ([value.name for value in one.values] or [one.name])))
    return UnsupportedError(
        [
            Problem(
                f"the value range of '{name}' is unknown",
                Where(model=graph.name, value=name),
                "the accelerator computes with bytes that represent a known value range",
                "measure the ranges with `lathe quantize`, and set `quantize: {range_file: ...}`",
            )
            for name in names
        ]
    )


class _Groups:
    """Data with one scale."""

    def __init__(self) -> None:
        self._above: dict[Data, Data] = {}

    def of(self, data: Data) -> Data:
        while data in self._above:
            data = self._above[data]
        return data

    def join(self, one: Data, other: Data) -> None:
        first, second = self.of(one), self.of(other)
        if first is not second:
            self._above[second] = first


# -- weights -----------------------------------------------------------------------------------------------------------
def numbers_of(step: Step, bits: int, scale: float, result: float | None) -> Numbers:
    """A layer's weights and biases in whole numbers. `result` is None where sums go out as they are.

    UnsupportedError where no shift of the hardware fits.
    """
    assert step.weights is not None
    weights = step.weights.astype(np.float64)
    bias = None if step.bias is None else step.bias.astype(np.float64)
    if result is None:
        return _wide(weights, bias, bits, scale, step.softmax)
    found: list[tuple[float, int]] = []
    for shift in range(-_LARGEST_SHIFT, _LARGEST_SHIFT + 1):
        unit = result / scale * 2.0 ** (shift - _FRACTION)
        if _has_room(weights, bias, bits, scale, unit):
            found.append((_error(weights, bias, bits, scale, unit), shift))
    if not found:
        reach = float(np.abs(weights).max(initial=0.0)) * scale / result
        raise UnsupportedError(
            f"its weights are {reach:.3g} steps of its result for a step of its input",
            where=Where(node=step.out.name),
            rule=f"sums are shifted by at most {_LARGEST_SHIFT} bits",
            remedy="check the ranges of its input and its result: one of them does not match the actual values",
        )
    error, shift = min(found)
    unit = result / scale * 2.0 ** (shift - _FRACTION)
    stored, stored_bias = _stored(weights, bias, bits, scale, unit)
    return Numbers(stored, stored_bias, shift - (8 - bits), error, result)


def _wide(weights: Array, bias: Array | None, bits: int, scale: float, softmax: bool) -> Numbers:
    """Sums that are not shifted: a step of theirs is a power of two.

    Or such a one that, shifted up into `SOFTMAX_FRACTION` bits behind the point, powers of two are
    taken of them.
    """
    most = (1 << (bits - 1)) - 1 if bits > 1 else 1
    needed = float(np.abs(weights).max(initial=0.0)) * scale / most
    if bias is not None:
        needed = max(needed, float(np.abs(bias).max(initial=0.0)) / (BIAS_FACTOR * HIGHEST))
    base = math.log(2) if softmax else 1.0
    power = math.ceil(math.log2(max(needed / base, 2.0**-60)))
    step = base * 2.0 ** (max(power, -SOFTMAX_FRACTION) if softmax else power)
    unit = step / scale
    stored, stored_bias = _stored(weights, bias, bits, scale, unit)
    return Numbers(stored, stored_bias, 0, _error(weights, bias, bits, scale, unit), step)


def _has_room(weights: Array, bias: Array | None, bits: int, scale: float, unit: float) -> bool:
    """Whether hardly anything is cut off."""
    least, most = -(1 << (bits - 1)), max((1 << (bits - 1)) - 1, 1)
    if bias is not None and float(np.abs(bias).max(initial=0.0)) > (HIGHEST + 0.5) * BIAS_FACTOR * scale * unit:
        return False
    beyond = max(float(weights.max(initial=0.0)) / most, float(weights.min(initial=0.0)) / least) / unit
    return beyond <= (1.02 if bits == 8 else 4.0)


def _error(weights: Array, bias: Array | None, bits: int, scale: float, unit: float) -> float:
    """The mean square of what the outputs lose, as a part of that of the outputs."""
    stored, stored_bias = _stored(weights, bias, bits, scale, unit)
    power = (scale * _TYPICAL) ** 2
    lost, whole = (
        float(np.square(stored.astype(np.float64) * unit - weights).sum()) * power,
        float(np.square(weights).sum()) * power,
    )
    if bias is not None and stored_bias is not None:
        lost += float(np.square(stored_bias.astype(np.float64) * BIAS_FACTOR * scale * unit - bias).sum())
        whole += float(np.square(bias).sum())
    return lost / whole if whole else 0.0


def _stored(
    weights: Array, bias: Array | None, bits: int, scale: float, unit: float
) -> tuple[NDArray[np.int8], NDArray[np.int8] | None]:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    stored = np.clip(np.floor(weights / unit + 0.5), least, most).astype(np.int8)
    if bias is None:
        return stored, None
    steps = np.floor(bias / (BIAS_FACTOR * scale * unit) + 0.5)
    return stored, np.clip(steps, LOWEST, HIGHEST).astype(np.int8)
