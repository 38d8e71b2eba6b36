"""Windows that both pooling operators are tested with."""

from __future__ import annotations

from typing import Any

POOLS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((1, 1, 1, 1), {"kernel": (1, 1)}),
    ((1, 7, 7, 3), {"kernel": (1, 1), "strides": (2, 2)}),
    ((1, 8, 8, 16), {"kernel": (2, 2), "strides": (2, 2)}),
    ((1, 7, 7, 5), {"kernel": (2, 2), "strides": (2, 2)}),
    ((1, 7, 7, 5), {"kernel": (2, 2), "strides": (2, 2), "ceil_mode": True}),
    ((2, 13, 11, 4), {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((2, 13, 11, 4), {"kernel": (3, 3), "strides": (2, 2), "pads": (0, 0, 1, 1)}),
    ((1, 12, 12, 7), {"kernel": (3, 3), "strides": (2, 2), "ceil_mode": True}),
    ((1, 12, 12, 7), {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1), "ceil_mode": True}),
    ((1, 9, 9, 8), {"kernel": (3, 3)}),
    ((1, 9, 9, 8), {"kernel": (3, 3), "pads": (1, 1, 1, 1)}),
    ((1, 9, 17, 2), {"kernel": (5, 3), "pads": (2, 0, 1, 2)}),
    ((1, 9, 17, 2), {"kernel": (1, 7), "strides": (1, 3), "pads": (0, 3, 0, 3)}),
    ((1, 9, 17, 33), {"kernel": (7, 1), "strides": (3, 1), "pads": (3, 0, 3, 0)}),
    ((1, 11, 11, 3), {"kernel": (3, 3), "dilations": (2, 2)}),
    ((1, 11, 13, 3), {"kernel": (3, 2), "dilations": (2, 3), "strides": (2, 1), "pads": (1, 1, 2, 1)}),
    ((1, 10, 10, 3), {"kernel": (3, 3), "dilations": (2, 2), "strides": (3, 3), "ceil_mode": True}),
    ((1, 7, 7, 17), {"kernel": (7, 7)}),
    ((3, 5, 4, 64), {"kernel": (2, 3)}),
    ((1, 5, 5, 3), {"kernel": (2, 2), "strides": (3, 3), "ceil_mode": True}),
    ((1, 6, 7, 5), {"kernel": (4, 5), "strides": (3, 4), "pads": (3, 4, 3, 4)}),
    ((1, 3, 1, 31), {"kernel": (2, 1), "strides": (1, 1)}),
    ((2, 6, 5, 61), {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((1, 5, 6, 101), {"kernel": (2, 2), "strides": (2, 2), "ceil_mode": True}),
    # A window larger than the padded input that is the only one.
    ((1, 2, 3, 5), {"kernel": (5, 3), "strides": (2, 2), "pads": (1, 1, 1, 1), "ceil_mode": True}),
)
