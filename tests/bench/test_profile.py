"""The sums of a profile."""

from __future__ import annotations

from tests.bench import profile
from tests.bench.profile import NodeProfile

ROWS = [
    NodeProfile("conv2d", "8x8x4-k1x1-o4", "conv2d_a", 4_000_000, 1_000_000),
    NodeProfile("softmax", "1x1000", "softmax_a", 0, 500_000),
    NodeProfile("conv2d", "8x8x4-k3x3-o4", "conv2d_a", 36_000_000, 3_000_000),
]


def test_kernels_are_summed() -> None:
    assert profile.by_kernel(ROWS) == [
        ["conv2d_a", "2", "4.000", "88.9%", "10.0"],
        ["softmax_a", "1", "0.500", "11.1%", ""],
    ]


def test_the_most_expensive_nodes_come_first() -> None:
    first, second = profile.by_node(ROWS, 2)
    assert first == ["conv2d 8x8x4-k3x3-o4", "conv2d_a", "3.000", "66.7%", "12.0"]
    assert second[0] == "conv2d 8x8x4-k1x1-o4"
