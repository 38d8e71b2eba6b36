"""What handlers share: numbers that are attributes or tensors, declared shapes, activations, the order of axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.program import dtype_of_code
from buildtool.importers.paddle.registry import maybe, node_of, place_of
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, Shape
from buildtool.ir.types import DType


def dims(step: Step, attribute: str, tensor: str = "", tensors: str = "") -> tuple[Dim, ...]:
    """Whole numbers: a tensor of them, or one tensor for each, or the attribute (a number or a list)."""
    slots = node_of(step).slots
    places = slots.get(tensor) or slots.get(tensors) or ()
    if places:
        return tuple(dim for place in places for dim in step.known_dims(place, attribute))
    value = step.attribute(attribute)
    if value is None:
        step.malformed(f"the attribute '{attribute}' is missing")
    return (value,) if isinstance(value, int) else step.integers(attribute)


def whole(step: Step, attribute: str, tensor: str = "", tensors: str = "") -> tuple[int, ...]:
    """As `dims`, where none depends on a run-time size."""
    found = dims(step, attribute, tensor, tensors)
    numbers = tuple(dim for dim in found if isinstance(dim, int))
    if len(numbers) != len(found):
        step.unsupported(f"its {attribute} depends on a run-time size", "fix the input shapes")
    return numbers


def one_dim(step: Step, attribute: str, tensor: str = "") -> Dim:
    """As `dims`, for what is one number."""
    found = dims(step, attribute, tensor)
    if len(found) != 1:
        step.malformed(f"its {attribute} is not one number but {len(found)}")
    return found[0]


def one_whole(step: Step, attribute: str, tensor: str = "") -> int:
    """As `whole`, for what is one number."""
    found = whole(step, attribute, tensor)
    if len(found) != 1:
        step.malformed(f"its {attribute} is not one number but {len(found)}")
    return found[0]


def real(step: Step, attribute: str, tensor: str = "", default: float | None = None) -> float:
    """A number that is an attribute (of any kind), or a tensor."""
    if tensor and maybe(step, tensor) is not None:
        return step.known_number(place_of(step, tensor), attribute)
    value = step.attribute(attribute)
    if isinstance(value, int | float):
        return float(value)
    return step.real(attribute, default)


def flag(step: Step, attribute: str, default: bool = False) -> bool:
    return bool(step.integer(attribute, int(default)))


def dtype_attribute(step: Step, name: str, default: DType) -> DType:
    """An element type by Paddle's number; -1 and what is missing mean the default."""
    code = step.integer(name, -1)
    return default if code < 0 else dtype_of_code(code, step.where)


def scalar(step: Step, number: float, like: Tensor) -> Tensor:
    """A number of the type of a tensor."""
    if like.dtype.is_integer:
        number = step.whole(number, "number")
        ends = np.iinfo(str(like.dtype.numpy))
        if not ends.min <= number <= ends.max:
            step.malformed(f"the number {number} is none of the type {like.dtype.value}")
    return step.constant(np.array(number, like.dtype.numpy))


def plus(step: Step, a: Tensor, b: Tensor) -> Tensor:
    return step.emit("add", a, b, **NO_ACTIVATION)


def as_type(step: Step, x: Tensor, dtype: DType) -> Tensor:
    return x if x.dtype is dtype else step.emit("cast", x, to=dtype)


def as_declared(step: Step, y: Tensor) -> Tensor:
    """One number as a list of one, where the file says so: Paddle had no tensors without axes before 2.5."""
    node = node_of(step)
    declared = node.shapes.get(node.outputs[0])
    return step.reshape(y, (1,)) if y.rank == 0 and declared == (1,) else y


def is_channels_last(step: Step, *names: str) -> bool:
    """Whether an attribute (data_format, data_layout) says so."""
    for name in names or ("data_format", "data_layout"):
        word = step.text(name, "")
        if word in ("NHWC", "NDHWC", "NLC"):
            return True
    return False


def to_first(step: Step, x: Tensor) -> Tensor:
    """[N, ..., C] -> [N, C, ...]."""
    return step.transpose(x, (0, x.rank - 1, *range(1, x.rank - 1)))


def to_last(step: Step, x: Tensor) -> Tensor:
    """[N, C, ...] -> [N, ..., C]."""
    return step.transpose(x, (0, *range(2, x.rank), 1))


def part(step: Step, x: Tensor, axis: int, start: Dim, size: Dim) -> Tensor:
    """A piece along one axis."""
    starts = tuple(start if other == axis else 0 for other in range(x.rank))
    sizes = tuple(size if other == axis else dim for other, dim in enumerate(x.shape))
    return step.emit("slice", x, starts=starts, steps=(1,) * x.rank, sizes=sizes)


def without(shape: Shape, axes: Sequence[int]) -> Shape:
    return tuple(dim for axis, dim in enumerate(shape) if axis not in axes)


def swished(step: Step, x: Tensor, beta: float) -> Tensor:
    """x * sigmoid(beta * x)."""
    if beta == 1.0:
        return step.emit("swish", x)
    return step.emit("mul", x, step.emit("sigmoid", step.emit("mul", x, scalar(step, beta, x))))


def activated(step: Step, y: Tensor, kind: str) -> Tensor:
    """What operators of Paddle-Lite do behind their own work."""
    match kind:
        case "" | "identity" | "none":
            return y
        case "relu" | "sigmoid" | "tanh":
            return step.emit(kind, y)
        case "relu6":
            return step.emit("clip", y, low=0.0, high=real(step, "fuse_brelu_threshold", default=6.0))
        case "leaky_relu":
            return step.emit("leaky_relu", y, alpha=real(step, "leaky_relu_alpha", default=0.01))
        case "hard_swish":
            return step.emit("hard_swish", y)
        case "hard_sigmoid":
            slope, offset = real(step, "slope", default=1 / 6), real(step, "offset", default=0.5)
            return step.emit("hard_sigmoid", y, alpha=slope, beta=offset)
        case "swish":
            return swished(step, y, real(step, "swish_scale", default=1.0))
        case "gelu":
            return step.emit("gelu", y, approximate="none")
    return step.unsupported(f"the activation '{kind}'", "replace it when exporting")
