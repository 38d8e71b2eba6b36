"""What Python writes in brackets behind a tensor: `x[:, 1:, ::-1, 0]`."""

from __future__ import annotations

import json
from typing import Any

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import only
from buildtool.importers.slices import interval
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim

_RULE = "indices are integers, slices of integers, None and an ellipsis"


@handler("ops.GetItem", "GetItem")
def get_item(step: Step) -> Tensor:
    x = only(step)
    entries = _entries(step, x.rank)
    starts: list[Dim] = []
    steps: list[int] = []
    sizes: list[Dim] = []
    shape: list[Dim] = []
    for entry in entries:
        if entry is None:
            shape.append(1)
            continue
        size = x.shape[len(sizes)]
        start, count, stride = _taken(step, entry, size)
        starts.append(start)
        steps.append(stride)
        sizes.append(count)
        if not isinstance(entry, int):
            shape.append(count)
    y = step.emit("slice", x, starts=tuple(starts), steps=tuple(steps), sizes=tuple(sizes))
    return step.reshape(y, tuple(shape))


def _entries(step: Step, rank: int) -> list[Any]:
    """One for each axis of the input, None for new axes; whole axes are empty slices."""
    known = json.loads(step.text("call.index", "null"))
    entries = known if isinstance(known, list) else [known]
    taken = sum(entry is not None and not _is(entry, "__ellipsis__") for entry in entries)
    if taken > rank:
        step.malformed(f"{taken} indices of a tensor of rank {rank}")
    rest: list[Any] = [{"class_name": "__slice__", "config": {}}] * (rank - taken)
    for place, entry in enumerate(entries):
        if _is(entry, "__ellipsis__"):
            return [*entries[:place], *rest, *entries[place + 1 :]]
    return [*entries, *rest]


def _is(entry: Any, kind: str) -> bool:
    return isinstance(entry, dict) and entry.get("class_name") == kind


def _taken(step: Step, entry: Any, size: Dim) -> tuple[Dim, Dim, int]:
    """Where an index begins, how many elements it takes, and the step between them."""
    if isinstance(entry, int) and not isinstance(entry, bool):
        return (size + entry if entry < 0 else entry), 1, 1
    config = entry.get("config") if _is(entry, "__slice__") else None
    bounds: list[Any] = [config.get(key) for key in ("start", "stop", "step")] if isinstance(config, dict) else [""]
    if not all(bound is None or (isinstance(bound, int) and not isinstance(bound, bool)) for bound in bounds):
        step.unsupported(f"the index {json.dumps(entry)[:80]}", _RULE)
    start, stop, stride = bounds[0], bounds[1], 1 if bounds[2] is None else bounds[2]
    if stride == 0:
        step.malformed("a slice with the step 0")
    first: Dim = start if start is not None else 0 if stride > 0 else size - 1
    end: Dim = stop if stop is not None else size if stride > 0 else -(2**31)
    return *interval(size, first, end, stride), stride
