"""Definitions of operators that read or write places which the data gives. Places outside are those at the border."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from buildtool.ir.dims import static
from buildtool.ops.gather_nd import GatherNd
from buildtool.ops.hardmax import Hardmax
from buildtool.ops.resample import Resample
from buildtool.ops.reverse_sequence import ReverseSequence
from buildtool.ops.scatter_elements import ScatterElements
from buildtool.ops.scatter_nd import ScatterNd
from buildtool.ops.tensor_scatter import TensorScatter
from buildtool.ops.topk import Topk
from buildtool.targets.micro.definitions.tracing import Traced, UntraceableError, as_traced, constant, take

_MOST_PAIRS = 1 << 24  # of places and updates, which are all compared


def topk(op: Topk, x: Traced) -> tuple[Traced, Traced]:
    """By ranks: how many elements come before each. NaN is the largest."""
    count, size, axis = static(op.k)[0], x.shape[op.axis], op.axis
    rows: Any = x.moved(np.moveaxis(x.everywhere(), axis, -1))
    outer = rows.shape[:-1]
    rows = rows.reshape(prod(outer), size)
    one, other = rows.reshape(-1, size, 1), rows.reshape(-1, 1, size)
    if x.dtype.kind == "f":
        nan, other_nan = one != one, other != other
    else:
        nan, other_nan = constant(np.zeros((1, 1, 1), bool)), constant(np.zeros((1, 1, 1), bool))
    above = (other > one) | (other_nan & ~nan)
    below = (other < one) | (nan & ~other_nan)
    places = np.arange(size)
    earlier = (places[None, :] < places[:, None])[None]
    first, last = (above, below) if op.largest else (below, above)
    before = first | (~last & earlier)
    ranks: Any = before.astype(np.int64).reduced("sum", 2, False)
    chosen: Any = ranks.reshape(-1, 1, size) == np.arange(count)[None, :, None]
    picked: Any = np.where(chosen, places[None, None, :], 0)
    found: Any = picked.reduced("sum", 2, False)
    flat: Any = found + (np.arange(prod(outer)) * size)[:, None]
    values = take(rows.reshape(-1), flat, 0).reshape(*outer, count)
    indices = found.reshape(*outer, count)
    back = [each.moved(np.moveaxis(each.everywhere(), -1, axis)) for each in (values, indices)]
    return back[0], back[1]


def hardmax(op: Hardmax, x: Traced) -> Traced:
    largest: Any = x.reduced("argmax", op.axis, True)
    places = np.arange(x.shape[op.axis]).reshape([-1 if axis == op.axis else 1 for axis in range(x.ndim)])
    found: Any = np.where(largest == places, x.dtype.type(1), x.dtype.type(0))
    return as_traced(found)


def gather_nd(op: GatherNd, x: Traced, indices: Traced) -> Traced:
    depth, batches = indices.shape[-1], op.batch_dims
    sizes = x.shape[: batches + depth]
    flat: Any = _flat(indices, x.shape[batches : batches + depth])
    each = prod(x.shape[batches : batches + depth])
    start = np.arange(prod(sizes[:batches])).reshape((*sizes[:batches], *(1,) * (flat.ndim - batches))) * each
    rows = x.reshape(prod(sizes), *x.shape[batches + depth :])
    return take(rows, flat + start, 0)


def _flat(indices: Traced, sizes: Sequence[int]) -> Traced:
    """One number for the last axis, which has a place for each of some axes."""
    total: Any = constant(np.zeros(indices.shape[:-1], np.int64))
    for axis, size in enumerate(sizes):
        total = total * size + _inside(indices[..., axis], size)
    found: Traced = total
    return found


def _inside(places: Traced, size: int) -> Any:
    wide: Any = places.astype(np.int64)
    return np.clip(np.where(wide < 0, wide + size, wide), 0, size - 1)


def scatter_nd(op: ScatterNd, x: Traced, indices: Traced, updates: Traced) -> Traced:
    depth = indices.shape[-1]
    sizes, inner = x.shape[:depth], prod(x.shape[depth:])
    targets = _flat(indices, sizes).reshape(-1)
    found: Traced = _scattered(
        x.reshape(prod(sizes), inner), targets, updates.reshape(targets.size, inner), op.reduction
    )
    return found.reshape(*x.shape)


def scatter_elements(op: ScatterElements, x: Traced, indices: Traced, updates: Traced) -> Traced:
    places = np.indices(indices.shape)
    flat: Any = constant(np.zeros(indices.shape, np.int64))
    for axis, size in enumerate(x.shape):
        flat = flat * size + (_inside(indices, size) if axis == op.axis else places[axis])
    targets = flat.reshape(-1)
    found: Traced = _scattered(x.reshape(-1, 1), targets, updates.reshape(-1, 1), op.reduction)
    return found.reshape(*x.shape)


def _scattered(x: Any, targets: Any, updates: Any, reduction: str) -> Any:
    """Rows of x with those of updates, each of which has a target."""
    count, inner = x.shape
    if count * targets.size * (1 if reduction == "none" else inner) > _MOST_PAIRS:
        raise UntraceableError(f"{targets.size} updates of {count} places are too many to compare")
    if not targets.size:
        return x
    hits: Any = targets.reshape(1, -1) == np.arange(count)[:, None]
    if reduction == "none":
        numbers: Any = np.where(hits, np.arange(1, targets.size + 1)[None, :], 0)
        last: Any = numbers.reduced("max", 1, False)
        return np.where((last > 0).reshape(-1, 1), take(updates, np.maximum(last - 1, 0), 0), x)
    limits = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
    neutral = {"add": 0, "mul": 1, "min": limits.max, "max": limits.min}[reduction]
    if x.dtype.kind == "f" and reduction in ("min", "max"):
        neutral = np.inf if reduction == "min" else -np.inf
    turned = updates.moved(updates.everywhere().T[None])  # [1, inner, updates]
    parts: Any = np.where(hits.reshape(count, 1, -1), turned, x.dtype.type(neutral))
    kind = {"add": "sum", "mul": "prod", "min": "min", "max": "max"}[reduction]
    total: Any = parts.reduced(kind, 2, False)
    joined = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[reduction]
    return joined(x, total)


def reverse_sequence(op: ReverseSequence, x: Traced, lengths: Traced) -> Traced:
    order = (op.batch_axis, op.time_axis)
    rows = x.moved(np.moveaxis(x.everywhere(), order, (0, 1)))
    found = reversed_rows(rows, lengths)
    return found.moved(np.moveaxis(found.everywhere(), (0, 1), order))


def reversed_rows(rows: Traced, lengths: Traced) -> Traced:
    """[batch, time, ...] with the first elements of each row turned round."""
    batch, steps = rows.shape[:2]
    wide: Any = lengths.astype(np.int64)
    ends = np.clip(wide, 0, steps).reshape(-1, 1)
    time = np.arange(steps)[None, :]
    places: Any = np.where(ends > time, ends - 1 - time, time) + np.arange(batch)[:, None] * steps
    return take(rows.reshape(batch * steps, *rows.shape[2:]), places, 0)


def tensor_scatter(op: TensorScatter, cache: Traced, update: Traced, *starts: Traced) -> Traced:
    axis, size, count = op.axis, cache.shape[op.axis], update.shape[op.axis]
    if count > size:
        raise UntraceableError("more elements than the cache has")
    kept: Any = cache.moved(np.moveaxis(cache.everywhere(), axis, 1))
    new: Any = update.moved(np.moveaxis(update.everywhere(), axis, 1))
    batch, inner = kept.shape[0], kept.shape[2:]
    first: Any = starts[0].astype(np.int64) if starts else constant(np.zeros(batch, np.int64))
    if not op.circular:
        first = np.clip(first, 0, size - count)
    apart: Any = np.arange(size)[None, :] - first.reshape(-1, 1)
    if op.circular:
        apart = apart % size
    inside: Any = (apart >= 0) & (apart < count)
    places: Any = np.clip(apart, 0, max(count - 1, 0)) + np.arange(batch)[:, None] * count
    if not count:
        return cache
    taken = take(new.reshape(batch * count, *inner), places, 0)
    found: Any = np.where(inside.reshape(batch, size, *(1,) * len(inner)), taken, kept)
    found = as_traced(found)
    back: Traced = found.moved(np.moveaxis(found.everywhere(), 1, axis))
    return back


def resample(op: Resample, x: Traced, places: Traced, weights: Traced) -> Traced:
    moved = x.moved(np.moveaxis(x.everywhere(), op.axis, 0))
    inner = moved.shape[1:]
    wide: Any = places.astype(np.int64)
    taken: Any = take(moved, np.clip(wide, 0, moved.shape[0] - 1), 0)
    weighed: Any = taken * weights.reshape(*weights.shape, *(1,) * len(inner)).astype(taken.dtype)
    found: Any = weighed.reduced("sum", 1, False)
    back: Traced = found.moved(np.moveaxis(found.everywhere(), 0, op.axis))
    return back
