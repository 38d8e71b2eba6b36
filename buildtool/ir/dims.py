"""Dimensions of a tensor: plain ints, or expressions over named symbols with bounds.

Expressions are immutable and kept in a light normal form (constants folded, neutral elements removed), enough for the
shape arithmetic of real models. They are evaluated by the runtime when an input is resized, so the container stores
them as postfix programs over the same eight operations.
"""

from __future__ import annotations

import enum
import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

UNBOUNDED = 2**31 - 1
#: Limits of an expression: those of real models have a few dozen parts, and whatever walks one is recursive.
MOST_PARTS = 512
MOST_DEPTH = 100
MOST_STACK = 32  # operands that the runtime keeps while it computes one


class DimensionError(ValueError):
    """Arithmetic on dimensions breaks a rule: the sizes or attributes that it started from are wrong."""


class TooIntricateError(DimensionError):
    """An expression would be larger or deeper than the limits."""


class OpenSizeError(DimensionError):
    """Something has to be known on import and depends on a size that only the run tells."""


@dataclass(frozen=True)
class Symbol:
    """A dimension that is known only at run time, somewhere in `low..high` (inclusive)."""

    name: str
    low: int = 1
    high: int = UNBOUNDED

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", self.name):
            raise ValueError(f"'{self.name}' is not a symbol name")
        if self.name in (DimOp.MIN.value, DimOp.MAX.value):
            raise ValueError(f"a symbol cannot be called '{self.name}': the word is reserved in expressions")
        if not 0 <= self.low <= self.high:
            raise ValueError(f"bounds {self.low}..{self.high} of '{self.name}' are not ordered")


class DimOp(enum.Enum):
    """The operations of an expression; the value is the spelling in the text form, the order the container's code."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    FLOORDIV = "//"
    CEILDIV = "/^"
    MOD = "%"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, repr=False)
class DimExpr:
    """A node of an expression tree: a symbol (`op is None`) or an operation on two dimensions."""

    op: DimOp | None
    left: Dim = 0
    right: Dim = 0
    symbol: Symbol | None = None
    parts: int = field(default=1, init=False, compare=False)  # symbols, numbers and operations
    depth: int = field(default=0, init=False, compare=False)
    stack: int = field(default=1, init=False, compare=False)  # operands that wait at most, in postfix order

    def __post_init__(self) -> None:
        if self.symbol is not None:
            return
        sides = [side for side in (self.left, self.right) if isinstance(side, DimExpr)]
        parts = 1 + sum(side.parts if isinstance(side, DimExpr) else 1 for side in (self.left, self.right))
        depth = 1 + max((side.depth for side in sides), default=0)
        left, right = (side.stack if isinstance(side, DimExpr) else 1 for side in (self.left, self.right))
        stack = max(left, right + 1)
        if parts > MOST_PARTS or depth > MOST_DEPTH or stack > MOST_STACK:
            raise TooIntricateError(
                f"an expression of {parts} parts, {depth} deep, with {stack} pending operands; "
                f"at most {MOST_PARTS}, {MOST_DEPTH} and {MOST_STACK} are allowed"
            )
        object.__setattr__(self, "parts", parts)  # frozen for everybody else
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "stack", stack)

    def __str__(self) -> str:
        if self.symbol is not None:
            return self.symbol.name
        assert self.op is not None
        if self.op in (DimOp.MIN, DimOp.MAX):
            return f"{self.op.value}({self.left}, {self.right})"
        return f"({self.left} {self.op.value} {self.right})"

    def __repr__(self) -> str:
        return f"<{self}>"

    @functools.cached_property
    def interval(self) -> tuple[int, int]:
        """What `bounds` gives; every pass asks for it again, and expressions never change."""
        if self.symbol is not None:
            return self.symbol.low, self.symbol.high
        assert self.op is not None
        (a, b), (c, d) = bounds(self.left), bounds(self.right)
        if self.op is DimOp.SUB:
            return a - d, b - c
        if self.op is DimOp.MOD:
            return 0, max(d - 1, 0)
        if self.op in (DimOp.FLOORDIV, DimOp.CEILDIV):
            c, d = max(c, 1), max(d, 1)
        corners = [_apply(self.op, x, y) for x in (a, b) for y in (c, d)]
        return min(corners), max(corners)

    def __add__(self, other: Dim) -> Dim:
        return combine(DimOp.ADD, self, other)

    def __radd__(self, other: int) -> Dim:
        return combine(DimOp.ADD, other, self)

    def __sub__(self, other: Dim) -> Dim:
        return combine(DimOp.SUB, self, other)

    def __rsub__(self, other: int) -> Dim:
        return combine(DimOp.SUB, other, self)

    def __mul__(self, other: Dim) -> Dim:
        return combine(DimOp.MUL, self, other)

    def __rmul__(self, other: int) -> Dim:
        return combine(DimOp.MUL, other, self)

    def __floordiv__(self, other: Dim) -> Dim:
        return combine(DimOp.FLOORDIV, self, other)

    def __rfloordiv__(self, other: int) -> Dim:
        return combine(DimOp.FLOORDIV, other, self)

    def __mod__(self, other: Dim) -> Dim:
        return combine(DimOp.MOD, self, other)


Dim: TypeAlias = int | DimExpr
Shape: TypeAlias = tuple[Dim, ...]


def symbol(name: str, low: int = 1, high: int = UNBOUNDED) -> DimExpr:
    """The dimension that is the symbol itself."""
    return DimExpr(None, symbol=Symbol(name, low, high))


def _check_divisor(op: DimOp, right: int) -> None:
    """Divisors are positive: only so do bounds and the runtime's arithmetic have one plain meaning."""
    if op in (DimOp.FLOORDIV, DimOp.CEILDIV, DimOp.MOD) and right <= 0:
        raise DimensionError(f"a dimension is divided by {right}, which is not positive")


def _apply(op: DimOp, left: int, right: int) -> int:
    _check_divisor(op, right)
    match op:
        case DimOp.ADD:
            return left + right
        case DimOp.SUB:
            return left - right
        case DimOp.MUL:
            return left * right
        case DimOp.FLOORDIV:
            return left // right
        case DimOp.CEILDIV:
            return -(-left // right)
        case DimOp.MOD:
            return left % right
        case DimOp.MIN:
            return min(left, right)
        case DimOp.MAX:
            return max(left, right)


def _neutral(op: DimOp, left: Dim, right: Dim) -> Dim | None:
    """The result where one side is neutral or both are equal; None where the operation must stay."""
    if left == right:
        if op in (DimOp.MIN, DimOp.MAX):
            return left
        if op in (DimOp.SUB, DimOp.MOD):
            return 0
        if op in (DimOp.FLOORDIV, DimOp.CEILDIV):
            return 1
    if right == 0 and op in (DimOp.ADD, DimOp.SUB):
        return left
    if left == 0 and op is DimOp.ADD:
        return right
    if op is DimOp.MUL and (left == 0 or right == 0):
        return 0
    if right == 1:
        if op in (DimOp.MUL, DimOp.FLOORDIV, DimOp.CEILDIV):
            return left
        if op is DimOp.MOD:
            return 0
    if left == 1 and op is DimOp.MUL:
        return right
    return None


def _factors(dim: Dim) -> tuple[int, list[Dim]]:
    """A product as its number and its other factors."""
    if isinstance(dim, int):
        return dim, []
    if dim.op is not DimOp.MUL:
        return 1, [dim]
    (one, left), (other, right) = _factors(dim.left), _factors(dim.right)
    return one * other, left + right


def _reduced(left: Dim, right: Dim) -> tuple[Dim, Dim] | None:
    """The quotient `left / right` without common factors; None where there are none. Divisors are positive."""
    (above, numerator), (below, denominator) = _factors(left), _factors(right)
    common = math.gcd(above, below)
    rest = []
    for factor in denominator:
        if factor in numerator:
            numerator.remove(factor)
        else:
            rest.append(factor)
    if common <= 1 and len(rest) == len(denominator):
        return None
    return product([*numerator, above // common]), product([*rest, below // common])


def _shifted_quotient(dim: Dim) -> tuple[Dim, DimOp | None, int, int]:
    """A dimension as `(base + shift) op divisor`, where `op` is a division by a number or None (divisor 1)."""
    base, shift = _without_constant(dim)
    if isinstance(base, DimExpr) and base.op in (DimOp.FLOORDIV, DimOp.CEILDIV) and isinstance(base.right, int):
        inner, inner_shift = _without_constant(base.left)
        return inner, base.op, base.right, inner_shift + shift * base.right
    return base, None, 1, shift


def _without_constant(dim: Dim) -> tuple[Dim, int]:
    if isinstance(dim, DimExpr) and dim.op is DimOp.ADD and isinstance(dim.right, int):
        return dim.left, dim.right
    return dim, 0


def _rounded_up(size: Dim, border: Dim) -> Dim | None:
    """`size + (n - size % n) % n`, as padding to whole windows is exported, is the next multiple of n."""
    if not isinstance(border, DimExpr) or border.op is not DimOp.MOD or not isinstance(border.right, int):
        return None
    step, missing = border.right, border.left
    if missing != combine(DimOp.SUB, step, combine(DimOp.MOD, size, step)):
        return None
    return combine(DimOp.MUL, ceil_div(size, step), step)


def _extreme(op: DimOp, left: Dim, right: Dim) -> Dim | None:
    """The minimum or maximum of two dimensions that differ by a constant only, as both sizes of a pool with `ceil_mode`
    do: their quotients grow alike."""
    *one, first = _shifted_quotient(left)
    *other, second = _shifted_quotient(right)
    if one != other:
        return None
    return left if (first <= second) == (op is DimOp.MIN) else right


def _terms(dim: Dim) -> tuple[dict[Dim, int], int]:
    """A sum as its terms, each with how often it is added, and its number."""
    if isinstance(dim, int):
        return {}, dim
    if dim.op is DimOp.MUL and isinstance(dim.right, int):
        terms, number = _terms(dim.left)
        return {term: count * dim.right for term, count in terms.items()}, number * dim.right
    return ({dim: 1}, 0) if dim.op not in (DimOp.ADD, DimOp.SUB) else _sum_of(dim.op, dim.left, dim.right)


def _sum_of(op: DimOp, left: Dim, right: Dim) -> tuple[dict[Dim, int], int]:
    (terms, number), (others, other) = _terms(left), _terms(right)
    sign = 1 if op is DimOp.ADD else -1
    for term, count in others.items():
        terms[term] = terms.get(term, 0) + sign * count
    return terms, number + sign * other


def _without_opposites(op: DimOp, left: Dim, right: Dim) -> Dim | None:
    """A sum or difference in which terms cancel, where at most one is left: `(n // 2 + 1) - n // 2` is 1."""
    sides = _terms(left)[0].keys() & _terms(right)[0].keys()
    if not sides:
        return None
    terms, number = _sum_of(op, left, right)
    rest = {term: count for term, count in terms.items() if count}
    if len(rest) > 1 or all(terms[term] for term in sides) or any(count < 0 for count in rest.values()):
        return None
    parts = [combine(DimOp.MUL, term, count) for term, count in rest.items()]
    return combine(DimOp.ADD, parts[0], number) if parts else number


def combine(op: DimOp, left: Dim, right: Dim) -> Dim:
    """`left op right`, folded where possible. ValueError where a divisor is not positive."""
    if isinstance(left, int) and isinstance(right, int):
        return _apply(op, left, right)
    if isinstance(right, int):
        _check_divisor(op, right)
    neutral = _neutral(op, left, right)
    if neutral is not None:
        return neutral
    if op is DimOp.ADD:
        rounded = _rounded_up(left, right) or _rounded_up(right, left)
        if rounded is not None:
            return rounded
    if op in (DimOp.ADD, DimOp.SUB) and isinstance(left, DimExpr) and isinstance(right, DimExpr):
        cancelled = _without_opposites(op, left, right)
        if cancelled is not None:
            return cancelled
    if op in (DimOp.MIN, DimOp.MAX):
        extreme = _extreme(op, left, right)
        if extreme is not None:
            return extreme
    if op in (DimOp.FLOORDIV, DimOp.CEILDIV, DimOp.MOD) and isinstance(left, DimExpr):
        reduced = _reduced(left, right)
        if reduced is not None and op is not DimOp.MOD:
            return combine(op, *reduced)
        if reduced is not None and reduced[1] == 1:
            return 0
    if op is DimOp.SUB and isinstance(right, int):
        op, right = DimOp.ADD, -right
    if op in (DimOp.ADD, DimOp.MUL) and isinstance(left, int):
        left, right = right, left  # constants to the right
    if isinstance(left, DimExpr) and isinstance(right, int) and left.op is op and isinstance(left.right, int):
        if op in (DimOp.ADD, DimOp.MUL):
            return combine(op, left.left, _apply(op, left.right, right))
        if op in (DimOp.FLOORDIV, DimOp.CEILDIV):
            return combine(op, left.left, left.right * right)
    return DimExpr(op, left, right)


def ceil_div(left: Dim, right: Dim) -> Dim:
    return combine(DimOp.CEILDIV, left, right)


def minimum(left: Dim, right: Dim) -> Dim:
    return combine(DimOp.MIN, left, right)


def maximum(left: Dim, right: Dim) -> Dim:
    return combine(DimOp.MAX, left, right)


def product(dims: Iterable[Dim]) -> Dim:
    result: Dim = 1
    for dim in dims:
        result = combine(DimOp.MUL, result, dim)
    return result


def is_static(shape: Sequence[Dim]) -> bool:
    return all(isinstance(dim, int) for dim in shape)


def static(shape: Sequence[Dim]) -> tuple[int, ...]:
    """The shape as ints; OpenSizeError where a dimension is symbolic."""
    result = []
    for dim in shape:
        if not isinstance(dim, int):
            raise OpenSizeError(f"dimension {dim} is not known at build time")
        result.append(dim)
    return tuple(result)


def symbols(dim: Dim) -> Iterator[Symbol]:
    """All symbols of a dimension, in order of appearance, repeated ones repeated."""
    if isinstance(dim, DimExpr):
        if dim.symbol is not None:
            yield dim.symbol
        else:
            yield from symbols(dim.left)
            yield from symbols(dim.right)


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """The number that a dimension is when the symbols have these values."""
    if isinstance(dim, int):
        return dim
    if dim.symbol is not None:
        return values[dim.symbol.name]
    assert dim.op is not None
    return _apply(dim.op, evaluate(dim.left, values), evaluate(dim.right, values))


def bounds(dim: Dim) -> tuple[int, int]:
    """An interval that holds every value of the dimension (interval arithmetic: safe, not always tight)."""
    return (dim, dim) if isinstance(dim, int) else dim.interval


def postfix(dim: Dim) -> Iterator[int | Symbol | DimOp]:
    """The postfix program of a dimension: operands push, operations pop two and push one."""
    if isinstance(dim, int):
        yield dim
    elif dim.symbol is not None:
        yield dim.symbol
    else:
        assert dim.op is not None
        yield from postfix(dim.left)
        yield from postfix(dim.right)
        yield dim.op


_MAX_DEPTH = MOST_DEPTH  # of parentheses: the parser recurses, and files may be hostile
_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_][A-Za-z0-9_.]*|//|/\^|[-+*%(),])")


def parse(text: str, known: Mapping[str, Symbol]) -> Dim:
    """Reads the text form back (`known`: the declared symbols by name). ValueError where it is not one."""
    tokens: list[str] = []
    position = depth = 0
    text = text.strip()
    while position < len(text):
        match_ = _TOKEN.match(text, position)
        if match_ is None:
            raise ValueError(f"'{text}' is not a dimension")
        tokens.append(match_.group(1))
        depth += {"(": 1, ")": -1}.get(tokens[-1], 0)
        if depth > _MAX_DEPTH:
            raise ValueError(f"a dimension nests deeper than {_MAX_DEPTH} parentheses")
        position = match_.end()
    tokens.reverse()
    dim = _parse_sum(tokens, known)
    if tokens:
        raise ValueError(f"'{text}' is not a dimension")
    return dim


def _parse_sum(tokens: list[str], known: Mapping[str, Symbol]) -> Dim:
    left = _parse_product(tokens, known)
    while tokens and tokens[-1] in "+-":
        op = DimOp(tokens.pop())
        left = combine(op, left, _parse_product(tokens, known))
    return left


def _parse_product(tokens: list[str], known: Mapping[str, Symbol]) -> Dim:
    left = _parse_atom(tokens, known)
    while tokens and tokens[-1] in ("*", "//", "/^", "%"):
        op = DimOp(tokens.pop())
        left = combine(op, left, _parse_atom(tokens, known))
    return left


def _parse_atom(tokens: list[str], known: Mapping[str, Symbol]) -> Dim:
    def expect(text: str) -> None:
        if not tokens or tokens.pop() != text:
            raise ValueError(f"expected '{text}' in a dimension")

    if not tokens:
        raise ValueError("a dimension is incomplete")
    token = tokens.pop()
    if token == "-" and tokens and tokens[-1].isdigit():
        return -int(tokens.pop())
    if token.isdigit():
        return int(token)
    if token == "(":
        dim = _parse_sum(tokens, known)
        expect(")")
        return dim
    if token in ("min", "max"):
        expect("(")
        left = _parse_sum(tokens, known)
        expect(",")
        right = _parse_sum(tokens, known)
        expect(")")
        return combine(DimOp(token), left, right)
    if token not in known:
        raise ValueError(f"'{token}' is not a declared symbol")
    return DimExpr(None, symbol=known[token])
