"""Exact fractions of run-time dimensions: what a model computes from sizes with floats, until it rounds the result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from buildtool.ir.dims import Dim, DimExpr, DimOp, bounds, ceil_div, combine, maximum, minimum

MOST_DENOMINATOR = 2**10  # of constants that are computed with exactly
MOST_POWER = 8


@dataclass(frozen=True)
class Ratio:
    """`numerator / denominator`, which is not an integer at some sizes."""

    numerator: DimExpr
    denominator: int  # above 1

    def __str__(self) -> str:
        return f"({self.numerator} / {self.denominator})"


#: An element of a tensor of floats that depends on run-time sizes.
Number: TypeAlias = int | Fraction | DimExpr | Ratio


def exact(number: Number | float) -> Number | None:
    """A number that can be computed with exactly; None for constants that cannot."""
    if isinstance(number, int | Fraction | DimExpr | Ratio):
        return number
    if not math.isfinite(number):
        return None
    fraction = Fraction(number)
    if fraction.denominator > MOST_DENOMINATOR:
        return None
    return fraction.numerator if fraction.denominator == 1 else fraction


def made(numerator: Dim, denominator: int) -> Number:
    """A fraction in its simplest form, as far as this is visible. The denominator is above 0."""
    if isinstance(numerator, int):
        quotient = Fraction(numerator, denominator)
        return quotient.numerator if quotient.denominator == 1 else quotient
    common = math.gcd(_factor(numerator), denominator)
    if common > 1:
        return made(_divided(numerator, common), denominator // common)
    return numerator if denominator == 1 else Ratio(numerator, denominator)


def apply(operation: str, left: Number, right: Number) -> Number | None:
    """add, sub, mul, div, minimum or maximum of two numbers; None where the result is neither of these kinds."""
    (a, b), (c, d) = parts(left), parts(right)
    match operation:
        case "add":
            return made(a * d + c * b, b * d)
        case "sub":
            return made(a * d - c * b, b * d)
        case "mul":
            return made(a * c, b * d)
        case "div":
            return _quotient(a * d, b * c)
        case "minimum":
            return made(minimum(a * d, c * b), b * d)
        case "maximum":
            return made(maximum(a * d, c * b), b * d)
        case "pow":
            return _power(left, right)
    return None


def rounded(how: str, number: Number | None) -> Number | None:
    """A number under floor, ceil, round, cut (towards zero), neg or abs; None where only the run tells the result."""
    if number is None:
        return None
    numerator, denominator = parts(number)
    low, high = bounds(numerator)
    if how == "neg" or (how == "abs" and high <= 0):
        return made(numerator * -1, denominator)
    if how == "abs":
        return number if low >= 0 else made(maximum(numerator, numerator * -1), denominator)
    if denominator == 1:
        return number
    if how == "cut":
        return cut(numerator, denominator)
    if how == "floor":
        return combine(DimOp.FLOORDIV, numerator, denominator)
    return ceil_div(numerator, denominator) if how == "ceil" else None


def cut(left: Dim, right: Dim) -> Dim:
    """`left / right` without its fraction, by a divisor above 0."""
    if bounds(left)[0] >= 0:
        return combine(DimOp.FLOORDIV, left, right)
    below = combine(DimOp.FLOORDIV, maximum(left * -1, 0), right)
    return combine(DimOp.FLOORDIV, maximum(left, 0), right) - below


def compared(left: Number, right: Number) -> tuple[Dim, Dim]:
    """Two dimensions that compare as the numbers do."""
    (a, b), (c, d) = parts(left), parts(right)
    return a * d, c * b


def parts(number: Number) -> tuple[Dim, int]:
    """Numerator and denominator."""
    if isinstance(number, Ratio | Fraction):
        return number.numerator, number.denominator
    return number, 1


def _power(base: Number, exponent: Number) -> Number | None:
    if not isinstance(exponent, int) or not 0 <= exponent <= MOST_POWER:
        return None
    numerator, denominator = parts(base)
    top: Dim = 1
    for _ in range(exponent):
        top = combine(DimOp.MUL, top, numerator)
    return made(top, denominator**exponent)


def _quotient(left: Dim, right: Dim) -> Number | None:
    if isinstance(right, int):
        return None if right == 0 else made(left if right > 0 else left * -1, abs(right))
    if bounds(right)[0] < 1:
        return None
    whole = left // right
    return whole if whole * right == left else None


def _factor(dim: Dim) -> int:
    """A number that visibly divides a dimension."""
    if isinstance(dim, int):
        return abs(dim)
    if dim.op is DimOp.MUL and isinstance(dim.right, int):
        return abs(dim.right)
    if dim.op in (DimOp.ADD, DimOp.SUB):
        return math.gcd(_factor(dim.left), _factor(dim.right))
    return 1


def _divided(dim: Dim, by: int) -> Dim:
    """A dimension divided by a factor of it."""
    if isinstance(dim, int):
        return dim // by
    if dim.op is DimOp.MUL:
        return combine(DimOp.MUL, dim.left, _divided(dim.right, by))
    assert dim.op is not None
    return combine(dim.op, _divided(dim.left, by), _divided(dim.right, by))
