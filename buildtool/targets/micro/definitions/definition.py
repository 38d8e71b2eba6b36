"""The definition of a node as expressions: its reference, traced, and operators whose windows or steps are loops."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ops._conv import ConvOperator
from buildtool.ops._integer_conv import IntegerConvOperator
from buildtool.ops._pool import PoolOperator
from buildtool.ops._recurrent import RecurrentOperator
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.bitcast import Bitcast
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.deform_conv2d import DeformConv2d
from buildtool.ops.det import Det
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.gather import Gather
from buildtool.ops.gather_elements import GatherElements
from buildtool.ops.gather_nd import GatherNd
from buildtool.ops.hardmax import Hardmax
from buildtool.ops.inverse import Inverse
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.max_roi_pool import MaxRoiPool
from buildtool.ops.resample import Resample
from buildtool.ops.reverse_sequence import ReverseSequence
from buildtool.ops.roi_align import RoiAlign
from buildtool.ops.scatter_elements import ScatterElements
from buildtool.ops.scatter_nd import ScatterNd
from buildtool.ops.tensor_scatter import TensorScatter
from buildtool.ops.topk import Topk
from buildtool.targets.micro.definitions import by_places, by_procedures
from buildtool.targets.micro.definitions import expressions as ex
from buildtool.targets.micro.definitions.loops import Function, function
from buildtool.targets.micro.definitions.tracing import (
    Traced,
    UntraceableError,
    as_traced,
    constant,
    take,
    traced_modules,
)

_Windowed: TypeAlias = ConvOperator | PoolOperator | IntegerConvOperator


def functions(
    op: Operator, inputs: Sequence[Array | tuple[tuple[int, ...], str]]
) -> tuple[Callable[[], Function], ...]:
    """A function of C for each output. Inputs: constants, or shapes and types. UntraceableError where it has none."""
    given: list[ex.Given] = []
    traced: list[Traced] = []
    for index, each in enumerate(inputs):
        if isinstance(each, tuple):
            given.append(ex.Given(each[0], np.dtype(each[1]), f"x{index}"))
            traced.append(Traced(given[-1]))
        else:
            traced.append(constant(each))
    with traced_modules(), _walks():
        try:
            found = _defined(op, traced)
        except UntraceableError:
            raise
        except OperatorError:
            raise
        except (TypeError, ValueError, AttributeError, IndexError, NotImplementedError) as problem:
            raise UntraceableError(f"{type(problem).__name__}: {problem}") from problem
    everything = [each if isinstance(each, Traced) else constant(each) for each in found]
    return tuple(_later(each, given) for each in everything)


def _later(traced: Traced, given: Sequence[ex.Given]) -> Callable[[], Function]:
    return lambda: function(traced.expr, given)


def _defined(op: Operator, inputs: Sequence[Traced]) -> Sequence[Any]:
    match op:
        case Conv2d():
            return (_conv(op, *inputs),)
        case DwConv2d():
            return (_depthwise(op, *inputs),)
        case MaxPool2d():
            return (_max_pool(op, *inputs),)
        case AvgPool2d():
            return (_average_pool(op, *inputs),)
        case Gather():
            return (take(inputs[0], inputs[1], op.axis),)
        case GatherElements():
            return (_gather_elements(op, *inputs),)
        case Topk():
            return by_places.topk(op, *inputs)
        case Hardmax():
            return (by_places.hardmax(op, *inputs),)
        case GatherNd():
            return (by_places.gather_nd(op, *inputs),)
        case ScatterNd():
            return (by_places.scatter_nd(op, *inputs),)
        case ScatterElements():
            return (by_places.scatter_elements(op, *inputs),)
        case ReverseSequence():
            return (by_places.reverse_sequence(op, *inputs),)
        case TensorScatter():
            return (by_places.tensor_scatter(op, *inputs),)
        case Resample():
            return (by_places.resample(op, *inputs),)
        case Det():
            return (by_procedures.determinants(*inputs),)
        case Inverse():
            return (by_procedures.inverses(*inputs),)
        case RoiAlign():
            return (by_procedures.roi_align(op, *inputs),)
        case MaxRoiPool():
            return (by_procedures.max_roi_pool(op, *inputs),)
        case DeformConv2d():
            return (by_procedures.deform_conv2d(op, *inputs),)
        case Bitcast():
            return (by_procedures.bitcast(op, *inputs),)
        case _:
            untyped: Any = op
            found: Sequence[Any] = untyped.reference(*inputs)
            return found


def _windows(
    x: Traced, size: tuple[int, int], kernel: tuple[int, int], op: _Windowed, value: float, groups: int
) -> Traced:
    """What each place of the output sees: [N, OH, OW, groups, KH, KW, C / groups]."""
    batch, _, _, channels = x.shape
    deep = channels // groups
    shape = (batch, *size, groups, *kernel, deep)
    (sh, sw), (dh, dw) = op.strides, op.dilations
    forms = ((1, 0, 0, 0, 0, 0, 0), (0, sh, 0, 0, dh, 0, 0), (0, 0, sw, 0, 0, dw, 0), (0, 0, 0, deep, 0, 0, 1))
    return Traced(ex.Seen(shape, x.dtype, x.expr, forms, (0, -op.pads[0], -op.pads[1], 0), value))


def _size(op: ConvOperator | IntegerConvOperator, x: Traced, kernel: Sequence[int]) -> tuple[int, int]:
    rows, columns = (
        (x.shape[1 + axis] + op.pads[axis] + op.pads[axis + 2] - (kernel[axis] - 1) * op.dilations[axis] - 1)
        // op.strides[axis]
        + 1
        for axis in (0, 1)
    )
    return rows, columns


def _turned(seen: Traced, *order: int) -> Traced:
    """The axes of windows in another order."""
    found = seen.expr
    assert isinstance(found, ex.Seen)
    forms = tuple(tuple(form[axis] if axis >= 0 else 0 for axis in order) for form in found.forms)
    shape = tuple(found.shape[axis] if axis >= 0 else 1 for axis in order)
    return Traced(ex.Seen(shape, found.dtype, found.source, forms, found.offsets, found.value))


def _conv(op: Conv2d, x: Traced, w: Traced, *added: Traced) -> Traced:
    made, *kernel, deep = w.shape
    size = _size(op, x, kernel)
    seen = _turned(_windows(x, size, (kernel[0], kernel[1]), op, 0.0, op.groups), 0, 1, 2, 3, -1, 4, 5, 6)
    each = made // op.groups
    product: Any = seen * w.reshape(op.groups, each, *kernel, deep)
    y: Any = product.reduced("sum", (5, 6, 7), False)
    for addend in added:
        y = y + (addend.reshape(op.groups, each) if addend.ndim == 1 else addend.reshape(*y.shape))
    activated: Any = op.activated(y)
    found: Traced = activated
    return found.reshape(x.shape[0], *size, made)


def _sums(op: IntegerConvOperator, x: Any, x_zero: Any, w: Any, w_zero: Any) -> Traced:
    """The sums of products of integers."""
    made, *kernel, deep = w.shape
    size, wide = _size(op, x, kernel), np.int32
    outside = int(x_zero.constant.reshape(()))
    seen = _turned(_windows(x, size, (kernel[0], kernel[1]), op, outside, op.groups), 0, 1, 2, 3, -1, 4, 5, 6)
    filters: Any = w.astype(wide) - (w_zero.astype(wide).reshape(-1, 1, 1, 1) if w_zero.ndim else w_zero.astype(wide))
    centred: Any = seen.astype(wide) - np.int32(outside)
    product: Any = centred * filters.reshape(op.groups, made // op.groups, *kernel, deep)
    found: Traced = product.reduced("sum", (5, 6, 7), False)
    return found.reshape(x.shape[0], *size, made)


def _depthwise(op: DwConv2d, x: Traced, w: Traced, *bias: Traced) -> Traced:
    kernel, channels = w.shape[:2], x.shape[3]
    size = _size(op, x, kernel)
    seen = _turned(_windows(x, size, (kernel[0], kernel[1]), op, 0.0, channels), 0, 1, 2, 3, -1, 4, 5)
    filters = w.reshape(*kernel, channels, op.multiplier).transpose(2, 3, 0, 1)
    product: Any = seen * filters
    y: Any = product.reduced("sum", (5, 6), False)
    y = y + bias[0].reshape(channels, op.multiplier) if bias else y
    activated: Any = op.activated(y)
    found: Traced = activated
    return found.reshape(x.shape[0], *size, w.shape[2])


def _max_pool(op: MaxPool2d, x: Traced) -> Traced:
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    size = op.output_size((x.shape[1], x.shape[2]))
    seen = _windows(x, size, (op.kernel[0], op.kernel[1]), op, lowest, x.shape[3])
    return _turned(seen, 0, 1, 2, 3, 4, 5).reduced("max", (4, 5), False)


def _average_pool(op: AvgPool2d, x: Traced) -> Traced:
    size = op.output_size((x.shape[1], x.shape[2]))
    seen = _windows(x, size, (op.kernel[0], op.kernel[1]), op, 0.0, x.shape[3])
    counts = constant(np.maximum(_counts(op, (x.shape[1], x.shape[2]), size), 1).astype(x.dtype))
    total: Any = _turned(seen, 0, 1, 2, 3, 4, 5).reduced("sum", (4, 5), False)
    found: Traced = total / counts
    return found


def _counts(op: AvgPool2d, size: tuple[int, int], output: tuple[int, int]) -> NDArray[np.int64]:
    """How many taps of each window count: [1, OH, OW, 1]."""
    found = []
    for axis in (0, 1):
        before, behind = op.pads[axis], op.pads[axis + 2]
        low, high = (-before, size[axis] + behind) if op.count_include_pad else (0, size[axis])
        taps = (
            np.arange(output[axis])[:, None] * op.strides[axis]
            - before
            + np.arange(op.kernel[axis]) * op.dilations[axis]
        )
        found.append(((taps >= low) & (taps < high)).sum(axis=1))
    return np.asarray((found[0][:, None] * found[1][None, :])[None, :, :, None], np.int64)


def _gather_elements(op: GatherElements, x: Traced, indices: Traced) -> Traced:
    axis = op.axis
    size, inner = x.shape[axis], int(np.prod(x.shape[axis + 1 :]))
    where = np.indices(indices.shape)
    others = [where[other] * int(np.prod(x.shape[other + 1 :])) for other in range(x.ndim) if other != axis]
    start = np.sum(others, axis=0) if others else np.zeros(indices.shape, np.int64)
    chosen: Any = indices.astype(np.int64)
    chosen = np.where(chosen < 0, chosen + size, chosen)
    return take(x.reshape(-1), chosen * inner + start, 0)


@contextmanager
def _walks() -> Any:
    """Recurrences are loops over their steps, sums of products loops over windows."""
    walk, sums = RecurrentOperator.walk, IntegerConvOperator.sums
    RecurrentOperator.walk = _walk  # type: ignore[method-assign,assignment]
    IntegerConvOperator.sums = _sums  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        RecurrentOperator.walk = walk  # type: ignore[method-assign]
        IntegerConvOperator.sums = sums  # type: ignore[method-assign]


def _walk_to_ends(
    op: RecurrentOperator, x: Any, states: Sequence[Any], lengths: Any, advance: Any
) -> tuple[Traced, ...]:
    """Sequences of different lengths: a column says whether a step is inside of its sequence; behind it states stay."""
    steps, batch, deep = x.shape
    ends: Any = np.clip(as_traced(lengths).astype(np.int64), 0, steps)
    live: Any = (ends.reshape(1, -1) > np.arange(steps)[:, None]).reshape(steps, batch, 1)
    turned = x
    if op.reverse:
        turned = by_places.reversed_rows(x.transpose(1, 0, 2), ends).transpose(1, 0, 2)
    marked = np.concatenate([turned, live.astype(np.float32)], axis=2)

    def stopped(step: Any, current: tuple[Any, ...]) -> tuple[Any, ...]:
        inside = step[:, deep:] != 0
        return tuple(np.where(inside, a, b) for a, b in zip(advance(step[:, :deep], current), current, strict=True))

    y, *last = _walk(dataclasses.replace(op, reverse=False), marked, states, None, stopped)
    y = as_traced(np.where(live, y, np.float32(0)))
    if op.reverse:
        y = by_places.reversed_rows(y.transpose(1, 0, 2), ends).transpose(1, 0, 2)
    return y, *last


def _walk(op: RecurrentOperator, x: Any, states: Sequence[Any], lengths: Any, advance: Any) -> tuple[Traced, ...]:
    steps, batch = x.shape[:2]
    if lengths is not None:
        return _walk_to_ends(op, x, states, lengths, advance)
    step = ex.Given(x.shape[1:], np.dtype(np.float32), "step")
    shapes = [(batch, state.shape[1]) for state in states]
    inner = tuple(ex.Given(shape, np.dtype(np.float32), "state") for shape in shapes)
    following = tuple(each.expr for each in advance(Traced(step), tuple(Traced(each) for each in inner)))
    first = tuple(
        state.moved(np.broadcast_to(state.everywhere(), shape)).expr
        for state, shape in zip(states, shapes, strict=True)
    )

    def result(which: int, last: bool) -> Traced:
        shape = shapes[which] if last else (steps, *shapes[which])
        about = (x.expr, step, first, inner, following, op.reverse, which, last)
        return Traced(ex.Walk(shape, np.dtype(np.float32), *about))

    return result(0, False), *(result(which, True) for which in range(len(inner)))
