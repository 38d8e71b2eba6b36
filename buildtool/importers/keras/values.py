"""What the handlers of layers have in common: a node's tensors and weights, and the order of axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

CHANNELS_FIRST = "channels_first"


def _words(step: Step, name: str) -> tuple[str, ...]:
    value = step.attribute(name)
    return tuple(str(word) for word in value) if isinstance(value, tuple) else ()


def tensors(step: Step) -> list[Tensor]:
    """What the layer is called with, at least one."""
    count = len(step.inputs) - len(_words(step, "weights")) - len(_words(step, "keywords"))
    given = [tensor for tensor in step.inputs[:count] if tensor is not None]
    if not given:
        step.malformed("it is called without a tensor")
    return given


def only(step: Step) -> Tensor:
    """The one tensor that the layer is called with."""
    given = tensors(step)
    if len(given) > 1:
        step.unsupported(f"a call with {len(given)} tensors", "call the layer with one tensor")
    refuse_keywords(step)
    return given[0]


def keyword(step: Step, name: str) -> Tensor | None:
    """A tensor that the layer is called with by a name."""
    words = _words(step, "keywords")
    if name not in words:
        return None
    return step.optional(len(step.inputs) - len(_words(step, "weights")) - len(words) + words.index(name))


def refuse_keywords(step: Step, known: Sequence[str] = ()) -> None:
    """A tensor that a layer is given by name changes what it does."""
    unknown = [word for word in _words(step, "keywords") if word.split(".")[0] not in known]
    if unknown:
        step.unsupported(f"a call with '{unknown[0]}'", "build the model without it")


def weight(step: Step, name: str) -> Tensor:
    found = optional_weight(step, name)
    if found is None:
        step.malformed(f"the weights '{name}' are missing")
    return found


def optional_weight(step: Step, name: str) -> Tensor | None:
    words = _words(step, "weights")
    return step.optional(len(step.inputs) - len(words) + words.index(name)) if name in words else None


def number(step: Step, name: str, default: float) -> float:
    """A setting that is a whole or another number; `default` where it is not stated."""
    value = step.attribute(name)
    if value is None:
        return default
    if not isinstance(value, int | float):
        step.malformed(f"'{name}' is not a number")
    return float(value)


def numbers(step: Step, name: str) -> Array:
    """A setting that is a list of whole and other numbers."""
    value = step.attribute(name)
    listed = [item for item in value if isinstance(item, int | float)] if isinstance(value, tuple) else []
    if not isinstance(value, tuple) or len(listed) != len(value):
        step.malformed(f"'{name}' is not a list of numbers")
    return np.array(listed, np.float64)


def whole(step: Step, name: str, default: int = 0) -> int:
    return step.integer(name, default)


def sizes(step: Step, name: str, rank: int, default: Sequence[int] | None = None, least: int = 1) -> tuple[int, ...]:
    """A setting with a number per spatial axis, or one for all."""
    value = step.attribute(name)
    if isinstance(value, int):
        value = (value,) * rank
    numbers = step.integers(name, default) if not isinstance(value, tuple) else value
    listed = tuple(item for item in numbers if isinstance(item, int))
    if len(listed) != rank or len(listed) != len(numbers) or any(not least <= item < 2**31 for item in listed):
        step.malformed(f"'{name}' is {list(numbers)}, not {rank} numbers of {least} or more")
    return listed


def floating(step: Step, tensor: Tensor) -> Tensor:
    """Layers that compute take whole numbers as floats."""
    return tensor if tensor.dtype.is_float else step.emit("cast", tensor, to=DType.F32)


def array(step: Step, values: Array | float) -> Tensor:
    return step.constant(np.array(values, np.float32))


def plus(step: Step, a: Tensor, b: Tensor) -> Tensor:
    return step.emit("add", a, b, **NO_ACTIVATION)


def is_channels_first(step: Step) -> bool:
    return step.text("data_format", "channels_last") == CHANNELS_FIRST


def channels_last(step: Step, x: Tensor, rank: int) -> Tensor:
    """An image with so many spatial axes, channels last."""
    if x.rank != rank + 2:
        step.malformed(f"its input has rank {x.rank}, not {rank + 2}")
    return step.transpose(x, (0, *range(2, rank + 2), 1)) if is_channels_first(step) else x


def as_it_was(step: Step, y: Tensor) -> Tensor:
    """The way back from channels last."""
    return step.transpose(y, (0, y.rank - 1, *range(1, y.rank - 1))) if is_channels_first(step) else y


def two_axes(step: Step, x: Tensor) -> Tensor:
    """[N, L, C] as an image of one row; others as they are."""
    return step.reshape(x, (x.shape[0], 1, x.shape[1], x.shape[2])) if x.rank == 3 else x


def one_axis(step: Step, y: Tensor, rank: int) -> Tensor:
    """The way back: `rank` is that of the layer's input."""
    return step.reshape(y, (y.shape[0], y.shape[2], y.shape[3])) if rank == 3 else y
