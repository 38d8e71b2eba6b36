"""What the handlers of Kaldi's operators share: their titles, the axes of frames and of features, matrix products.

The converter kaldi-onnx writes all nodes of a model in a domain of its own, those that ONNX has too included, so that
its Round is another one than ONNX's. Tensors are [..., frames, features]; which frames a node takes has been worked
out when the model was converted, and is in `forward_indexes`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.versions import KALDI_DOMAIN
from buildtool.importers.registry import Handler
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.operator import Array


def kaldi_handler(*operators: str) -> Callable[[Handler], Handler]:
    """Registers a function for operators of Kaldi's domain."""
    return handler(*(f"{KALDI_DOMAIN}.{operator}" for operator in operators))


def frames_of(step: Step, index: int = 0) -> Tensor:
    """An input with an axis of frames and one of features."""
    x = step.input(index)
    if x.rank < 2:
        step.malformed(f"its input {index} has rank {x.rank}, not frames and features")
    return x


def frame_count(step: Step, x: Tensor) -> int:
    """How many frames there are; indexes into them are made for one number of frames."""
    count = x.shape[-2]
    if not isinstance(count, int):
        step.unsupported(
            f"the number of frames is {count}", "declare the input_shapes of the chunk that the model was made for"
        )
    return count


def number(step: Step, name: str, default: float) -> float:
    """An attribute that is a number; the converter writes some as whole numbers."""
    value = step.attribute(name)
    return float(value) if isinstance(value, int) else step.real(name, default)


def count_of(step: Step, name: str, default: int | None = None) -> int:
    """An attribute that says how many: 1 or more."""
    value = step.integer(name, default)
    if value < 1:
        step.malformed(f"the attribute '{name}' is {value}")
    return value


def columns(step: Step, x: Tensor, start: int, size: int) -> Tensor:
    """Features from one on."""
    width = x.shape[-1]
    if start < 0 or size < 1 or (isinstance(width, int) and start + size > width):
        step.malformed(f"it takes {size} features from {start}, but there are {width}")
    return _sliced(step, x, x.rank - 1, start, 1, size)


def frames_at(step: Step, x: Tensor, places: Sequence[int]) -> Tensor:
    """Frames by their places, some of them more than once."""
    check_places(step, places, frame_count(step, x))
    stride = places[1] - places[0] if len(places) > 1 else 1
    if stride and all(later - earlier == stride for earlier, later in itertools.pairwise(places)):
        return _sliced(step, x, x.rank - 2, places[0], stride, len(places))
    return step.emit("gather", x, step.constant(np.array(places, np.int32)), axis=x.rank - 2)


def check_places(step: Step, places: Sequence[int], count: int) -> None:
    wrong = [place for place in places if not 0 <= place < count]
    if wrong or not places:
        step.malformed(f"it takes frame {wrong[0]} of {count}" if wrong else "it takes no frames")


def _sliced(step: Step, x: Tensor, axis: int, start: int, stride: int, size: int) -> Tensor:
    if (start, stride) == (0, 1) and size == x.shape[axis]:
        return x
    starts, steps, sizes = [0] * x.rank, [1] * x.rank, list(x.shape)
    starts[axis], steps[axis], sizes[axis] = start, stride, size
    return step.emit("slice", x, starts=tuple(starts), steps=tuple(steps), sizes=tuple(sizes))


def weights(step: Step, index: int, what: str, rank: int) -> Array:
    """The content of an input that holds weights."""
    array = step.known(index, what)
    if array.ndim != rank or array.dtype.kind != "f" or not array.size:
        step.malformed(f"its {what} (input {index}) have the shape {list(array.shape)} and the type {array.dtype}")
    return array


def linear(step: Step, x: Tensor, matrix: Array, bias: Array | None = None) -> Tensor:
    """x @ matrix^T + bias."""
    operands = [step.constant(array.astype(x.dtype.numpy)) for array in (matrix, bias) if array is not None]
    return step.emit("fully_connected", x, *operands, **NO_ACTIVATION)


def added(step: Step, a: Tensor, b: Tensor) -> Tensor:
    return step.emit("add", a, b, **NO_ACTIVATION)


def scaled(step: Step, x: Tensor, factor: float) -> Tensor:
    return x if factor == 1.0 else step.emit("mul", x, step.constant(np.array(factor, x.dtype.numpy)))
