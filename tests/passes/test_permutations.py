"""Orders of axes, and how reshapes carry them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from buildtool.ir.dims import Shape, symbol
from buildtool.passes.permutations import inverse, moves_only_ones, permuted, then, through_reshape

N = symbol("N", 1, 8)


def test_two_orders_in_a_row() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    for first, second in itertools.product(itertools.permutations(range(3)), repeat=2):
        np.testing.assert_array_equal(x.transpose(first).transpose(second), x.transpose(then(first, second)))
    assert then((2, 0, 1), inverse((2, 0, 1))) == (0, 1, 2)


def test_moving_ones_is_renaming() -> None:
    assert moves_only_ones((2, 1, 3, 1), (0, 2, 1, 3))
    assert not moves_only_ones((2, 1, 3, 1), (2, 1, 0, 3))
    assert moves_only_ones((1, N), (1, 0)) is not False


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ((2, 12, 3, 5), (2, 4, 3, 3, 5)),
        ((2, 4, 3, 3, 5), (2, 12, 3, 5)),
        ((2, 12, 3, 5), (2, 12, 15)),
        ((2, 12, 3, 5), (2, 1, 12, 3, 5)),
        ((2, 12, 1, 1), (2, 12)),
        ((2, 12), (2, 12, 1, 1)),
        ((1, 8, 3, 5), (1, 2, 4, 3, 5)),
        ((6, 4), (4, 6)),
        ((1, 1, 7), (7,)),
    ],
)
def test_a_carried_order_holds_the_same_elements(source: tuple[int, ...], target: tuple[int, ...]) -> None:
    x = np.arange(np.prod(source)).reshape(source)
    carried = 0
    for perm in itertools.permutations(range(len(source))):
        after = through_reshape(source, target, perm)
        if after is None:
            continue
        carried += 1
        wanted = x.reshape(target).transpose(after)
        np.testing.assert_array_equal(x.transpose(perm).reshape(permuted(target, after)), wanted)
    assert carried >= 1


@pytest.mark.parametrize(
    ("source", "target", "perm", "expected"),
    [
        ((N, 12, 3, 5), (N, 4, 3, 3, 5), (0, 2, 3, 1), (0, 3, 4, 1, 2)),
        ((N, 12, 3, 5), (N, 180), (0, 2, 3, 1), None),
        ((N, 12, 1, 1), (N, 12), (0, 2, 3, 1), (0, 1)),
        ((2, N, 3), (N * 2, 3), (1, 0, 2), None),
        ((2, 3, N), (6, N), (2, 0, 1), (1, 0)),
    ],
)
def test_run_time_sizes(source: Shape, target: Shape, perm: tuple[int, ...], expected: tuple[int, ...] | None) -> None:
    assert through_reshape(source, target, perm) == expected
