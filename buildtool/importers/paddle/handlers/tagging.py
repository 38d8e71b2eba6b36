"""The best sequence of tags by Viterbi's algorithm, as taggers of words end with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.handlers.sequences import segments
from buildtool.importers.paddle.registry import Outputs, handler, maybe, one, wants
from buildtool.importers.paddle.segments import Segments
from buildtool.importers.paddle.values import flag, part, plus
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step
from buildtool.ir.dims import product
from buildtool.ir.graph import Region
from buildtool.ir.types import DType, TensorType

_ENDLESS = np.iinfo(np.int64).max


@dataclass(frozen=True)
class _Weights:
    """Scores of D tags: of the first one [1, D], of the last one [1, D], and of going from one to another [D, D]."""

    first: Tensor | None
    last: Tensor | None
    moves: Tensor


@handler("crf_decoding")
def crf_decoding(step: Step) -> Outputs:
    """Rows of scores, or a batch with lengths. With labels, the result says where the best tag is the label."""
    x, table, lengths = one(step, "Emission"), one(step, "Transition"), maybe(step, "Length")
    tags = channels(step, table, 1)
    step.check_rank(x, 2 if lengths is None else 3, what="its input 'Emission'")
    if table.shape != (tags + 2, tags) or x.shape[-1] != tags:
        step.malformed(f"weights {list(map(str, table.shape))} for {x.shape[-1]} tags")
    first, last, moves = step.emit_all("split", table, axis=0, sizes=(1, 1, tags))
    weights = _Weights(first, last, moves)
    path = _of_rows(step, x, weights) if lengths is None else _best(step, x, _flat(step, lengths), weights)[1]
    label = maybe(step, "Label")
    if label is not None:
        same = step.emit("equal", path, step.emit("cast", step.reshape(label, path.shape), to=DType.S64))
        path = step.emit("cast", same, to=DType.S64)
    return {"ViterbiPath": path if lengths is None else _cut(step, path, _flat(step, lengths))}


def _of_rows(step: Step, x: Tensor, weights: _Weights) -> Tensor:
    """The tags of sequences that stand one behind the other."""
    rows = segments(step, x, "Emission")
    if rows is None:
        _, path = _best(step, step.reshape(x, (1, *x.shape)), None, weights)
        return step.reshape(path, (x.shape[0], 1))
    padded, _ = rows.padded(x.shape[0])
    _, path = _best(step, padded, rows.lengths, weights)
    return step.reshape(rows.packed(path), (x.shape[0], 1))


@handler("viterbi_decode")
def viterbi_decode(step: Step) -> Outputs:
    """A batch with lengths: the best score, and the tags up to the end of the longest sequence."""
    x, moves, lengths = one(step, "Input"), one(step, "Transition"), _flat(step, one(step, "Length"))
    step.check_rank(x, 3, what="its input 'Input'")
    tags = channels(step, moves, 1)
    if moves.shape != (tags, tags) or x.shape[2] != tags or tags < 2:
        step.malformed(f"weights {list(map(str, moves.shape))} for {x.shape[2]} tags")
    first = last = None
    if flag(step, "include_bos_eos_tag", True):  # the last two tags are those in front of a sequence and behind it
        last, first = part(step, moves, 0, tags - 2, 1), part(step, moves, 0, tags - 1, 1)
    score, path = _best(step, x, lengths, _Weights(first, last, moves))
    if not wants(step, "Path"):
        return {"Scores": score}
    longest = step.emit("reduce_max", lengths, axes=(0,), keepdims=True)
    kept = _less(step, Segments.numbers(step, x.shape[1]), longest)
    (shorter,) = step.emit_sized("compress", x.shape[1], _cut(step, path, lengths), kept, axis=1)
    return {"Scores": score, "Path": shorter}


def _flat(step: Step, lengths: Tensor) -> Tensor:
    return step.emit("cast", step.reshape(lengths, (product(lengths.shape),)), to=DType.S64)


def _cut(step: Step, path: Tensor, lengths: Tensor) -> Tensor:
    """With 0 behind the end of each sequence."""
    batch, steps = path.shape
    numbers = step.reshape(Segments.numbers(step, steps), (1, steps))
    return step.emit("where", _less(step, numbers, step.reshape(lengths, (batch, 1))), path, _whole(step, 0))


def _best(step: Step, x: Tensor, lengths: Tensor | None, weights: _Weights) -> tuple[Tensor, Tensor]:
    """The best scores [B], and the tags [B, T] that reach them; behind the end of a sequence any."""
    ends = None if lengths is None else step.reshape(lengths, (x.shape[0], 1))
    scores, origins = _forwards(step, x, ends, weights)
    if weights.last is not None:
        final = plus(step, scores, weights.last)
        scores = final if ends is None else step.emit("where", _less(step, _whole(step, 0), ends), final, scores)
    tag = step.emit("argmax", scores, axis=1, keepdims=True, select_last_index=False)
    return step.emit("reduce_max", scores, axes=(1,), keepdims=False), _backwards(step, origins, tag)


def _forwards(step: Step, x: Tensor, ends: Tensor | None, weights: _Weights) -> tuple[Tensor, Tensor]:
    """The best scores [B, D] of all tags at the end, and for each step [T, B, D] the best tag before each."""
    batch, _, tags = x.shape
    rows = step.transpose(x, (1, 0, 2))
    every = step.constant(np.arange(channels(step, x, 2)).reshape(1, -1))
    zero = step.constant(np.zeros((), x.dtype.numpy))
    start = step.emit("broadcast_to", zero if weights.first is None else weights.first, shape=(batch, tags))
    region = Region()
    number = step.taken(region, TensorType(DType.S64, ()))
    before = step.taken(region, start.type)
    with step.inside(region):
        reached = plus(step, step.reshape(before, (batch, tags, 1)), step.reshape(weights.moves, (1, tags, tags)))
        is_first = step.emit("equal", number, _whole(step, 0))
        best = step.emit("where", is_first, before, step.emit("reduce_max", reached, axes=(1,), keepdims=False))
        after = plus(step, best, step.emit("gather", rows, number, axis=0))
        origin = step.emit("argmax", reached, axis=1, keepdims=False, select_last_index=False)
        if ends is not None:  # a sequence of no steps keeps the scores of its first one
            goes_on = _less(step, number, step.emit("maximum", ends, _whole(step, 1)))
            after = step.emit("where", goes_on, after, before)
            origin = step.emit("where", goes_on, origin, every)
    step.give(region, [step.constant(np.array(True)), after, origin])
    scores, origins = _repeated(step, region, rows, start)
    return scores, origins


def _backwards(step: Step, origins: Tensor, last: Tensor) -> Tensor:
    """The tags [B, T] on the way to the last ones [B, 1]."""
    steps, batch, _ = origins.shape
    top = Tensor.of(np.array(steps - 1, object))
    region = Region()
    number = step.taken(region, TensorType(DType.S64, ()))
    tag = step.taken(region, last.type)
    with step.inside(region):
        origin = step.emit("gather", origins, step.emit("sub", top, number), axis=0)
        before = step.emit("gather_elements", origin, tag, axis=1)
        kept = step.emit("identity", tag)
    step.give(region, [step.constant(np.array(True)), before, kept])
    _, path = _repeated(step, region, origins, last)
    path = step.emit("slice", path, starts=(steps - 1, 0, 0), steps=(-1, 1, 1), sizes=path.shape)
    return step.transpose(step.reshape(path, (steps, batch)), (1, 0))


def _repeated(step: Step, region: Region, rows: Tensor, start: Tensor) -> tuple[Tensor, ...]:
    """A region that runs once for each row."""
    count = rows.shape[0]
    trips = step.constant(np.array(count if isinstance(count, int) else _ENDLESS, np.int64))
    always = step.constant(np.array(True))
    return step.emit_regions("loop", [trips, always, start], [region], most=(count,), size=())


def _less(step: Step, x: Tensor, y: Tensor) -> Tensor:
    return step.emit("less", x, y)


def _whole(step: Step, number: int) -> Tensor:
    return step.constant(np.array(number, np.int64))
