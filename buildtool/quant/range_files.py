"""Files that say between which numbers tensors lie: a line `name@@low,high` each, as MACE writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from buildtool.errors import ModelFileError, Problem, Where
from buildtool.quant.ranges import LARGEST, ends

_BETWEEN = "@@"
_LARGEST_SHOWN = str(np.float32(LARGEST))
_RULE = "a range file has a line <tensor>@@<low>,<high> for every tensor"


def read(path: Path | str) -> dict[str, tuple[float, float]]:
    """The ranges by the names of the tensors, in the order of the file. ModelFileError names every bad line."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ModelFileError(
            f"the range file cannot be read: {what}",
            where=Where(file=str(path)),
            rule=_RULE,
            remedy="create one with lathe quantize",
        ) from None
    ranges: dict[str, tuple[float, float]] = {}
    lines: dict[str, int] = {}
    problems: list[Problem] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        where = Where(file=str(path), line=number)
        name, between, numbers = line.strip().rpartition(_BETWEEN)
        found = _numbers(numbers)
        if not between or not name or found is None:
            problems.append(Problem(f"'{line.strip()[:80]}' is not a tensor with its range", where, _RULE))
        elif name in lines:
            what = f"'{name}' already has a range, in line {lines[name]}"
            problems.append(Problem(what, where, remedy="remove one of them"))
        else:
            lines[name] = number
            problem = _wrong(*found)
            if problem:
                problems.append(Problem(problem, Where(file=str(path), line=number, value=name), _RULE))
            ranges[name] = found
    if problems:
        raise ModelFileError(problems)
    if not ranges:
        raise ModelFileError("the range file is empty", where=Where(file=str(path)), rule=_RULE)
    return ranges


def text(ranges: Mapping[str, tuple[float, float]]) -> str:
    """The contents of a range file: what `read` reads gives the same numbers of single precision."""
    return "".join(f"{name}{_BETWEEN}{shown(low)},{shown(high)}\n" for name, (low, high) in ranges.items())


def shown(number: float) -> str:
    """The fewest digits that single precision tells apart from all others."""
    return str(np.float32(number))


def _numbers(text: str) -> tuple[float, float] | None:
    parts = text.split(",")
    try:
        low, high = (_nearest(float(part)) for part in parts)
    except ValueError:
        return None
    return low, high


def _nearest(number: float) -> float:
    """The digits of the largest number of single precision are those of a larger one of double precision."""
    return math.copysign(LARGEST, number) if str(abs(number)) == _LARGEST_SHOWN else number


def _wrong(low: float, high: float) -> str:
    """What is wrong with a range; empty where nothing is."""
    if math.isnan(low) or math.isnan(high):
        return "its range is not a number"
    try:
        ends(low, high)
    except ValueError as error:
        return str(error)
    return ""
