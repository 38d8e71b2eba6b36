"""Sums of two tensors of bytes, each with its own scale, and an activation behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.ir.operator import Array
from buildtool.targets.k210.format import cpu_layers as cpu
from buildtool.targets.k210.format.layer import MAIN_MEMORY_OUTPUT as TO_MAIN
from buildtool.targets.k210.generation.activation import Function
from buildtool.targets.k210.generation.forms import Program, Tensor, known
from buildtool.targets.k210.generation.jobs import OnCpu
from buildtool.targets.k210.generation.memory import Buffer
from buildtool.targets.k210.generation.quantise import Bytes, bytes_between

_FRACTION = 14  # bits of the factors
_SAMPLES = 4097


def add(program: Program, job: OnCpu) -> None:
    """In floats where both come as floats; else in bytes."""
    first, second = job.a or job.node.inputs[0], job.b or job.node.inputs[1]
    a, b, y = program.tensors[first], program.tensors[second], program.tensors[job.node.outputs[0]]
    if a.floats is not None and b.floats is not None and not job.functions:
        one, other, target = a.floats, b.floats, program.buffer(y, 4)
        program.step(_once(one, other), [target], lambda at: cpu.Add(TO_MAIN, at[one], at[other], at[target], y.count))
        y.floats = target
        return
    sums = y if cuts_only(job.functions, known(y)) else _before(program, a, b, y)
    one, other, target = program.bytes_of(a), program.bytes_of(b), program.buffer(sums)
    found = factors(known(a), known(b), known(sums))
    program.step(
        _once(one, other),
        [target],
        lambda at: cpu.QAdd(TO_MAIN, at[one], at[other], at[target], y.count, *found),
    )
    sums.bytes = target
    if sums is not y:
        values = job.function(known(sums).real(np.arange(256)))
        y.bytes = program.buffer(y)
        program.table(target, y.bytes, known(y).stored(values).tobytes(), y.count)


def _once(*buffers: Buffer) -> list[Buffer]:
    return list(dict.fromkeys(buffers))


def _before(program: Program, a: Tensor, b: Tensor, y: Tensor) -> Tensor:
    """The sum itself, where the activation needs a table."""
    one, other = known(a), known(b)
    return Tensor(
        f"{y.name} before its activation", y.channels, y.height, y.width,
        bytes_between(one.low + other.low, one.high + other.high),
    )  # fmt: skip


def cuts_only(functions: Sequence[Function], y: Bytes) -> bool:
    """Whether the ends of a byte do what the activation does."""
    if not functions:
        return True
    low, high = reach(functions, y)
    places = np.linspace(low - y.scale * 300, high + y.scale * 300, _SAMPLES)
    return bool((y.stored(_applied(functions, places)) == y.stored(places)).all())


def reach(functions: Sequence[Function], y: Bytes) -> tuple[float, float]:
    """Between which sums the result changes: those below and above give the first and the last byte that there is."""
    if not functions:
        return y.low, y.high
    most = 4 * max(abs(y.low), abs(y.high), y.scale) + 8
    places = np.linspace(-most, most, _SAMPLES)
    results = y.stored(_applied(functions, places))
    changed = np.flatnonzero((results != results[0]) & (results != results[-1]))
    if not len(changed):
        return y.low, y.high
    return float(places[max(int(changed[0]) - 1, 0)]), float(places[min(int(changed[-1]) + 1, len(places) - 1)])


def _applied(functions: Sequence[Function], values: Array) -> Array:
    for one in functions:
        values = one(values)
    return values


def factors(a: Bytes, b: Bytes, y: Bytes) -> tuple[int, ...]:
    """Offsets, factors and shifts. The zero point of the result is a part of the offsets in front: so no sum is below
    zero but those that end as 0, as the shift behind rounds others wrongly."""
    ratios = a.scale / y.scale, b.scale / y.scale
    bits = _FRACTION - int(np.ceil(np.log2(max(ratios))))
    bits = int(np.clip(bits, 1, 30))
    mul_a, mul_b = (max(1, round(ratio * 2**bits)) for ratio in ratios)
    wanted = y.zero_point * 2**bits
    of_a = np.arange(-256, 257)
    of_b = np.rint((wanted - of_a * mul_a) / mul_b)
    errors = np.abs(of_a * mul_a + of_b * mul_b - wanted) + np.where(np.abs(of_b) > 1 << 20, 1e12, 0)
    best = int(errors.argmin())
    return (
        int(of_a[best]) - a.zero_point, mul_a, 0,
        int(of_b[best]) - b.zero_point, mul_b, 0,
        0, 1, bits,
    )  # fmt: skip
