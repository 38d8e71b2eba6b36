"""Cases of operators on quantised numbers that look at elements alone or along an axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from buildtool.ir.operator import Operator
from buildtool.ir.types import DType, QuantType
from buildtool.ops.add import Add
from buildtool.ops.concat import Concat
from buildtool.ops.mul import Mul
from buildtool.ops.pad import Pad
from buildtool.ops.softmax import Softmax
from buildtool.ops.sub import Sub
from tests.ops.case import cases_of
from tests.ops.inputs import Rng
from tests.ops.native_cases import NativeCase
from tests.ops.stored_case import ACTIVATIONS, Operand, one_scale, stored_case, whole, word_of

_PAIRS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1,), (1,)),
    ((7,), (7,)),
    ((16,), (16,)),
    ((17,), (1,)),
    ((1,), (33,)),
    ((), (5,)),
    ((3, 31), (3, 31)),
    ((2, 5, 16), (16,)),
    ((2, 5, 1), (2, 1, 19)),
    ((1, 8, 8, 24), (1, 8, 8, 24)),
    ((1, 7, 5, 64), (1, 1, 1, 64)),
    ((4, 1, 3), (4, 7, 3)),
    ((0, 4), (4,)),
    ((2, 47), (2, 1)),
)
# Of a, b and the result: equal ones, powers of two that make ties, and far apart.
_SCALES = ((0.05, 0.05, 0.05), (0.5, 0.25, 1.0), (1e-6, 3.0, 0.1), (0.0173, 0.0411, 0.0523))


def _two(rng: Rng, op: Operator, name: str, index: int, shapes: tuple[tuple[int, ...], ...]) -> NativeCase:
    quants = [
        QuantType((float(np.float32(scale)),), (int(rng.integers(-128, 128)) if index % 2 else 0,))
        for scale in _SCALES[index % len(_SCALES)]
    ]
    operands = [Operand(np.asarray(whole(rng, shape)), quant) for shape, quant in zip(shapes, quants[:2], strict=True)]
    return stored_case(name, op, operands, (DType.S8, quants[2]))


def add(rng: Rng) -> Iterator[NativeCase]:
    for number, shapes in enumerate(_PAIRS):
        for turn, activation in enumerate(ACTIVATIONS):
            yield _two(rng, Add(**activation), f"{number}_{turn}", number + turn, shapes)


def sub(rng: Rng) -> Iterator[NativeCase]:
    for number, shapes in enumerate(_PAIRS):
        for turn in range(2):
            yield _two(rng, Sub(), f"{number}_{turn}", number + turn, shapes)


def mul(rng: Rng) -> Iterator[NativeCase]:
    for number, shapes in enumerate(_PAIRS):
        for turn in range(2):
            yield _two(rng, Mul(), f"{number}_{turn}", number + turn, shapes)


def concat(rng: Rng) -> Iterator[NativeCase]:
    shapes: tuple[tuple[int, tuple[tuple[int, ...], ...]], ...] = (
        (0, ((3,), (5,), (16,))),
        (1, ((2, 3), (2, 17), (2, 1))),
        (3, ((1, 5, 5, 24), (1, 5, 5, 40))),
        (1, ((2, 3, 5), (2, 4, 5))),
        (3, ((1, 4, 4, 58), (1, 4, 4, 58))),
        (1, ((3, 0), (3, 7))),
        (2, ((2, 2, 2, 2), (2, 2, 1, 2), (2, 2, 5, 2))),
    )
    for number, (axis, parts) in enumerate(shapes):
        quant = one_scale(rng)
        alike = [Operand(whole(rng, shape), quant) for shape in parts]
        yield stored_case(f"{number}_same", Concat(axis), alike, (DType.S8, quant))
        others = [
            Operand(whole(rng, shape), quant if index == 1 else one_scale(rng)) for index, shape in enumerate(parts)
        ]
        yield stored_case(f"{number}_mixed", Concat(axis), others, (DType.S8, quant))
    for number, (axis, parts) in enumerate(shapes):  # steps of another size, or counted from another zero
        quant = one_scale(rng)
        scaled = replace(quant, scales=(float(np.float32(quant.scales[0] * 1.7)),))
        moved = replace(quant, zero_points=(quant.zero_points[0] ^ 5,))
        ways = (scaled, moved, quant)
        mixed = [Operand(whole(rng, shape), ways[index % 3]) for index, shape in enumerate(parts)]
        yield stored_case(f"{number}_one_differs", Concat(axis), mixed, (DType.S8, quant))


def pad(rng: Rng) -> Iterator[NativeCase]:
    shapes: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...] = (
        ((5,), (1,), (2,)),
        ((3, 4), (0, 1), (1, 0)),
        ((1, 4, 4, 3), (0, 1, 1, 0), (0, 1, 1, 0)),
        ((2, 3, 17), (0, 0, 2), (0, 1, 1)),
        ((5, 24), (0, 0), (0, 4)),
        ((2, 3, 16), (0, 0, 0), (0, 0, 15)),
    )
    for number, (shape, before, after) in enumerate(shapes):
        for turn, (mode, value) in enumerate(
            (("constant", 0.0), ("constant", -1.3), ("constant", 1e9), ("reflect", 0.0))
        ):
            if mode == "reflect" and shape == (5,):
                continue
            dtype: Any = (np.int8, np.uint8, np.int16, np.uint16)[turn]
            quant = one_scale(rng, dtype)
            x = Operand(whole(rng, shape, dtype), quant)
            yield stored_case(f"{number}_{turn}", Pad(before, after, mode, value), [x], (x.type.dtype, quant))


def softmax(rng: Rng) -> Iterator[NativeCase]:
    shapes = (
        ((1,), 0),
        ((7,), 0),
        ((1, 1000), 1),
        ((3, 17), 1),
        ((3, 17), 0),
        ((2, 5, 3), 1),
        ((4, 64), 1),
        ((2, 300), 1),
    )
    results = (QuantType((1 / 256,), (-128,)), QuantType((0.0073,), (5,)))
    for number, (shape, axis) in enumerate(shapes):
        for turn, scale in enumerate((0.002, 0.08, 1.5)):
            quant = QuantType((float(np.float32(scale)),), (int(rng.integers(-128, 128)),))
            x = Operand(whole(rng, shape), quant)
            yield stored_case(f"{number}_{turn}", Softmax(axis), [x], (DType.S8, results[(number + turn) % 2]))


def function(rng: Rng, operator: str) -> Iterator[NativeCase]:
    """All bytes, for every attribute that the cases of the operator have."""
    every = {case.op: None for case in cases_of(operator) if len(case.inputs) == 1}
    kinds = tuple(product((np.int8, np.uint8), repeat=2))
    for number, op in enumerate(list(every)[:6]):
        for turn, (kind, made) in enumerate(kinds if number == 0 else kinds[:1]):
            limits: Any = np.iinfo(kind)
            x = np.arange(limits.min, limits.max + 1).astype(kind).reshape((1, 4, 64) if turn else (256,))
            quant = one_scale(rng, made, 0.005, 0.05)
            given = one_scale(rng, kind, 0.01, 0.08)
            yield stored_case(f"{number}_{turn}", op, [Operand(x, given)], (DType(word_of(np.zeros(0, made))), quant))
    x = Operand(whole(rng, (3, 7, 13)), one_scale(rng, high=3.0))  # type: ignore[assignment]
    yield stored_case("wide", next(iter(every)), [x], (DType.S8, one_scale(rng, high=2.0)))  # type: ignore[list-item]


def moved(rng: Rng, operator: str) -> Iterator[NativeCase]:
    """The cases of an operator with one way of storing for all numbers, whatever they are in floats."""
    count = 0
    for case in cases_of(operator):
        real = [array.dtype == np.float32 for array in case.inputs]
        if not real[0] or case.op.defined_symbols() or any(array.size > 20000 for array in case.inputs):
            continue
        dtype: Any = (np.int8, np.uint8, np.int16)[count % 3]
        quant = one_scale(rng, dtype)
        operands = [
            Operand(np.asarray(whole(rng, array.shape, dtype)), quant)
            if is_real
            else Operand(array, None, index in case.constants)
            for index, (array, is_real) in enumerate(zip(case.inputs, real, strict=True))
        ]
        made = case.op.infer(case.types)
        word = DType(word_of(np.zeros(0, dtype)))
        results = [(word, quant) if item.dtype is DType.F32 else None for item in made]
        yield stored_case(f"{count}", case.op, operands, *results)
        count += 1
        if count == 24:
            return
