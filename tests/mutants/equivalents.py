"""Faults that are none: the changed code computes the same. They are not planted, and not counted."""

from __future__ import annotations

_TWO_STRETCHES = "}} else if (plan.side_by_side && left {} 2 * kStretch) {{"
_COLUMNS = "if (columns {} width - before) columns = width - before;"
_GRAIN = (
    "plan.side_by_side ? (kElementGrain / (plan.count + 1) / kWide + 1) * kWide :"
    " kElementGrain / (plan.count + 1) {} 1;"
)

#: File and change, as a run prints them, and why no test can tell.
EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "native/ops/dwconv2d/dwconv2d_band.cc",
        _COLUMNS.format(">") + "  ->  " + _COLUMNS.format(">="),
    ): "what is equal is assigned to itself",
    (
        "native/ops/max_pool2d/max_pool2d_f16_direct__portable.cc",
        "bool CountsPadding() const { return false; }  ->  bool CountsPadding() const { return true; }",
    ): "it decides the number of taps, which the largest one does not depend on",
    (
        "native/ops/max_pool2d/max_pool2d_s8_direct.cc",
        "Bytes best[width / kBytes];  ->  Bytes best[width * kBytes];",
    ): "the array has elements that nothing reads",
    (
        "native/ops/reduce_mean/reduce_mean_nested.cc",
        "} else if (plan.side_by_side && left >= kStretch) {  ->  } else if (plan.side_by_side && left > kStretch) {",
    ): "sixteen outputs are then computed one by one: the sums are integers, whose order does not matter",
    (
        "native/ops/reduce_mean/reduce_mean_nested.cc",
        _TWO_STRETCHES.format(">=") + "  ->  " + _TWO_STRETCHES.format(">"),
    ): "32 outputs are then computed in two turns of sixteen, with the same sums",
    (
        "native/ops/reduce_mean/reduce_mean_nested.cc",
        _GRAIN.format("+") + "  ->  " + _GRAIN.format("-"),
    ): "outputs that are computed one by one are dealt to threads in other portions, of at least one",
    (
        "native/ops/softmax/softmax_simple.cc",
        "if (inner == 1) return AllRows(from, size, begin, end, to);  ->  (left out)",
    ): "rows are then columns of one element, which the same functions compute more slowly",
}
