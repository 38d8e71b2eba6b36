"""Dimension expressions: folding, text, postfix programs and bounds, on random expressions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildtool.ir import dims
from buildtool.ir.dims import MOST_DEPTH, MOST_PARTS, Dim, DimExpr, DimOp, Symbol, TooIntricateError, combine, symbol

_SYMBOLS = {
    name: Symbol(name, low, high) for name, low, high in (("n", 1, 9), ("m.x", 0, 5), ("k", 3, 3), ("_z", 2, 40))
}
_LEAVES = st.integers(-6, 20) | st.sampled_from([symbol(s.name, s.low, s.high) for s in _SYMBOLS.values()])
_VALUES = st.fixed_dictionaries({name: st.integers(s.low, s.high) for name, s in _SYMBOLS.items()})


def _combined(op: DimOp, left: Dim, right: Dim) -> Dim:
    """A combination whose divisor is certainly positive, as graphs may hold only those."""
    if op in (DimOp.FLOORDIV, DimOp.CEILDIV, DimOp.MOD) and dims.bounds(right)[0] < 1:
        right = dims.maximum(right, 1)
    return combine(op, left, right)


_DIMS = st.recursive(_LEAVES, lambda inner: st.builds(_combined, st.sampled_from(DimOp), inner, inner), max_leaves=12)


def _plain(op: DimOp, left: int, right: int) -> int:
    return {
        DimOp.ADD: lambda: left + right,
        DimOp.SUB: lambda: left - right,
        DimOp.MUL: lambda: left * right,
        DimOp.FLOORDIV: lambda: left // right,
        DimOp.CEILDIV: lambda: -(-left // right),
        DimOp.MOD: lambda: left % right,
        DimOp.MIN: lambda: min(left, right),
        DimOp.MAX: lambda: max(left, right),
    }[op]()


@given(_DIMS)
def test_text_reads_back(dim: Dim) -> None:
    assert dims.parse(str(dim), _SYMBOLS) == dim


@given(_DIMS, _VALUES)
def test_bounds_hold_every_value(dim: Dim, values: dict[str, int]) -> None:
    low, high = dims.bounds(dim)
    assert low <= dims.evaluate(dim, values) <= high


@given(_DIMS, _VALUES)
def test_postfix_program_computes_the_same(dim: Dim, values: dict[str, int]) -> None:
    stack: list[int] = []
    for word in dims.postfix(dim):
        if isinstance(word, DimOp):
            right, left = stack.pop(), stack.pop()
            stack.append(_plain(word, left, right))
        else:
            stack.append(values[word.name] if isinstance(word, Symbol) else word)
    assert stack == [dims.evaluate(dim, values)]


@given(st.sampled_from(DimOp), _DIMS, _DIMS, _VALUES)
def test_folding_changes_no_value(op: DimOp, left: Dim, right: Dim, values: dict[str, int]) -> None:
    a, b = dims.evaluate(left, values), dims.evaluate(right, values)
    if op in (DimOp.FLOORDIV, DimOp.CEILDIV, DimOp.MOD) and dims.bounds(right)[0] < 1:
        return
    assert dims.evaluate(combine(op, left, right), values) == _plain(op, a, b)


def test_normal_form() -> None:
    n = symbol("n")
    assert n + 2 - 2 == n
    assert 2 + n == n + 2
    assert (n * 4) // 2 == n * 2
    assert (n * 6) // n == 6
    assert n - n == 0
    m = symbol("m")
    assert ((n * 384) * m) // ((n * m) * 48) == 8
    assert (n * m * 6) // (m * 4) == (n * 3) // 2
    assert combine(DimOp.MOD, n * m * 6, m * 3) == 0
    assert str((n * 6) % 4) == "((n * 6) % 4)"
    assert dims.ceil_div(dims.ceil_div(n, 2), 3) == dims.ceil_div(n, 6)
    assert dims.product([2, n, 3]) == n * 6
    assert str((n + 1) // 2) == "((n + 1) // 2)"
    assert repr(n * 2) == "<(n * 2)>"


def test_terms_that_cancel() -> None:
    """The size of a slice of one element behind a division (seed 2010751 of the random models)."""
    n, m = symbol("n"), symbol("m")
    half = (n - 1) // 2
    assert dims.maximum((half + 1) - half, 0) == 1
    assert (n + m * 2 + 3) - m * 2 == n + 3
    assert (n - m) + m == n
    assert str(m - n * 2 + n) == "((m - (n * 2)) + n)"  # what has two terms stays as it was written


def test_sizes_of_pools_with_ceil_mode_stay_small() -> None:
    """Their two quotients differ by a constant, so that a chain of pools needs no minimum."""
    n = symbol("n", 64, 96)
    size: Dim = n
    for _ in range(5):
        size = dims.minimum(dims.ceil_div(size - 3, 2) + 1, dims.ceil_div(size, 2))
    assert "min" not in str(size)
    for value in range(64, 97):
        expected = value
        for _ in range(5):
            expected = min(-(-(expected - 3) // 2) + 1, -(-expected // 2))
        assert dims.evaluate(size, {"n": value}) == expected


def test_padding_to_whole_windows_is_a_multiple() -> None:
    n = symbol("n", 1, 30)
    border = (7 - (n % 7)) % 7
    padded = n + border
    assert padded == border + n == dims.ceil_div(n, 7) * 7
    for value in range(1, 31):
        assert dims.evaluate(padded, {"n": value}) == value + (7 - value % 7) % 7


@pytest.mark.parametrize("divisor", [0, -2])
def test_divisors_are_positive(divisor: int) -> None:
    with pytest.raises(ValueError, match="not positive"):
        symbol("n") // divisor
    with pytest.raises(ValueError, match="not positive"):
        dims.evaluate(symbol("n") // symbol("m", 0), {"n": 1, "m": 0})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n +",
        "n m",
        "(n",
        "n)",
        "q",
        "min(n)",
        "min(n, 1",
        "2 ** 3",
        "n / 2",
        "n // 0",
        "--1",
        "1.5",
        "(" * 200 + "n",
    ],
)
def test_text_that_is_no_dimension(text: str) -> None:
    with pytest.raises(ValueError):
        dims.parse(text, _SYMBOLS)


@pytest.mark.parametrize(("name", "low", "high"), [("1n", 1, 2), ("", 1, 2), ("n", 3, 2), ("n", -1, 2), ("max", 1, 2)])
def test_refused_symbols(name: str, low: int, high: int) -> None:
    with pytest.raises(ValueError):
        Symbol(name, low, high)


def test_static() -> None:
    assert dims.static((1, 2)) == (1, 2)
    assert not dims.is_static((1, symbol("n")))
    with pytest.raises(ValueError, match="dimension n is not known at build time"):
        dims.static((symbol("n"),))


def test_expressions_have_a_largest_size() -> None:
    wide: Dim = symbol("N", 1, 8)
    with pytest.raises(TooIntricateError, match="parts"):
        for _ in range(40):
            wide = wide + wide
    deep: Dim = symbol("N", 1, 8)
    with pytest.raises(TooIntricateError, match="deep"):
        for _ in range(200):
            deep = (deep + 1) // 2
    assert str(deep).count("//") == MOST_DEPTH // 2
    waiting: Dim = symbol("N", 1, 8)
    with pytest.raises(TooIntricateError, match="pending operands"):
        for _ in range(50):
            waiting = combine(DimOp.MIN, symbol("M", 1, 8), waiting)
    for dim in (wide, deep, waiting):  # what was made before is as good as ever
        assert isinstance(dim, DimExpr)
        assert dim.parts <= MOST_PARTS
        assert dim.depth <= MOST_DEPTH
        assert dims.parse(str(dim), {name: Symbol(name, 1, 8) for name in "MN"}) == dim
