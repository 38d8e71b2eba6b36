"""Turns the buffers of a TFLite file into arrays: dense ones, packed nibbles, and sparse ones, which are densified."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from buildtool import budget
from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.flatbuffer import Table
from buildtool.importers.tflite.schema import BFLOAT16, DAMAGED, DTYPES, INT4, STORED, element_types
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType

MOST_ELEMENTS = 2**31 - 1
MOST_DENSIFIED = 2**26  # elements of a tensor whose buffer may be tiny
_DENSE = 0
_INDICES = {1: "<i4", 2: "<u2", 3: "u1"}  # by the kind of the vector

#: Ways to quantise beside scales of channels, by the kind of their table.
_DETAILS = {1: "custom quantisation", 2: "quantisation in blocks", 3: "quantisation along several axes"}


def dtype_of_code(code: int, where: Where) -> DType:
    """The element type of a TFLite type number."""
    if code in DTYPES:
        return DTYPES[code]
    names = element_types()
    if code in names:
        raise UnsupportedError(
            f"elements of type {names[code]} are not supported",
            where=where,
            rule=f"supported: {', '.join(names.get(known, str(known)) for known in DTYPES)}",
            remedy="exclude the part of the model with these tensors (input_tensors)",
        )
    raise ModelFileError(f"{code} is not the number of an element type", where=where, remedy=DAMAGED)


def check_shape(shape: Sequence[int], where: Where) -> None:
    # 0 elements do not excuse the other dimensions: NumPy multiplies those too.
    if len(shape) > 16 or any(dim < 0 for dim in shape) or math.prod(max(dim, 1) for dim in shape) > MOST_ELEMENTS:
        raise ModelFileError(
            f"the shape {list(shape)} of the tensor is not possible",
            where=where,
            rule=f"at most 16 dimensions, none negative, at most {MOST_ELEMENTS} elements",
        )


def array_of(code: int, shape: tuple[int, ...], data: Array, sparsity: Table | None, where: Where) -> Array:
    """The content of a tensor, read-only; `data` are the bytes of its buffer."""
    dtype_of_code(code, where)
    check_shape(shape, where)
    budget.made(math.prod(shape) * DTYPES[code].itemsize)
    if sparsity is None:
        array = _elements(code, data, math.prod(shape), where).reshape(shape)
    else:
        array = _densified(code, shape, data, sparsity, where)
    array.setflags(write=False)
    return array


def _elements(code: int, data: Array, count: int | None, where: Where) -> Array:
    """The elements of a buffer; `count`: how many there must be."""
    if code == INT4:
        pairs = np.stack((data & 15, data >> 4), axis=-1).reshape(-1)
        array = ((pairs ^ 8).astype(np.int8) - np.int8(8))[:count]
    else:
        stored = np.dtype("<u2" if code == BFLOAT16 else STORED[code])
        if data.size % stored.itemsize:
            raise ModelFileError(f"the tensor has {data.size} bytes, no multiple of {stored.itemsize}", where=where)
        array = (data != 0) if stored.kind == "b" else np.frombuffer(data.tobytes(), stored)
    if count is not None and array.size != count:
        raise ModelFileError(
            f"the tensor holds {array.size} elements, but its shape needs {count}", where=where, remedy=DAMAGED
        )
    if code == BFLOAT16:
        return np.asarray((array.astype(np.uint32) << 16).view(np.float32))
    return np.asarray(array.astype(DTYPES[code].numpy))


def _densified(code: int, shape: tuple[int, ...], data: Array, sparsity: Table, where: Where) -> Array:
    """A tensor whose axes, and those of blocks in them, are walked in some order, each dense or with listed places."""
    order = tuple(int(axis) for axis in sparsity.numbers(0, "<i4"))
    blocks = tuple(int(axis) for axis in sparsity.numbers(1, "<i4"))
    levels = list(sparsity.tables(2))
    walks_all = sorted(order) == list(range(len(order))) and len(levels) == len(order) == len(shape) + len(blocks)
    if not shape or not walks_all:
        raise ModelFileError(f"a sparse tensor walks the axes {list(order)}", where=where, remedy=DAMAGED)
    if any(not 0 <= axis < len(shape) for axis in blocks) or len(set(blocks)) != len(blocks):
        raise ModelFileError(f"a sparse tensor has blocks along {list(blocks)}", where=where, remedy=DAMAGED)
    sizes = _expanded(shape, blocks, [level.integer(1) for level in levels], order, where)
    if math.prod(shape) > MOST_DENSIFIED:
        raise UnsupportedError(
            f"a sparse tensor of {math.prod(shape)} elements", where=where, rule=f"at most {MOST_DENSIFIED} elements"
        )
    values = _elements(code, data, None, where)
    places = np.zeros((1, 0), np.int64)  # of the elements so far, along the levels that were walked
    for level, axis in zip(levels, order, strict=True):
        places = _walked(places, level, sizes[axis], where, max(values.size, len(sparsity.file.data)))
    if len(places) != values.size:
        raise ModelFileError(f"{values.size} sparse values for {len(places)} places", where=where, remedy=DAMAGED)
    dense = np.zeros(sizes, values.dtype)
    dense[tuple(places[:, order.index(axis)] for axis in range(len(order)))] = values
    # The axes of blocks come behind the axis that they split.
    turned: list[int] = []
    for axis in range(len(shape)):
        turned += [axis, *([len(shape) + blocks.index(axis)] if axis in blocks else [])]
    return np.ascontiguousarray(dense.transpose(turned)).reshape(shape)


def _expanded(
    shape: tuple[int, ...], blocks: tuple[int, ...], stated: Sequence[int], order: Sequence[int], where: Where
) -> tuple[int, ...]:
    """The sizes of all axes with those of blocks at the end; a split axis counts its blocks."""
    sides = [stated[order.index(len(shape) + index)] for index in range(len(blocks))]
    sizes = list(shape)
    for axis, side in zip(blocks, sides, strict=True):
        if side < 1 or sizes[axis] % side:
            raise ModelFileError(f"blocks of {side} along an axis of {sizes[axis]}", where=where, remedy=DAMAGED)
        sizes[axis] //= side
    return (*sizes, *sides)


def _walked(places: Array, level: Table, size: int, where: Where, most: int) -> Array:
    """Each place so far becomes as many as the level has elements below it; `most`: what the file can have."""
    if level.integer(0, "<b") == _DENSE:
        if len(places) * size > most:
            raise ModelFileError("a sparse tensor has more places than values", where=where, remedy=DAMAGED)
        below = np.tile(np.arange(size), len(places))
        return np.column_stack((np.repeat(places, size, axis=0), below))
    segments, indices = (_index_list(level, field, where) for field in (2, 4))
    counts = np.diff(segments)
    fits = len(segments) == len(places) + 1 and segments[0] == 0 and segments[-1] == len(indices)
    if not fits or (counts < 0).any() or ((indices < 0) | (indices >= size)).any() or len(indices) > most:
        raise ModelFileError("the places of a sparse tensor make no sense", where=where, remedy=DAMAGED)
    return np.column_stack((np.repeat(places, counts, axis=0), indices))


def _index_list(level: Table, field: int, where: Where) -> Array:
    kind, table = level.integer(field, "<B"), level.table(field + 1)
    if kind not in _INDICES or table is None:
        raise ModelFileError("a sparse tensor without places", where=where, remedy=DAMAGED)
    return table.numbers(0, _INDICES[kind]).astype(np.int64)


def _check_zero_points(zeros: Array, dtype: DType | None, where: Where) -> None:
    """A zero point is one of the numbers of the type."""
    if dtype is None or not dtype.is_integer:
        return
    ends = np.iinfo(str(dtype.numpy))
    wrong = [int(zero) for zero in zeros if not ends.min <= zero <= ends.max]
    if wrong:
        raise ModelFileError(f"the zero point {wrong[0]} is no {dtype.value}", where=where, remedy=DAMAGED)


def quantisation_of(table: Table | None, code: int, shape: Sequence[int], where: Where) -> QuantType | None:
    """Scales and zero points of a tensor of a type, by its number; None where it has none."""
    if table is None:
        return None
    if details := table.integer(4, "<B"):  # the scales of the file then say nothing
        raise UnsupportedError(
            f"{_DETAILS.get(details, f'quantisation of kind {details}')} is not supported",
            where=where,
            remedy="quantise the weights with one scale, or one for each channel",
        )
    scales, zeros = table.numbers(2, "<f4"), table.numbers(3, "<i8")
    if not scales.size:
        return None
    if not zeros.size:
        zeros = np.zeros(scales.size, np.int64)
    axis = table.integer(6) if scales.size > 1 else None
    if axis is not None and len(shape) == 1:
        axis = 0  # old converters give a bias the axis of its filter
    fits = axis is None or (0 <= axis < len(shape) and shape[axis] == scales.size)
    if not fits or zeros.size not in (1, scales.size):
        raise ModelFileError(
            f"{scales.size} scales and {zeros.size} zero points for the shape {list(shape)}",
            where=where,
            remedy=DAMAGED,
        )
    _check_zero_points(zeros, DTYPES.get(code), where)
    if not np.isfinite(scales).all() or (scales < 0).any():
        raise ModelFileError("a scale is not a positive number", where=where, remedy=DAMAGED)
    if (scales == 0).any():  # what converters write for tensors that are zero everywhere
        scales = np.where(scales == 0, np.float32(1), scales)
    spread = np.broadcast_to(zeros, scales.shape)
    return QuantType(tuple(float(scale) for scale in scales), tuple(int(zero) for zero in spread), axis)
