"""Kaldi's long short-term memory: the functions of one step, and the whole layer with its delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.kaldi import (
    added,
    columns,
    count_of,
    frames_at,
    frames_of,
    kaldi_handler,
    linear,
    number,
    scaled,
    weights,
)
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step
from buildtool.ir.dims import product
from buildtool.ir.graph import Region
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType


@kaldi_handler("LstmNonlinear")
def lstm_nonlinear(step: Step) -> Tensor:
    """From [i, f, c, o, previous cell] and perhaps three factors: [cell, output]."""
    x, peepholes = step.input(0), weights(step, 1, "peepholes", 2)
    width = channels(step, x, x.rank - 1)
    cell = width // 5
    if width not in (5 * cell, 5 * cell + 3) or peepholes.shape != (3, cell):
        step.malformed(f"{width} features and peepholes {list(peepholes.shape)} do not fit")
    factors = [columns(step, x, 5 * cell + index, 1) for index in range(3)] if width % 5 else []
    gates, previous = columns(step, x, 0, 4 * cell), columns(step, x, 4 * cell, cell)
    return step.emit("concat", *_cell(step, gates, previous, peepholes, factors), axis=x.rank - 1)


def _cell(
    step: Step, gates: Tensor, previous: Tensor, peepholes: Array, factors: Sequence[Tensor] = ()
) -> tuple[Tensor, Tensor]:
    """The new cell and the output of it; `factors` are those of the input, the forget and the output gate."""
    size = peepholes.shape[1]
    i, f, c, o = (columns(step, gates, index * size, size) for index in range(4))
    w_i, w_f, w_o = (step.constant(row.astype(gates.dtype.numpy)) for row in peepholes)

    def gate(index: int, x: Tensor, memory: Tensor, weight: Tensor) -> Tensor:
        y = step.emit("sigmoid", added(step, x, step.emit("mul", weight, memory)))
        return step.emit("mul", y, factors[index]) if factors else y

    kept = step.emit("mul", gate(1, f, previous, w_f), previous)
    fresh = step.emit("mul", gate(0, i, previous, w_i), step.emit("tanh", c))
    cell = added(step, kept, fresh)
    return cell, step.emit("mul", gate(2, o, cell, w_o), step.emit("tanh", cell))


@dataclass(frozen=True)
class _Layer:
    """A layer whose frame t reads the output of t - outputs and the cell of t - cells. Tensors are [B, T, features]."""

    step: Step
    recurrent: Array  # [4 cells, fed back]
    peepholes: Array  # [3, cells]
    projection: Array  # [output, cells]
    bias: Array | None
    fed_from: int  # the first feature of the output that is fed back
    scale: float  # of what is fed back, and of the cell

    def fed(self, y: Tensor) -> Tensor:
        """What of an output is fed back."""
        return scaled(self.step, columns(self.step, y, self.fed_from, self.recurrent.shape[1]), self.scale)

    def run(self, gates: Tensor, outputs: Tensor, cells: Tensor) -> tuple[Tensor, ...]:
        """What frames give that do not read each other: their outputs and cells, and the states behind them."""
        step, count = self.step, _frames(gates)
        first = range(count)
        gates = added(step, gates, linear(step, frames_at(step, outputs, first), self.recurrent))
        cell, hidden = _cell(step, gates, frames_at(step, cells, first), self.peepholes)
        y, cell = linear(step, hidden, self.projection, self.bias), scaled(step, cell, self.scale)
        return y, cell, self._moved_on(outputs, self.fed(y)), self._moved_on(cells, cell)

    def _moved_on(self, state: Tensor, new: Tensor) -> Tensor:
        """The state without its oldest frames, and the new ones behind it."""
        kept = range(_frames(new), _frames(state))
        if not kept:
            return new
        return self.step.emit("concat", frames_at(self.step, state, kept), new, axis=1)

    def repeated(self, gates: Tensor, together: int, outputs: Tensor, cells: Tensor) -> tuple[Tensor, ...]:
        """The same for blocks of frames, one after the other."""
        step, trips = self.step, _frames(gates) // together
        blocks = step.reshape(gates, (gates.shape[0], trips, together, gates.shape[2]))
        region = Region()
        turn = step.taken(region, TensorType(DType.S64, ()))
        states = [step.taken(region, state.type) for state in (outputs, cells)]
        always = step.constant(np.array(True))
        with step.inside(region):
            y, cell, *new = self.run(step.emit("gather", blocks, turn, axis=1), *states)
        step.give(region, [always, *new, y, cell])
        count = step.constant(np.array(trips))
        outputs, cells, *made = step.emit_regions(
            "loop", [count, always, outputs, cells], [region], most=(trips,), size=()
        )
        y, cell = (
            step.reshape(step.transpose(part, (1, 0, 2, 3)), (part.shape[1], trips * together, part.shape[3]))
            for part in made
        )
        return y, cell, outputs, cells


def _frames(x: Tensor) -> int:
    count = x.shape[1]
    assert isinstance(count, int)
    return count


@kaldi_handler("DynamicLSTM")
def dynamic_lstm(step: Step) -> tuple[Tensor, ...]:
    """A whole layer with its projection: outputs of the frames, and the states for the next chunk.

    A frame reads the state of some frames before it, so that as many frames can be computed at once.
    """
    x = frames_of(step)
    leading = x.shape[:-2]
    x = step.reshape(x, (product(leading), *x.shape[-2:]))
    layer, share, bias = _layer(step, channels(step, x, -1))
    outputs = _state(step, x, 1, "prev_out_delay", layer.recurrent.shape[1])
    cells = _state(step, x, 2, "prev_cell_delay", layer.peepholes.shape[1])
    gates = linear(step, frames_at(step, x, step.integers("forward_indexes")), share, bias)
    y, cell = _all_frames(layer, gates, outputs, cells)
    results = [
        y,
        _cache(step, layer.fed(y), "out_cache_indexes", _frames(outputs)),
        _cache(step, cell, "cell_cache_indexes", _frames(cells)),
    ]
    return tuple(step.reshape(part, (*leading, *part.shape[1:])) for part in results)


def _layer(step: Step, width: int) -> tuple[_Layer, Array, Array | None]:
    """The layer, and the share of the input in its gates: a matrix and a bias."""
    first, peepholes, last = (weights(step, index, "weights", 2) for index in (3, 4, 5))
    fed, cells = count_of(step, "prev_out_dim"), count_of(step, "prev_cell_dim")
    fed_from, scale = step.integer("prev_out_offset", 0), number(step, "scale", 1.0)
    fits = first.shape == (4 * cells, width + fed) and peepholes.shape == (3, cells) and last.shape[1] == cells
    if not fits or not 0 <= fed_from <= last.shape[0] - fed:
        shapes = ", ".join(str(list(array.shape)) for array in (first, peepholes, last))
        step.malformed(f"weights {shapes} for {width} features, {fed} outputs from {fed_from} and {cells} cells")
    spare = len(step.inputs) - 6
    has_first = step.integer("bias_a", int(spare > step.integer("bias_b", 0)))
    has_last = step.integer("bias_b", int(spare > bool(has_first)))
    first_bias = weights(step, 6, "bias", 1) if has_first else None
    last_bias = weights(step, 7 if has_first else 6, "bias", 1) if has_last else None
    layer = _Layer(step, first[:, width:], peepholes, last, last_bias, fed_from, scale)
    return layer, first[:, :width], first_bias


def _state(step: Step, x: Tensor, index: int, name: str, size: int) -> Tensor:
    """The frames before the chunk, the oldest first: as many as the delay has in steps of the subsampling."""
    delay, factor = step.integer(name), count_of(step, "subsample_factor", 1)
    if delay >= 0 or delay % factor:
        step.malformed(f"the attribute '{name}' is {delay}: not below 0, or no multiple of {factor}")
    given = frames_of(step, index)
    state = TensorType(x.dtype, (product(given.shape[:-2]), -delay // factor, size))
    if state.shape[0] != x.shape[0] or (given.dtype, given.shape[-2:]) != (x.dtype, state.shape[1:]):
        step.malformed(f"its state (input {index}) is {given.type}, not {list(state.shape)}")
    return step.reshape(given, state.shape)


def _all_frames(layer: _Layer, gates: Tensor, outputs: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """The outputs and cells of all frames: as many at once as there are before one reads another, over and over."""
    step, count = layer.step, _frames(gates)
    together = min(_frames(outputs), _frames(cells), count)
    whole = count // together * together
    parts = []
    if whole > together:
        *made, outputs, cells = layer.repeated(frames_at(step, gates, range(whole)), together, outputs, cells)
        parts.append(made)
    else:
        whole = 0
    for start in range(whole, count, together):
        block = range(start, min(start + together, count))
        *made, outputs, cells = layer.run(frames_at(step, gates, block), outputs, cells)
        parts.append(made)
    y, cell = (part[0] if len(part) == 1 else step.emit("concat", *part, axis=1) for part in zip(*parts, strict=True))
    return y, cell


def _cache(step: Step, x: Tensor, name: str, size: int) -> Tensor:
    """The frames that the next chunk begins with; zeros where the model names fewer than it will read."""
    places = step.integers(name, ()) if step.has(name) else ()
    if len(places) > size:
        step.malformed(f"the attribute '{name}' has {len(places)} frames, and {size} are read")
    if not places:
        zero = step.constant(np.zeros((), x.dtype.numpy))
        return step.emit("broadcast_to", zero, shape=(x.shape[0], size, x.shape[2]))
    kept = frames_at(step, x, places)
    if len(places) == size:
        return kept
    after = (0, size - len(places), 0)
    return step.emit("pad", kept, before=(0, 0, 0), after=after, mode="constant", value=0.0)
