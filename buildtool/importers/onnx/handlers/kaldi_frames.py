"""Kaldi's operators that move frames and features: appending, splicing, picking, delaying, padding."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.kaldi import (
    check_places,
    columns,
    count_of,
    frame_count,
    frames_at,
    frames_of,
    kaldi_handler,
)
from buildtool.importers.step import Step
from buildtool.ir.dims import bounds


@kaldi_handler("Append")
def append(step: Step) -> Tensor:
    """Features side by side, whatever the attribute 'axis' says."""
    inputs = step.present()
    if not inputs[0].rank:
        step.malformed("its input has rank 0, and no features")
    return step.emit("concat", *inputs, axis=inputs[0].rank - 1)


@kaldi_handler("DimRange")
def dim_range(step: Step) -> Tensor:
    size = count_of(step, "output_dim" if step.has("output_dim") else "dim")
    return columns(step, frames_of(step), step.integer("offset"), size)


@kaldi_handler("Offset", "ReplaceIndex", "Round", "Subsample")
def picked_frames(step: Step) -> Tensor:
    """Frames by their places. Why they are at other times (`offset`, `modulus`) no longer matters."""
    return frames_at(step, frames_of(step), step.integers("forward_indexes"))


@kaldi_handler("Splice")
def splice(step: Step) -> Tensor:
    """Several frames side by side; the last features, if they stay the same in all frames, only once."""
    x = frames_of(step)
    constant = step.integer("const_component_dim", 0)
    width = x.shape[-1]
    if constant < 0 or not isinstance(width, int) or constant >= width:
        step.malformed(f"{constant} of {width} features are constant")
    moving = columns(step, x, 0, width - constant)
    context = _context(step)
    if not step.has("forward_indexes"):
        return _spliced_by_context(step, x, moving, context)
    places = step.integers("forward_indexes")
    check_places(step, places, frame_count(step, x))
    if len(places) % len(context):
        step.malformed(f"{len(places)} frames cannot be shared out among {len(context)} in a row")
    table = np.array(places, np.int32).reshape(-1, len(context))
    rows = step.emit("gather", moving, step.constant(table), axis=x.rank - 2)
    rows = step.reshape(rows, (*x.shape[:-2], len(table), len(context) * (width - constant)))
    if not constant:
        return rows
    kept = step.integers("forward_const_indexes", tuple(int(place) for place in table[:, 0]))
    if len(kept) != len(table):
        step.malformed(f"{len(kept)} frames of constant features for {len(table)} frames")
    return step.emit(
        "concat", rows, frames_at(step, columns(step, x, width - constant, constant), kept), axis=x.rank - 1
    )


def _context(step: Step) -> tuple[int, ...]:
    """How far from a frame those are that are put in its place."""
    context = step.integers("context", ()) if step.has("context") else ()
    if not context and (step.has("left_context") or step.has("right_context")):
        left, right = step.integer("left_context", 0), step.integer("right_context", 0)
        step.check_table(max(left + right, 0))
        context = tuple(range(-left, right + 1))
    elif not step.has("context"):
        context = (0,)
    if not context:
        step.malformed("its context is empty")
    return context


def _spliced_by_context(step: Step, x: Tensor, moving: Tensor, context: tuple[int, ...]) -> Tensor:
    """Of all frames whose neighbours are there."""
    least, most = min(context), max(context)
    count = x.shape[-2] - (most - least)
    if bounds(count)[1] < 1:
        step.malformed(f"its context spans {most - least + 1} frames, but there are {x.shape[-2]}")
    parts = [(moving, place - least) for place in context]
    if moving.shape != x.shape:
        constant = x.shape[-1] - moving.shape[-1]
        assert isinstance(constant, int) and isinstance(moving.shape[-1], int)
        parts.append((columns(step, x, moving.shape[-1], constant), context[0] - least))
    rows = [
        step.emit(
            "slice",
            part,
            starts=(*(0 for _ in x.shape[:-2]), start, 0),
            steps=(1,) * x.rank,
            sizes=(*x.shape[:-2], count, part.shape[-1]),
        )
        for part, start in parts
    ]
    return step.emit("concat", *rows, axis=x.rank - 1)


@kaldi_handler("IfDefined")
def if_defined(step: Step) -> Tensor:
    """Frames of an earlier time; where they lie before the chunk, those of the chunk before it, or zeros.

    A negative index stands for such a frame. The first ones come from the cache (input 1), if there is one.
    """
    x, cache, offset = frames_of(step), step.optional(1), step.integer("offset", 0)
    if offset > 0:
        step.malformed(f"the attribute 'offset' is {offset}: later frames cannot be asked for")
    if offset == 0:
        return step.emit("identity", x)
    count = frame_count(step, x)
    places = step.integers("forward_indexes")
    if len(places) > count:
        step.malformed(f"it returns {len(places)} frames for {count} input frames")
    check_places(step, [place for place in places if place >= 0] or [0], count)
    places = (*places, *(-1 for _ in range(count - len(places))))  # what is not stated is zeros
    source, beyond = x, count
    if cache is not None:
        if cache.type != x.type:
            step.malformed(f"its cache is {cache.type}, its input {x.type}")
        places = _with_cache(step, places, count)
        source, beyond = step.emit("concat", x, cache, axis=x.rank - 2), 2 * count
    if min(places) < 0:
        after = (*(0 for _ in x.shape[:-2]), 1, 0)
        source = step.emit("pad", source, before=(0,) * x.rank, after=after, mode="constant", value=0.0)
    return frames_at(step, source, [beyond if place < 0 else place for place in places])


def _with_cache(step: Step, places: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The places in the frames of the chunk with those of the cache behind them."""
    leading = next((index for index, place in enumerate(places) if place >= 0), len(places))
    cached = step.integers("cache_forward_indexes", ()) if step.has("cache_forward_indexes") else ()
    check_places(step, cached or [0], count)
    stated = len(step.integers("forward_indexes"))
    if len(cached) != min(leading, stated):
        step.malformed(f"{len(cached)} frames of the cache stand for {min(leading, stated)} frames before the chunk")
    return (*(count + place for place in cached), *places[len(cached) :])


@kaldi_handler("PadContext")
def pad_context(step: Step) -> Tensor:
    """The first and the last frame again, as often as the context needs them."""
    x = frames_of(step)
    left, right = step.integer("left_context", 0), step.integer("right_context", 0)
    if left < 0 or right < 0:
        step.malformed(f"it adds {left} frames before and {right} after")
    before, after = ((*(0 for _ in x.shape[:-2]), border, 0) for border in (left, right))
    return step.emit("pad", x, before=before, after=after, mode="edge", value=0.0)
