"""Faults that are none: the changed code computes the same. They are not planted, and not counted."""

from __future__ import annotations

#: File and change, as a run prints them, and why no test can tell.
EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "native/ops/max_pool2d/max_pool2d_s8_direct.cc",
        "Bytes best[width / kBytes];  ->  Bytes best[width * kBytes];",
    ): "the array has elements that nothing reads",
    (
        "native/ops/reduce_mean/reduce_mean_nested.cc",
        "} else if (plan.side_by_side && left >= kStretch) {  ->  } else if (plan.side_by_side && left > kStretch) {",
    ): "sixteen outputs are then computed one by one: the sums are integers, whose order does not matter",
    (
        "native/ops/softmax/softmax_simple.cc",
        "if (inner == 1) return AllRows(from, size, begin, end, to);  ->  (left out)",
    ): "rows are then columns of one element, which the same functions compute more slowly",
}
