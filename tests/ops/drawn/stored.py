"""What is drawn for kernels of quantised numbers: the shapes of the families of floats, and others, stored in bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, QuantType
from buildtool.ops.add import Add
from buildtool.ops.gather import Gather
from buildtool.ops.mul import Mul
from buildtool.ops.pad import Pad
from buildtool.ops.reduce_mean import ReduceMean
from buildtool.ops.registry import builtin
from buildtool.ops.requantize import Requantize
from buildtool.ops.softmax import Softmax
from buildtool.ops.sub import Sub
from tests.ops.case import OpCase, cases_of
from tests.ops.drawn import elements, products, windows
from tests.ops.drawn.drawing import distinct
from tests.ops.drawn.numbers import CHANNELS, generators, shapes
from tests.ops.inputs import Rng, label
from tests.ops.stored import FUNCTIONS
from tests.ops.stored_case import ACTIVATIONS, Operand, Storage, bias_of, whole, word_of


@dataclass(frozen=True)
class Drawn:
    """A node on quantised numbers."""

    name: str
    op: Operator
    operands: tuple[Operand, ...]
    results: tuple[Storage, ...]

    @property
    def key(self) -> str:
        """What makes it another one."""
        stored = [(operand.array.shape, operand.array.dtype, operand.quant is None) for operand in self.operands]
        return f"{self.op} {stored}"


def _single(number: float) -> float:
    """As models store scales."""
    return float(np.float32(number))


Family = st.SearchStrategy[Drawn]
_ZEROS = st.sampled_from((0, -128, 127)) | st.integers(-128, 127)
_SCALES = st.sampled_from((0.25, 0.0625)) | st.floats(0.005, 0.1).map(_single)  # powers of two make ties


@st.composite
def _quants(draw: st.DrawFn, dtype: Any = np.int8) -> QuantType:
    limits = np.iinfo(dtype)
    middle = 0 if limits.min < 0 else 1 << (limits.bits - 1)
    return QuantType((draw(_SCALES),), (draw(_ZEROS) + middle,), bits=limits.bits)


@st.composite
def _weights(draw: st.DrawFn, rng: Rng, shape: tuple[int, ...], axis: int) -> Operand:
    """Symmetric ones with a scale per output, or one for all; -128 is rare in networks."""
    outputs = shape[axis]
    least = draw(st.sampled_from((-127, -127, -128)))
    numbers = np.maximum(whole(rng, shape), least).astype(np.int8)
    if draw(st.integers(0, 4)) == 0:
        scales: tuple[float, ...] = (draw(_SCALES),) * outputs
    else:
        scales = tuple(float(np.float32(scale)) for scale in rng.uniform(0.002, 0.02, outputs))
    return Operand(numbers, QuantType(scales, (0,) * outputs, axis), True)


@st.composite
def _summed(draw: st.DrawFn, case: OpCase, axis: int, terms: int) -> Drawn:
    """Of a case with weights: bytes for its numbers, and results of which most are inside of what a byte holds."""
    rng = draw(generators())
    x, w, *others = (array.shape for array in case.inputs)
    of_x = draw(_quants())
    weights = draw(_weights(rng, w, axis))
    assert weights.quant is not None
    scales = weights.quant.scales
    size = of_x.scales[0] * float(np.mean(scales)) * 60 * 60 * np.sqrt(terms) / 64
    exact = 2.0 ** round(np.log2(size))  # sums of products of powers of two end in ties
    of_y = replace(draw(_quants()), scales=(float(np.float32(exact if draw(st.booleans()) else size)),))
    operands = [Operand(whole(rng, x), of_x), weights]
    if others:
        operands.append(bias_of(rng, of_x, scales))
    if len(others) > 1:
        of_residual = replace(draw(_quants()), scales=(float(np.float32(of_y.scales[0] * rng.uniform(0.3, 2))),))
        operands.append(Operand(whole(rng, others[1]), of_residual))
    plain = {name: value for name, value in case.op.attributes().items() if not name.startswith("activation")}
    op = type(case.op)(**plain, **draw(st.sampled_from(ACTIVATIONS)))
    return Drawn(case.name, op, tuple(operands), ((DType.S8, of_y),))


@st.composite
def _conv2d(draw: st.DrawFn, of: st.SearchStrategy[OpCase]) -> Drawn:
    case = draw(of)
    return draw(_summed(case, 0, int(np.prod(case.inputs[1].shape[1:]))))


@st.composite
def _dwconv2d(draw: st.DrawFn, of: st.SearchStrategy[OpCase]) -> Drawn:
    case = draw(of)
    return draw(_summed(case, 2, int(np.prod(case.inputs[1].shape[:2]))))


@st.composite
def _fully_connected(draw: st.DrawFn) -> Drawn:
    case = draw(products.fully_connected())
    return draw(_summed(case, 0, case.inputs[1].shape[1]))


@st.composite
def _of_one(draw: st.DrawFn, of: st.SearchStrategy[OpCase]) -> Drawn:
    """Half of the results are stored as the input is."""
    case = draw(of)
    of_x = draw(_quants())
    of_y = of_x if draw(st.booleans()) else draw(_quants())
    x = Operand(whole(draw(generators()), case.inputs[0].shape), of_x)
    return Drawn(case.name, case.op, (x,), ((DType.S8, of_y),))


@st.composite
def _of_two(draw: st.DrawFn, make: Callable[..., Operator]) -> Drawn:
    case = draw(elements.binary(Add()))
    rng = draw(generators())
    operands = tuple(Operand(np.asarray(whole(rng, array.shape)), draw(_quants())) for array in case.inputs)
    activation = draw(st.sampled_from(ACTIVATIONS)) if make is Add else {}
    return Drawn(case.name, make(**activation), operands, ((DType.S8, draw(_quants())),))


@st.composite
def _concat(draw: st.DrawFn) -> Drawn:
    case = draw(elements.concat())
    rng = draw(generators())
    of_y = draw(_quants())
    alike = draw(st.sampled_from((0.0, 0.5, 1.0)))  # how many are stored as the result is
    operands = tuple(
        Operand(whole(rng, array.shape), of_y if rng.random() < alike else draw(_quants())) for array in case.inputs
    )
    return Drawn(case.name, case.op, operands, ((DType.S8, of_y),))


@st.composite
def _softmax(draw: st.DrawFn) -> Drawn:
    case = draw(elements.along_axis(Softmax))
    steps = draw(st.floats(0.001, 0.2).map(_single) | st.just(1.5))
    x = Operand(whole(draw(generators()), case.inputs[0].shape), replace(draw(_quants()), scales=(steps,)))
    of_y = draw(st.just(QuantType((1 / 256,), (-128,))) | _quants())
    return Drawn(case.name, case.op, (x,), ((DType.S8, of_y),))


@cache
def _with_attributes(name: str) -> tuple[Operator, ...]:
    """A function of one number, with the attributes that its cases have."""
    return tuple({case.op: None for case in cases_of(name) if len(case.inputs) == 1})


@st.composite
def _function(draw: st.DrawFn) -> Drawn:
    kinds: Any = draw(st.tuples(*[st.sampled_from((np.int8, np.int8, np.uint8))] * 2))
    shape, rng = draw(shapes()), draw(generators())
    # By a number that hypothesis does not see: it likes some names more than others.
    ways = _with_attributes(FUNCTIONS[int(rng.integers(len(FUNCTIONS)))])
    op = ways[int(rng.integers(len(ways)))]
    x = Operand(np.asarray(whole(rng, shape, kinds[0])), draw(_quants(kinds[0])))
    result = (DType(word_of(np.zeros(0, kinds[1]))), draw(_quants(kinds[1])))
    return Drawn(label(op.name, shape), op, (x,), (result,))


@st.composite
def _requantize(draw: st.DrawFn) -> Drawn:
    kinds = st.sampled_from((np.int8, np.int8, np.int8, np.uint8, np.int16, np.uint16))
    given: Any = draw(st.none() | kinds)
    made: Any = draw(kinds) if given is None else draw(st.none() | kinds)
    if draw(st.booleans()):  # what has kernels of its own
        given, made = draw(st.sampled_from((None, np.int8))), np.int8
    shape, rng = draw(shapes(most=20000)), draw(generators())
    quant = None if made is None else draw(_quants(made))
    if given is None:
        assert quant is not None
        real = np.asarray(rng.normal(size=shape) * quant.scales[0] * 2 ** (quant.bits - 2), np.float32)
        x = Operand(real, None)
    else:
        x = Operand(np.asarray(whole(rng, shape, given)), draw(_quants(given)))
    result = None if quant is None else (DType(word_of(np.zeros(0, made))), quant)
    words = [x.type.dtype.value, "f32" if result is None else result[0].value]
    return Drawn(label(shape, *words), Requantize(), (x,), (result,))


@st.composite
def _pads(draw: st.DrawFn) -> OpCase:
    shape = draw(shapes(least_rank=1))
    mode = draw(st.sampled_from(("constant", "constant", "reflect", "edge", "wrap")))
    most = [min(size - 1, 5) if mode == "reflect" else 5 for size in shape]
    before, after = (tuple(draw(st.integers(0, size)) for size in most) for _ in range(2))
    op = Pad(before, after, mode, draw(st.sampled_from((0.0, -1.3, 1e9))))
    return OpCase(op, (np.zeros(shape, np.float32),), label(shape, mode))


@st.composite
def _gathers(draw: st.DrawFn) -> OpCase:
    shape = draw(shapes(least_rank=1))
    axis, rng = draw(st.integers(0, len(shape) - 1)), draw(generators())
    size = shape[axis]
    if size % 2 == 0 and draw(st.booleans()):  # a shuffle of channels
        indices = np.arange(size).reshape(2, size // 2).T.reshape(-1)
    else:
        indices = rng.integers(-size, size, draw(CHANNELS))
    inputs = (np.zeros(shape, np.float32), np.asarray(indices, np.int64))
    return OpCase(Gather(axis), inputs, label(shape, "along", axis), (1,))


@st.composite
def _moved(draw: st.DrawFn, of: st.SearchStrategy[OpCase]) -> Drawn:
    """One way of storing for all that is a float in the case."""
    case = draw(of)
    dtype: Any = draw(st.sampled_from((np.int8, np.int8, np.uint8, np.int16)))
    quant, rng = draw(_quants(dtype)), draw(generators())

    def operand(index: int, array: Array) -> Operand:
        if array.dtype != np.float32:
            return Operand(array, None, index in case.constants)
        return Operand(np.asarray(whole(rng, array.shape, dtype)), quant)

    operands = tuple(operand(index, array) for index, array in enumerate(case.inputs))
    results = tuple((operands[0].type.dtype, quant) for _ in case.op.infer(case.types))
    return Drawn(case.name, case.op, operands, results)


@cache
def stored_families() -> Mapping[str, Family]:
    """The strategy of every family; the operators of `functions` and `moved` are drawn, too."""
    make = builtin()
    moves: Sequence[st.SearchStrategy[OpCase]] = (
        elements.transpose(),
        elements.gather_elements(),
        _gathers(),
        *(elements.binary(make[name]()) for name in ("maximum", "minimum")),
        *(elements.reduction(make[name]) for name in ("reduce_max", "reduce_min")),
    )
    return {
        "conv2d": _conv2d(windows.conv2d()),
        "conv2d_winograd": _conv2d(windows.conv2d_winograd()),
        "dwconv2d": _dwconv2d(windows.dwconv2d),
        "dwconv2d_3x3": _dwconv2d(windows.dwconv2d_3x3),
        "fully_connected": _fully_connected(),
        "max_pool2d": _of_one(windows.max_pool2d),
        "avg_pool2d": _of_one(windows.avg_pool2d),
        "resize2d": _of_one(windows.resize2d()),
        "reduce_mean": _of_one(elements.reduction(ReduceMean)),
        "add": _of_two(Add),
        "sub": _of_two(Sub),
        "mul": _of_two(Mul),
        "concat": _concat(),
        "softmax": _softmax(),
        "functions": _function(),
        "requantize": _requantize(),
        "pad": _moved(_pads()),
        "moved": st.one_of([_moved(strategy) for strategy in moves]),
    }


def drawn_stored(family: str, count: int) -> list[Drawn]:
    """So many different ones, the same ones every time."""
    found = distinct(f"stored {family}", stored_families()[family], count, lambda item: item.key)
    return [replace(item, name=f"drawn_{family}_{number}_{item.name}") for number, item in enumerate(found)]
