"""Operators on sequences, which stand one behind the other in a tensor.

Where they begin is in a tensor of offsets, if there is one: the first is 0, the last is the number of rows. Without it
the rows of a tensor are one sequence.
"""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.beams import ONE_SENTENCE, PARENTS
from buildtool.importers.paddle.offsets import offsets_slot
from buildtool.importers.paddle.registry import Outputs, handler, many, maybe, one, wants
from buildtool.importers.paddle.segments import Segments
from buildtool.importers.paddle.values import part, plus, scalar
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, Shape, product
from buildtool.ir.types import DType

_POOLS = {"SUM": "reduce_sum", "AVERAGE": "reduce_mean", "MAX": "reduce_max", "SQRT": "reduce_sum"}
_FUNCTIONS = ("sigmoid", "tanh", "relu")


def segments(step: Step, x: Tensor, slot: str = "X") -> Segments | None:
    """Of the tensor of a slot; None where it is one sequence."""
    offsets = maybe(step, offsets_slot(slot))
    if offsets is not None and offsets.rank != 1:
        step.malformed(f"offsets of rank {offsets.rank}")
    return None if offsets is None or offsets.shape == (2,) else Segments(step, x, offsets)


@handler("lod_reset")
def lengths_are_set(step: Step) -> Outputs:
    return {"Out": step.emit("identity", one(step, "X"))}


@handler("sequence_softmax")
def softmax(step: Step) -> Tensor:
    x = one(step, "X")
    rows = segments(step, x)
    if rows is None:
        flat = step.reshape(x, (product(x.shape),))
        return step.reshape(step.emit("softmax", flat, axis=0), x.shape)
    powers = step.emit("exp", step.emit("sub", x, rows.spread(rows.reduced(x, "max"))))
    return step.emit("div", powers, rows.spread(rows.reduced(powers, "add")))


@handler("sequence_reverse")
def reverse(step: Step) -> Outputs:
    x = one(step, "X")
    rows = segments(step, x)
    if rows is not None:
        both = plus(step, rows.spread(rows.starts), rows.spread(rows.ends))
        mirrored = step.emit("sub", step.emit("sub", both, rows.places), step.constant(np.array(1)))
        return {"Y": step.emit("gather", x, mirrored, axis=0)}
    starts, steps = (step.size(x, 0) - 1, *(0 for _ in x.shape[1:])), (-1, *(1 for _ in x.shape[1:]))
    return {"Y": step.emit("slice", x, starts=starts, steps=steps, sizes=x.shape)}


@handler("sequence_pool")
def pool(step: Step) -> Outputs:
    x, kind = one(step, "X"), step.text("pooltype", "AVERAGE")
    sequences = segments(step, x)
    if kind not in (*_POOLS, "FIRST", "LAST"):
        step.malformed(f"the attribute 'pooltype' is '{kind}'")
    if sequences is not None:
        return {"Out": _pooled(step, x, sequences, kind)}
    rows = step.size(x, 0)
    if kind in ("FIRST", "LAST"):
        return {"Out": part(step, x, 0, 0 if kind == "FIRST" else rows - 1, 1)}
    y = step.emit(_POOLS[kind], x, axes=(0,), keepdims=True)
    if kind == "SQRT":
        if not isinstance(rows, int):
            step.unsupported("the root of a run-time length", "fix the input shapes")
        y = step.emit("mul", y, scalar(step, max(rows, 1) ** -0.5, y))
    return {"Out": y}


def _pooled(step: Step, x: Tensor, rows: Segments, kind: str) -> Tensor:
    """One row for each sequence. Those without rows have the padding value."""
    if kind in ("FIRST", "LAST"):
        last = step.emit("sub", rows.ends, step.constant(np.array(1)))
        place = rows.within(rows.starts if kind == "FIRST" else last)
        y = step.emit("gather", x, place, axis=0)
    else:
        y = rows.reduced(x, "max" if kind == "MAX" else "add")
    if kind in ("AVERAGE", "SQRT"):
        lengths = step.emit("cast", step.emit("maximum", rows.lengths, step.constant(np.array(1))), to=x.dtype)
        divisor = step.emit("sqrt", lengths) if kind == "SQRT" else lengths
        y = step.emit("div", y, rows.along(divisor, x.rank))
    empty = rows.along(step.emit("equal", rows.lengths, step.constant(np.array(0))), x.rank)
    return step.emit("where", empty, scalar(step, step.real("pad_value", 0.0), x), y)


@handler("sequence_concat")
def concat(step: Step) -> Outputs:
    """The first sequences of all inputs, then the second ones, and so on."""
    parts, offsets = many(step, "X"), many(step, offsets_slot("X"))
    if len(parts) == 1:
        return {"Out": parts[0], offsets_slot("Out"): offsets[:1]}
    y = step.emit("concat", *parts, axis=0)
    if len(offsets) != len(parts):
        return {"Out": y}
    total = offsets[0]
    for item in offsets[1:]:
        total = plus(step, total, item)
    if all(item.shape == (2,) for item in offsets):
        return {"Out": y, offsets_slot("Out"): total}
    pieces = [Segments(step, x, item) for x, item in zip(parts, offsets, strict=True)]
    starts = part(step, total, 0, 0, total.shape[0] - 1)
    places = []
    for rows in pieces:
        places.append(plus(step, rows.spread(step.emit("sub", starts, rows.starts)), rows.places))
        starts = plus(step, starts, rows.lengths)
    index = step.emit("concat", *places, axis=0)
    index = step.reshape(index, (index.shape[0], 1))
    return {"Out": step.emit("scatter_nd", y, index, y, reduction="none"), offsets_slot("Out"): total}


@handler("sequence_expand")
def expand(step: Step) -> Outputs:
    """Each row, or each sequence, as often as the sequence of the other tensor has rows that stands at its place."""
    x, like, offsets = one(step, "X"), one(step, "Y"), maybe(step, offsets_slot("X"))
    parents = maybe(step, PARENTS)
    if parents is not None:
        return {"Out": _followed(step, x, parents)}
    if offsets is None:
        return {"Out": _expanded(step, x, like, segments(step, like, "Y"))}
    others = maybe(step, offsets_slot("Y"))
    if others is None:
        step.unsupported("a tensor Y without offsets", "name them among input_tensors, as the input with '.lod'")
    return _repeated(step, Segments(step, x, offsets), Segments(step, like, others), x.shape)


def _followed(step: Step, x: Tensor, parents: Tensor) -> Tensor:
    """Each row as often as hypotheses of a search continue it; any row where the search has ended."""
    if x.shape[0] not in (1, parents.shape[0]):
        step.unsupported(f"{x.shape[0]} rows that {parents.shape[0]} hypotheses continue", ONE_SENTENCE)
    return step.emit("gather", x, step.emit("maximum", parents, step.constant(np.array(0))), axis=0)


def _repeated(step: Step, rows: Segments, others: Segments, shape: Shape) -> Outputs:
    """Each row of the others stands for a whole sequence; what is behind its end is left out."""
    padded, is_there = rows.padded(shape[0])
    copies, kept = others.spread(padded), others.spread(is_there)
    most = copies.shape[0] * shape[0]
    flat = step.reshape(copies, (most, *shape[1:]))
    (y,) = step.emit_sized("compress", most, flat, step.reshape(kept, (most,)), axis=0)
    return {"Out": y, offsets_slot("Out"): _behind_each_other(step, others.spread(rows.lengths))}


def _behind_each_other(step: Step, lengths: Tensor) -> Tensor:
    """Offsets of sequences of these lengths."""
    ends = step.emit("cumsum", lengths, axis=0, exclusive=False, reverse=False)
    return step.emit("concat", step.constant(np.zeros(1, np.int64)), ends, axis=0)


@handler("sequence_expand_as")
def expand_as(step: Step) -> Outputs:
    like = one(step, "Y")
    return {"Out": _expanded(step, one(step, "X"), like, segments(step, like, "Y"))}


def _expanded(step: Step, x: Tensor, like: Tensor, rows: Segments | None) -> Tensor:
    if rows is not None:
        return rows.spread(x)
    if step.size(x, 0) != 1:
        step.unsupported(
            f"{x.shape[0]} sequences without offsets", "name the offsets among input_tensors, as the input with '.lod'"
        )
    return step.emit("broadcast_to", x, shape=(step.size(like, 0), *x.shape[1:]))


@handler("sequence_reshape")
def reshape(step: Step) -> Outputs:
    x, width, offsets = one(step, "X"), step.integer("new_dim"), maybe(step, offsets_slot("X"))
    if width < 1:
        step.malformed(f"rows of {width} numbers")
    y = step.reshape(x, (product(x.shape) // width, width))
    if offsets is None or not wants(step, offsets_slot("Out")):
        return {"Out": y}
    numbers = step.emit("mul", offsets, step.constant(np.array(channels(step, x, 1))))
    return {"Out": y, offsets_slot("Out"): step.emit("div", numbers, step.constant(np.array(width)))}


@handler("sequence_pad")
def pad(step: Step) -> Outputs:
    """[sequences, length, ...], and how long each sequence is."""
    x, value, length = one(step, "X"), one(step, "PadValue"), step.integer("padded_length", -1)
    offsets = maybe(step, offsets_slot("X"))
    if length < 1:
        step.unsupported("the length of the longest sequence is known only at run time", "state padded_length")
    if offsets is None:
        step.unsupported("a tensor without offsets", "name them among input_tensors, as the input with '.lod'")
    rows = Segments(step, x, offsets)
    padded, is_there = rows.padded(length)
    shape = (*is_there.shape, *(1 for _ in x.shape[1:]))
    y = step.emit("where", step.reshape(is_there, shape), padded, step.emit("cast", value, to=x.dtype))
    return {"Out": y, "Length": rows.lengths}


@handler("sequence_unpad")
def unpad(step: Step) -> Outputs:
    x, lengths = one(step, "X"), step.emit("cast", one(step, "Length"), to=DType.S64)
    most: Dim = product(x.shape[:2])
    count = x.shape[1]
    if not isinstance(count, int):
        step.unsupported("sequences of a run-time length", "fix the input shapes")
    is_there = step.emit("less", step.constant(np.arange(count)), step.reshape(lengths, (x.shape[0], 1)))
    flat = step.reshape(x, (most, *x.shape[2:]))
    (y,) = step.emit_sized("compress", most, flat, step.reshape(is_there, (most,)), axis=0)
    return {"Out": y, offsets_slot("Out"): _behind_each_other(step, step.reshape(lengths, (x.shape[0],)))}


@handler("sequence_arithmetic", "search_seq_arithmetic")
def arithmetic(step: Step) -> Tensor:
    """Row by row; where a sequence of Y is shorter, rows of X stay as they are."""
    x, y = one(step, "X"), one(step, "Y")
    ops = {1: "add", 2: "sub", 3: "mul"}
    kind = step.integer("op_type", 1)
    if kind not in ops:
        step.malformed(f"the attribute 'op_type' is {kind}")
    a, b = maybe(step, offsets_slot("X")), maybe(step, offsets_slot("Y"))
    if a is None or b is None:
        if x.shape != y.shape:
            step.unsupported(
                f"{step.size(x, 0)} and {step.size(y, 0)} rows without offsets",
                "name the offsets among input_tensors, as the inputs with '.lod'",
            )
        return plus(step, x, y) if kind == 1 else step.emit(ops[kind], x, y)
    mine, others = Segments(step, x, a), Segments(step, y, b)
    within = step.emit("sub", mine.places, mine.spread(mine.starts))
    place = others.within(plus(step, mine.spread(others.starts), within))
    other = step.emit("gather", y, place, axis=0)
    result = plus(step, x, other) if kind == 1 else step.emit(ops[kind], x, other)
    has_other = step.emit("less", within, mine.spread(others.lengths))
    return step.emit("where", step.reshape(has_other, (x.shape[0], *(1 for _ in x.shape[1:]))), result, x)


@handler("search_fc", "search_seq_fc")
def fully_connected(step: Step) -> Tensor:
    """Rows times the weights of each output, and its bias."""
    x, weights, bias = one(step, "X"), one(step, "W"), maybe(step, "b")
    if x.rank != 2 or weights.rank != 2:
        step.malformed(f"rows of rank {x.rank} and weights of rank {weights.rank}")
    y = step.emit("matmul", x, step.transpose(weights, (1, 0)))
    return y if bias is None else plus(step, y, step.reshape(bias, (1, product(bias.shape))))
