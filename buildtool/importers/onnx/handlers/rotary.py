"""RotaryEmbedding of ONNX and of com.microsoft: pairs of numbers turned by angles that depend on their positions."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import counted
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step


@handler("RotaryEmbedding")
def rotary_embedding(step: Step) -> Tensor:
    x, positions = step.input(0), step.optional(3)
    flat = x.rank == 3
    if flat:
        x = _in_heads(step, x, step.integer("num_heads"))
    tables = []
    for table in (step.input(1), step.input(2)):
        angles = table if positions is None else step.emit("gather", table, positions, axis=0)
        tables.append(_beside_heads(step, angles, 2 if flat else 1))
    width = step.integer("rotary_embedding_dim", 0) or channels(step, x, x.rank - 1)
    y = turned(step, x, width, (tables[0], tables[1]), bool(step.integer("interleaved", 0)))
    return step.reshape(y, step.input(0).shape)


@handler("com.microsoft.RotaryEmbedding")
def contributed_rotary_embedding(step: Step) -> Tensor:
    """The widths of the tables decide how many numbers are turned; one position counts on for all samples."""
    x, positions, cos, sin = (step.input(index) for index in range(4))
    if step.integer("is_packed_batching", 0):
        step.unsupported("the attribute 'is_packed_batching' is 1", "export the model with sequences of one length")
    width = 2 * channels(step, step.check_rank(cos, 2, what="a table of angles"))
    flat = x.rank == 3
    if flat:
        count = channels(step, x, 2)
        x = _in_heads(step, x, step.integer("num_heads", 0) or count // max(width, 1))
    if positions.rank < 2:
        first = step.reshape(positions, (1, 1))
        along = counted(step, x.shape[1 if flat else 2], positions.dtype)
        positions = step.emit("add", first, along, **NO_ACTIVATION)
    angles = [step.emit("gather", table, positions, axis=0) for table in (cos, sin)]
    tables = [_beside_heads(step, table, 2 if flat else 1) for table in angles]
    y = turned(step, x, width, (tables[0], tables[1]), bool(step.integer("interleaved", 0)))
    return step.reshape(y, step.input(0).shape)


def _in_heads(step: Step, x: Tensor, heads: int) -> Tensor:
    """[batch, length, heads * size] -> [batch, length, heads, size]."""
    width = channels(step, x, 2)
    if heads < 1 or width % heads:
        step.malformed(f"{width} numbers cannot be shared out among {heads} heads")
    return step.reshape(x, (x.shape[0], x.shape[1], heads, width // heads))


def _beside_heads(step: Step, angles: Tensor, axis: int) -> Tensor:
    """A table [batch, length, half] with an axis of heads."""
    batch, length, half = step.check_rank(angles, 3, what="a table of angles").shape
    return step.reshape(angles, (batch, length, 1, half) if axis == 2 else (batch, 1, length, half))


def turned(step: Step, x: Tensor, width: int, tables: tuple[Tensor, Tensor], interleaved: bool) -> Tensor:
    """The first `width` numbers of the last axis turned: y1 = cos * x1 - sin * x2, y2 = sin * x1 + cos * x2.

    The numbers of a pair are neighbours if `interleaved`, else in the first and in the second half. `tables`: of the
    cosines and sines, that broadcast to x.
    """
    cos, sin = tables
    half, size = width // 2, channels(step, x, x.rank - 1)
    if x.rank != 4 or width > size or width % 2:
        step.malformed(f"its input has the shape {list(x.shape)}, of which {width} numbers are to be turned")
    stride = 2 if interleaved else 1
    first = _taken(step, x, 0, half, stride)
    second = _taken(step, x, 1 if interleaved else half, half, stride)
    left = step.emit("sub", step.emit("mul", cos, first), step.emit("mul", sin, second))
    right = step.emit("add", step.emit("mul", sin, first), step.emit("mul", cos, second), **NO_ACTIVATION)
    if interleaved:
        pairs = [step.reshape(part, (*part.shape, 1)) for part in (left, right)]
        y = step.reshape(step.emit("concat", *pairs, axis=4), (*x.shape[:3], width))
    else:
        y = step.emit("concat", left, right, axis=3)
    return y if width == size else step.emit("concat", y, _taken(step, x, width, size - width, 1), axis=3)


def _taken(step: Step, x: Tensor, start: int, count: int, stride: int) -> Tensor:
    """`count` numbers of the last axis."""
    rank = x.rank
    sizes = (*x.shape[:-1], count)
    return step.emit("slice", x, starts=(0,) * (rank - 1) + (start,), steps=(1,) * (rank - 1) + (stride,), sizes=sizes)
