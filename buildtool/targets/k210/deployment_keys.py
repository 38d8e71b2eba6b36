"""The keys of a deployment file that are of this target alone."""

from __future__ import annotations

from typing import Annotated, Any

from buildtool.sections.readers import Many, Plain, read_text, wrong
from buildtool.sections.section import Section, key
from buildtool.wording import quoted

_LARGEST_SIDE = 1024.0  # of an anchor, in cells


def _read_share(value: Any) -> float:
    text = read_text(value)
    number = _number(text)
    if not 0 <= number <= 1:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: a number from 0 to 1")
    return number


def _read_side(value: Any) -> float:
    text = read_text(value)
    number = _number(text)
    if not 0 < number <= _LARGEST_SIDE:
        raise wrong(f"{{key}} cannot contain {quoted(text)}", rule="allowed: positive numbers of cells")
    return number


def _number(text: str) -> float:
    """Not a number where it is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


_SHARE = Plain(_read_share, {"type": "number", "minimum": 0, "maximum": 1}, "number from 0 to 1")
_SIDE = Plain(_read_side, {"type": "number", "exclusiveMinimum": 0}, "number")


class KpuSection(Section):
    """Settings of the program for a K210."""

    anchors: Annotated[list[float] | None, Many(_SIDE, commas=True)] = key(
        "The model is a YOLO v2: width and height of each anchor, in cells of the output. The program finds the boxes."
    )
    box_threshold: Annotated[float | None, _SHARE] = key("Minimum probability of a box.", default=0.5)
    box_overlap: Annotated[float | None, _SHARE] = key(
        "Maximum intersection over union of two boxes of one class; the less probable one is dropped.", default=0.3
    )
