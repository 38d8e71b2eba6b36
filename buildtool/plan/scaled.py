"""Weights that are stored as whole numbers of a few bits, each times a scale: `quantize_large_weights`.

Symmetric, with a scale for each output, or for each block of 32 numbers along the depth of an output where the numbers
have 4 bits. Only the weights of products are stored so, and only large ones; what is added (biases) never is. The
library computes with the products of numbers and scales, in single precision, and so does this program.

Filters that are transformed for Winograd's kernels are stored so, too, where `data_type` says f16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from buildtool.ir.dims import static
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

LEAST = 1024  # numbers: smaller constants stay as they are
_BLOCK = 32  # numbers of 4 bits that have one scale
_PIECE = 1 << 18  # numbers that are exact at a time
_WINOGRAD = "winograd"  # how the names of packings of transformed filters begin
_F16_RANGE = (2.0**-14, 65504.0)  # of its normal numbers


@dataclass(frozen=True)
class View:
    """A constant as [outer, depth, width]: what stands along the depth of one column makes one output."""

    outer: int
    depth: int
    width: int
    block: int  # numbers along the depth with one scale

    @property
    def blocks(self) -> int:
        return -(-self.depth // self.block)

    @property
    def scales(self) -> tuple[int, int, int]:
        return self.outer, self.blocks, self.width

    @property
    def count(self) -> int:
        return self.outer * self.depth * self.width


@dataclass(frozen=True)
class Form:
    """How numbers are stored: their type in the container, and what they reach."""

    storage: DType  # u8: two of 4 bits in a byte
    low: int
    high: int


FORMS = {"int8": Form(DType.S8, -127, 127), "int16": Form(DType.S16, -32767, 32767), "int4": Form(DType.U8, -8, 7)}
#: Of these, the ones that round so much that the algorithms that transform filters make the error grow.
COARSE = frozenset({"int8", "int4"})


@dataclass(frozen=True)
class Weights:
    """How one constant is stored."""

    view: View
    form: Form


@dataclass(frozen=True)
class Scaled:
    """A constant as it is stored. `scales` are float32, or float16 where that holds them well."""

    numbers: bytes
    scales: Array


@dataclass(frozen=True)
class _Piece:
    """Whole blocks of a constant, by their places along its three axes."""

    numbers: tuple[slice, slice, slice]
    scales: tuple[slice, slice, slice]

    def blocks(self, whole: Array, view: View) -> Array:
        """[outer, blocks, block, width] in double precision; zeros stand where the last block ends early."""
        found = np.asarray(whole[self.numbers], np.float64)
        outer, depth, width = found.shape
        blocks = -(-depth // view.block)
        if depth < blocks * view.block:
            padded = np.zeros((outer, blocks * view.block, width))
            padded[:, :depth] = found
            found = padded
        return found.reshape(outer, blocks, view.block, width)


def _pieces(view: View) -> Iterator[_Piece]:
    """A constant in pieces of about `_PIECE` numbers. A piece of one column is cut from nothing wider: sums along the
    depth of it would be in another order.
    """
    wide = max(_PIECE // view.block, 2)
    deep = max(_PIECE // (view.block * min(wide, view.width)), 1)
    high = max(deep // view.blocks, 1)
    starts = list(range(0, view.width, wide))
    if len(starts) > 1 and view.width - starts[-1] == 1:
        starts.pop()
    columns = [slice(start, end) for start, end in zip(starts, [*starts[1:], view.width], strict=True)]
    for outer in range(0, view.outer, high):
        rows = slice(outer, min(outer + high, view.outer))
        for block in range(0, view.blocks, deep):
            end = min(block + deep, view.blocks)
            depth = slice(block * view.block, min(end * view.block, view.depth))
            for column in columns:
                yield _Piece((rows, depth, column), (rows, slice(block, end), column))


def chosen(graph: Graph, word: str) -> dict[Value, Weights]:
    """The constants that are stored as scaled numbers where `quantize_large_weights` says `word` (empty: none)."""
    if not word:
        return {}
    found = {value: _weights(view, word) for value, view in _large_weights(graph) if _is_finite(value)}
    return {value: weights for value, weights in found.items() if _bytes(weights) < weights.view.count * 4}


def not_finite(graph: Graph) -> tuple[str, ...]:
    """The names of constants that stay as they are because they hold infinities or what is not a number."""
    return tuple(value.name for value, _ in _large_weights(graph) if not _is_finite(value))


def of_packed(weights: Weights, packing: str, shape: tuple[int, ...]) -> Weights | None:
    """The same for the packed constant; None where its packing has no columns. In panels stand the same numbers and
    scales in another order. Winograd's filters are others, and more: each of their points has scales of its own.
    """
    if packing.startswith(_WINOGRAD):
        points, panels, depth, width = shape
        word = next(word for word, form in FORMS.items() if form == weights.form)
        return _weights(_of(points * panels, depth, width), word)
    if not packing.startswith("panels"):
        return None
    groups, panels, *window, width = shape
    return replace(weights, view=View(groups * panels, prod(window), width, weights.view.block))


def beyond_halves(value: Value, packing: str) -> bool:
    """Whether f16 would spoil a constant in this packing. Winograd's filters are the plain ones times as little as
    1/3600: f16 has no normal numbers there.
    """
    return packing.startswith(_WINOGRAD) and value.type.dtype is DType.F32 and _is_finite(value)


def in_16_bits(shape: tuple[int, ...]) -> Weights:
    """How Winograd's filters are stored instead."""
    points, panels, depth, width = shape
    return _weights(_of(points * panels, depth, width), "int16")


def reduced(array: Array, weights: Weights) -> Scaled:
    """The numbers and scales of a constant, which is finite. The exact numbers that they come from are made for a piece
    of it at a time: double precision of a whole layer takes many times the memory of the layer.
    """
    view, form = weights.view, weights.form
    whole = array.reshape(view.outer, view.depth, view.width)
    largest = np.zeros(view.scales)
    for piece in _pieces(view):
        largest[piece.scales] = np.abs(piece.blocks(whole, view)).max(axis=2)
    scales = _fitted_scales(whole, view, largest) if form.storage is DType.U8 else _scales(largest, form.high)
    kind = np.dtype(np.int8) if form.storage is DType.U8 else form.storage.numpy.newbyteorder("<")
    numbers = np.empty(whole.shape, kind)
    for piece in _pieces(view):
        found = _numbers(piece.blocks(whole, view), scales[piece.scales], form)
        target = numbers[piece.numbers]
        outer, depth, width = target.shape
        target[...] = found.reshape(outer, -1, width)[:, :depth]
    if form.storage is not DType.U8:
        return Scaled(numbers.tobytes(), scales)
    nibbles = numbers.view(np.uint8).reshape(-1)
    nibbles &= 15
    pairs = np.zeros((nibbles.size + 1) // 2, np.uint8)
    pairs[: nibbles.size // 2] = nibbles[1::2] << 4
    pairs |= nibbles[::2]
    return Scaled(pairs.tobytes(), scales)


def expanded(numbers: bytes, scales: Array, weights: Weights) -> Array:
    """The constant as the library computes with it, flat. `numbers` and `scales` have the sizes that the view asks."""
    view, form = weights.view, weights.form
    if form.storage is DType.U8:
        pairs = np.frombuffer(numbers, np.uint8)
        flat = np.empty(pairs.size * 2, np.int8)
        flat[::2], flat[1::2] = pairs & 15, pairs >> 4
        flat ^= 8
        flat -= 8
        stored = flat[: view.count]
    else:
        stored = np.frombuffer(numbers, form.storage.numpy.newbyteorder("<"))
    whole = stored.reshape(view.outer, view.depth, view.width)
    result = np.empty(whole.shape, np.float32)
    with np.errstate(all="ignore"):  # of a file that somebody spoilt
        for piece in _pieces(view):
            each = scales.reshape(view.scales)[piece.scales].astype(np.float32)
            each = np.repeat(each, view.block, axis=1)[:, : result[piece.numbers].shape[1]]
            np.multiply(whole[piece.numbers].astype(np.float32), each, out=result[piece.numbers])
    return result.ravel()


def number_bytes(storage: DType, count: int) -> int:
    """What so many numbers take."""
    return (count + 1) // 2 if storage is DType.U8 else count * storage.itemsize


def _large_weights(graph: Graph) -> Iterator[tuple[Value, View]]:
    """The f32 constants of at least `LEAST` numbers that all of their users read as the same kind of weights."""
    views: dict[Value, set[View | None]] = {}
    for node in graph.walk():
        for index, value in enumerate(node.inputs):
            views.setdefault(value, set()).add(_view(node, index))
    for region in graph.bodies():
        for value in region.outputs:
            views.setdefault(value, set()).add(None)
    for value, found in views.items():
        (view, *others) = found
        if view is not None and not others:
            yield value, view


def _view(node: Node, index: int) -> View | None:
    """How an input of the node is seen as weights; None where it is something else."""
    value = node.inputs[index]
    if value.constant is None or value.type.dtype is not DType.F32 or value.constant.size < LEAST:
        return None
    shape = static(value.type.shape)
    match node.op.name, index:
        case ("separable_conv2d" | "pointwise_dwconv2d", 3) | ("dwconv2d", 1):
            return _of(1, prod(shape[:-1]), shape[-1])
        case ("matmul", 0):
            return _of(prod(shape[:-1]), shape[-1], 1)
        case ("matmul", 1):
            return _of(prod(shape[:-2]), shape[-2], shape[-1]) if len(shape) > 1 else _of(1, shape[0], 1)
        case ("gather", 0) if len(shape) > 1 and getattr(node.op, "axis", None) == 0:
            return _of(shape[0], prod(shape[1:]), 1)
        case (name, 1) if name in _ROWS:
            return _of(shape[0], prod(shape[1:]), 1)
    return None


# Operators whose input 1 has an output in each row.
_ROWS = {
    *("conv2d", "conv3d", "deconv2d", "deconv3d", "deform_conv2d", "fully_connected"),
    *("separable_conv2d", "pointwise_dwconv2d", "lstm", "gru", "rnn"),
}


def _of(outer: int, depth: int, width: int) -> View:
    return View(outer, depth, width, depth)


def _weights(view: View, word: str) -> Weights:
    """What has less than a block for an output (depthwise filters, those of a picture's colours) is a small part of a
    model and the first to suffer: 4 bits become 8 there.
    """
    if word == "int4" and view.depth < _BLOCK:
        return Weights(view, FORMS["int8"])
    block = _BLOCK if word == "int4" else view.depth
    return Weights(replace(view, block=block), FORMS[word])


def _bytes(weights: Weights) -> int:
    """What the constant takes at most."""
    return number_bytes(weights.form.storage, weights.view.count) + 4 * prod(weights.view.scales)


def _is_finite(value: Value) -> bool:
    assert value.constant is not None
    return bool(np.isfinite(value.constant).all())


def _scales(largest: Array, high: int) -> Array:
    """The scales by which `largest` becomes `high`. One that is too small for a normal number is rounded up, so that
    nothing is cut off, and one whose product would become infinite down; of zeros alone it is 0.
    """
    scales = (largest / high).astype(np.float32)
    cut = scales.astype(np.float64) * high < largest * (1 - 2.0**-20)
    scales = np.where(cut, np.nextafter(scales, np.float32(np.inf)), scales)
    with np.errstate(over="ignore"):
        over = np.isinf(scales * np.float32(high))
    return np.where(over, np.nextafter(scales, np.float32(0)), scales)


def _fitted_scales(whole: Array, view: View, largest: Array) -> Array:
    """The scales of blocks in 4 bits that lose least, squared: to cut off the largest number often pays."""
    form = FORMS["int4"]
    reaches = np.linspace(1.0, 0.7, 13)
    halved = [_fit_halves(_scales(largest * reach, form.high)) for reach in reaches]  # all scales of a constant do
    best = np.zeros(largest.shape, np.float32)
    for piece in _pieces(view):
        blocks = piece.blocks(whole, view)
        best[piece.scales] = _best_of(blocks, largest[piece.scales], reaches, halved)
    with np.errstate(over="ignore"):
        halves = best.astype(np.float16)
    return halves if np.array_equal(halves.astype(np.float32), best) else best


def _best_of(blocks: Array, largest: Array, reaches: Array, halved: Sequence[bool]) -> Array:
    form = FORMS["int4"]
    best, least = np.zeros(largest.shape, np.float32), np.full(largest.shape, np.inf)
    for reach, half in zip(reaches, halved, strict=True):
        scales = _scales(largest * reach, form.high)
        if half:
            scales = scales.astype(np.float16).astype(np.float32)
        with np.errstate(over="ignore"):
            products = _numbers(blocks, scales, form).astype(np.float32) * scales[:, :, None]
        error = ((products - blocks) ** 2).sum(axis=2)
        best, least = np.where(error < least, scales, best), np.minimum(error, least)
    return best


def _fit_halves(scales: Array) -> bool:
    """Whether half precision holds all of them as normal numbers."""
    used = scales[scales > 0]
    return not used.size or bool(_F16_RANGE[0] <= used.min() and used.max() <= _F16_RANGE[1])


def _numbers(blocks: Array, scales: Array, form: Form) -> Array:
    each = scales.astype(np.float64)[:, :, None]
    quotients = np.divide(blocks, each, out=np.zeros_like(blocks), where=each > 0)
    numbers: Array = np.clip(np.rint(quotients), form.low, form.high)
    return numbers
