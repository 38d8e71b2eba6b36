"""The rules of shapes that several operators share. Every broken rule is an OperatorError that names the values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from buildtool.ir.dims import Dim, DimExpr, Shape, bounds, ceil_div, maximum, minimum, product
from buildtool.ir.operator import OperatorError
from buildtool.ir.types import TensorType


def show(shape: Sequence[Dim]) -> str:
    return "[" + ", ".join(str(dim) for dim in shape) + "]"


def require_rank(type_: TensorType, rank: int, what: str) -> None:
    if type_.rank != rank:
        raise OperatorError(f"{what} has rank {rank}, but its shape is {show(type_.shape)}")


def require_axis(axis: int, rank: int) -> None:
    if not 0 <= axis < rank:
        raise OperatorError(f"axis {axis} is outside 0..{rank - 1}, the axes of a tensor of rank {rank}")


def require_ints(name: str, values: Sequence[int], count: int, least: int) -> None:
    """An attribute that is a list of `count` integers, none below `least`."""
    if len(values) != count:
        raise OperatorError(f"'{name}' needs {count} values, not {len(values)}")
    for value in values:
        if value < least:
            raise OperatorError(f"'{name}' holds {value}, which is below {least}")


def require_one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise OperatorError(f"'{name}' is '{value}', which is not one of {', '.join(allowed)}")


def can_be_equal(a: Dim, b: Dim) -> bool:
    """Whether two dimensions may be the same number. A runtime check remains where this is not certain."""
    (low_a, high_a), (low_b, high_b) = bounds(a), bounds(b)
    return low_a <= high_b and low_b <= high_a


def equal_dim(a: Dim, b: Dim, what: str) -> Dim:
    """The dimension that two dimensions have to be: the number, where one of them is known."""
    if a == b:
        return a
    if not can_be_equal(a, b):
        raise OperatorError(f"{what} must be equal, but they are {a} and {b}")
    return b if isinstance(b, int) else a


def _broadcast_dim(a: Dim, b: Dim, shapes: Sequence[Shape]) -> Dim:
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    (low_a, _), (low_b, _) = bounds(a), bounds(b)
    may_be_one = low_a <= 1 or low_b <= 1
    if (isinstance(a, int) and isinstance(b, int)) or not (may_be_one or can_be_equal(a, b)):
        text = " and ".join(show(shape) for shape in shapes)
        raise OperatorError(f"shapes {text} do not broadcast: {a} and {b} are different and neither is 1")
    # A symbol that meets a number above 1 is that number or 1; of two symbols the larger is the result.
    for known, other in ((a, b), (b, a)):
        if isinstance(known, int):
            return known
        if bounds(known)[0] > 1 and bounds(other)[0] <= 1:
            return known
    return a if low_a > 1 else maximum(a, b)


def broadcast(*shapes: Shape) -> Shape:
    """The shape that NumPy's rule of broadcasting gives."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = [1] * rank
    for shape in shapes:
        for axis, dim in enumerate(shape, start=rank - len(shape)):
            result[axis] = _broadcast_dim(result[axis], dim, shapes)
    return tuple(result)


def number(dim: Dim, what: str) -> int:
    """A dimension that an operator has to know when the model is built."""
    if isinstance(dim, DimExpr):
        raise OperatorError(f"{what} must be a constant, but it is {dim}")
    return dim


def positive(dim: Dim, what: str) -> Dim:
    """A computed dimension; it must be able to be at least 1."""
    if bounds(dim)[1] < 1:
        raise OperatorError(f"{what} would be {dim}, which is not positive")
    return dim


def extent(kernel: int, dilation: int) -> int:
    """How many elements a window spans from its first to its last tap."""
    return (kernel - 1) * dilation + 1


def window_count(size: Dim, pads: tuple[int, int], span: int, stride: int, what: str, ceil: bool = False) -> Dim:
    """How many windows of `span` elements fit along an axis.

    With `ceil`, a last window that hangs over the end counts too, provided that it starts before the padding behind. It
    may be the only one, where the window is larger than the padded input by less than a stride.
    """
    before, after = pads
    room = size + (before + after) - span
    if not ceil:
        positive(room + 1, f"{what}: the padded size less the window")
        return positive(room // stride + 1, what)
    return positive(minimum(ceil_div(room, stride) + 1, ceil_div(size + before, stride)), what)


def _monomial(dims: Sequence[Dim]) -> tuple[int, tuple[str, ...], bool]:
    """A product as (number, sorted factors, whether all factors are plain symbols)."""
    constant, factors, plain = 1, [], True
    pending = [product(dims)]
    while pending:
        dim = pending.pop()
        if isinstance(dim, int):
            constant *= dim
        elif dim.op is not None and dim.op.value == "*":
            pending += [dim.left, dim.right]
        else:
            factors.append(str(dim))
            plain = plain and dim.symbol is not None
    return constant, tuple(sorted(factors)), plain


def require_equal_counts(before: Shape, after: Shape) -> None:
    """Both shapes hold the same number of elements, as far as the symbols allow to tell."""
    constant_a, factors_a, plain_a = _monomial(before)
    constant_b, factors_b, plain_b = _monomial(after)
    wrong = not can_be_equal(product(before), product(after))
    if factors_a == factors_b and plain_a and plain_b:
        wrong = constant_a != constant_b
    if wrong:
        raise OperatorError(
            f"{show(before)} cannot become {show(after)}: they hold {product(before)} and {product(after)} elements"
        )


def permuted(values: Sequence[int], perm: tuple[int, ...]) -> tuple[int, ...]:
    """A list with one entry per axis, as it is after a transposition."""
    return tuple(values[axis] for axis in perm)


def keeps_channels_last(perm: tuple[int, ...]) -> bool:
    return not perm or perm[-1] == len(perm) - 1


def volume(shape: Sequence[int]) -> int:
    return math.prod(shape)
