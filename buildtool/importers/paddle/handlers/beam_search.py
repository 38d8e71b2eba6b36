"""Beam search over one sentence: a step that keeps the best candidates, and the way back through all steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.beams import DECODE, ONE_SENTENCE, PARENTS, READ_PARENTS, SEARCH
from buildtool.importers.paddle.offsets import offsets_slot
from buildtool.importers.paddle.registry import Outputs, handler, maybe, node_of, one
from buildtool.importers.paddle.values import as_type, flag, part, plus
from buildtool.importers.step import Step
from buildtool.ir.graph import Region
from buildtool.ir.types import DType, TensorType


@handler(SEARCH)
def search(step: Step) -> Outputs:
    """The best candidates of all rows, by row, and in each by falling score. A finished row has itself alone."""
    before, scored, scores = one(step, "pre_ids"), one(step, "pre_scores"), one(step, "scores")
    beam, end = step.integer("beam_size"), step.integer("end_id")
    rows, count = step.check_rank(scores, 2, what="its tensor of scores").shape
    if not isinstance(rows, int) or not isinstance(count, int) or rows not in (1, beam) or count < beam:
        step.unsupported(f"a beam of {beam} among {rows} rows with {count} candidates", ONE_SENTENCE)
    if step.integer("level", 0) != 0:
        step.unsupported("a search at an inner level of offsets", ONE_SENTENCE)
    if any(item.shape[:1] != (rows,) for item in (before, scored)):
        step.unsupported(f"{rows} rows of scores behind {before.type} and {scored.type}", ONE_SENTENCE)
    before, scored = (step.reshape(item, (rows, 1)) for item in (before, scored))
    ids = maybe(step, "ids")
    ids = _numbers(step, count) if ids is None else step.reshape(as_type(step, ids, DType.S64), (rows, count))
    if not flag(step, "is_accumulated", True):
        scores = plus(step, step.emit("log", scores), scored)
    over = step.emit("equal", as_type(step, before, DType.S64), _whole(step, end))
    is_first = step.constant(np.arange(count).reshape(1, count) == 0)
    alone = step.emit("where", is_first, scored, _real(step, -np.inf))
    flat = rows * count
    values = step.reshape(step.emit("where", over, alone, scores), (flat,))
    ids = step.emit("where", over, _whole(step, end), ids)
    ids = step.reshape(step.emit("broadcast_to", ids, shape=(rows, count)), (flat,))
    _, best = step.emit_all("topk", values, axis=0, k=(beam,), largest=True)
    owners = step.emit("div", best, _whole(step, count))
    parents, order = step.emit_all("topk", owners, axis=0, k=(beam,), largest=False)
    places = step.emit("gather", best, order, axis=0)
    chosen, kept = (step.emit("gather", item, places, axis=0) for item in (ids, values))
    ended = step.emit("gather", step.reshape(over, (rows,)), parents, axis=0)
    ended = step.emit("logical_and", ended, step.emit("equal", chosen, _whole(step, end)))
    all_ended = step.emit("reduce_min", as_type(step, ended, DType.S64), axes=(0,), keepdims=True)
    all_ended = step.emit("equal", all_ended, _whole(step, 1))
    traced = step.emit("where", all_ended, _whole(step, -1), parents)
    return {
        "selected_ids": step.reshape(chosen, (beam, 1)),
        "selected_scores": step.reshape(kept, (beam, 1)),
        "parent_idx": as_type(step, parents, DType.S32),
        "selected_ids@parents": traced,
        "selected_scores@parents": traced,
    }


@handler(READ_PARENTS)
def read_parents(step: Step) -> Tensor:
    """Before the first step of the search there is one row, which continues itself."""
    array = step.optional(node_of(step).slots["Array"][0]) if node_of(step).slots.get("Array") else None
    if array is None:
        return step.constant(np.zeros(1, np.int64))
    index = as_type(step, step.reshape(one(step, "I"), ()), DType.S64)
    return step.emit("gather", array, index, axis=0)


@handler(DECODE)
def decode(step: Step) -> Outputs:
    """All sentences, the one with the best score first, without what follows their first end."""
    ids, scores, parents = _table(step, "Ids"), _table(step, "Scores"), maybe(step, PARENTS)
    length = maybe(step, "Length")
    if parents is None or length is None or ids.shape != scores.shape or ids.shape != parents.shape:
        step.unsupported("steps that no search in a loop has written", ONE_SENTENCE)
    steps, beam = ids.shape
    found, kept, best = _way_back(step, (ids, scores, parents), length, step.integer("end_id"))
    _, order = step.emit_all("topk", best, axis=0, k=(beam,), largest=True)
    flat = [step.reshape(_sentences(step, item, order), (steps * beam,)) for item in (*found, kept)]
    made = [step.emit_sized("compress", steps * beam, item, flat[2], axis=0)[0] for item in flat[:2]]
    counts = step.emit("reduce_sum", as_type(step, _sentences(step, kept, order), DType.S64), axes=(1,), keepdims=False)
    ends = step.emit("cumsum", counts, axis=0, exclusive=False, reverse=False)
    offsets = step.emit("concat", step.constant(np.zeros(1, np.int64)), ends, axis=0)
    return {
        "SentenceIds": made[0],
        "SentenceScores": made[1],
        offsets_slot("SentenceIds"): offsets,
    }


def _table(step: Step, slot: str) -> Tensor:
    """The elements [steps, rows] of an array."""
    array = one(step, slot)
    return step.reshape(array, (array.shape[0], array.shape[1])) if array.rank == 3 else step.check_rank(array, 2)


def _sentences(step: Step, x: Tensor, order: Tensor) -> Tensor:
    """[steps, rows], the last step first, as [rows, steps] in an order."""
    starts, sizes = (x.shape[0] - 1, 0), x.shape
    forwards = step.emit("slice", x, starts=starts, steps=(-1, 1), sizes=sizes)
    return step.emit("gather", step.transpose(forwards, (1, 0)), order, axis=0)


def _way_back(
    step: Step, tables: Sequence[Tensor], length: Tensor, end: int
) -> tuple[tuple[Tensor, Tensor], Tensor, Tensor]:
    """Words and scores [steps, rows], the last step first, which of them count, and the score [rows] of the whole."""
    ids, scores, _ = tables
    steps, beam = ids.shape
    assert isinstance(steps, int) and isinstance(beam, int)
    length = as_type(step, step.reshape(length, ()), DType.S64)
    region = Region()
    number = step.taken(region, TensorType(DType.S64, ()))
    began = step.taken(region, TensorType(DType.BOOL, ()))
    row = step.taken(region, TensorType(DType.S64, (beam,)))
    best = step.taken(region, TensorType(scores.dtype, (beam,)))
    with step.inside(region):
        time = step.emit("sub", _whole(step, steps - 1), number)
        word, score, origin = (
            step.emit("gather", step.emit("gather", item, time, axis=0), row, axis=0) for item in tables
        )
        has_rows = step.emit("less_equal", _whole(step, 0), part(step, origin, 0, 0, 1))
        there = step.emit("logical_and", step.reshape(has_rows, ()), step.emit("less", time, length))
        is_last = step.emit("logical_and", there, step.emit("logical_not", began))
        # Before the first step of the search there is one row.
        is_row = step.emit("logical_or", step.emit("less", _whole(step, 0), time), step.constant(np.arange(beam) == 0))
        goes_on = step.emit("logical_not", step.emit("equal", word, _whole(step, end)))
        counts = step.emit(
            "logical_or", step.emit("logical_and", goes_on, began), step.emit("logical_and", is_last, is_row)
        )
        counts = step.emit("logical_and", counts, there)
        best_now = step.emit("where", step.emit("logical_and", is_last, is_row), score, best)
        row_now = step.emit("where", there, step.emit("maximum", origin, _whole(step, 0)), row)
        began_now = step.emit("logical_or", began, there)
    step.give(region, [step.constant(np.array(True)), began_now, row_now, best_now, word, score, counts])
    starts = [
        step.constant(np.array(False)),
        _numbers(step, beam),
        step.constant(np.full(beam, -np.inf, scores.dtype.numpy)),
    ]
    trips = [_whole(step, steps), step.constant(np.array(True))]
    results = step.emit_regions("loop", [*trips, *starts], [region], most=(steps,), size=())
    return (results[3], results[4]), results[5], results[2]


def _numbers(step: Step, count: int) -> Tensor:
    return step.constant(np.arange(count))


def _whole(step: Step, number: int) -> Tensor:
    return step.constant(np.array(number, np.int64))


def _real(step: Step, number: float) -> Tensor:
    return step.constant(np.array(number, np.float32))
