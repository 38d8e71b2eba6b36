"""What MACE's tools print of ranges: a line for every tensor of every run, and one range for each tensor from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from buildtool.errors import ModelFileError, Problem, Where
from buildtool.quant.extremes import enhanced, overall

_MARK = "Tensor range @@"
_LINE = re.compile(r"Tensor range @@(?P<name>.+)@@(?P<low>[^@,]+),(?P<high>[^@,]+)$")
_RULE = f"range lines are {_MARK}<tensor>@@<low>,<high>; other lines are ignored"

Ranges = Mapping[str, tuple[list[float], list[float]]]


def line(name: str, low: float, high: float) -> str:
    """The line of a tensor in a run."""
    return f"{_MARK}{name}@@{low:.6g},{high:.6g}"


def read(path: Path) -> Ranges:
    """The lows and the highs of all samples by the names of the tensors, in the order of the log."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    problems: list[Problem] = []
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            for number, text in enumerate(stream, 1):
                if _MARK not in text:
                    continue
                ends = _ends(text)
                if ends is None:
                    what = f"'{text.strip()[:80]}' is not a range"
                    problems.append(Problem(what, Where(file=str(path), line=number), _RULE))
                    continue
                lows, highs = found.setdefault(ends[0], ([], []))
                lows.append(ends[1])
                highs.append(ends[2])
    except OSError as error:
        raise ModelFileError(f"the log cannot be read: {error.strerror}", where=Where(file=str(path))) from None
    if problems:
        raise ModelFileError(problems)
    if not found:
        remedy = "write it with lathe run --quantize-stat"
        raise ModelFileError("this log contains no ranges", where=Where(file=str(path)), rule=_RULE, remedy=remedy)
    return found


def ranges(log: Ranges, percentile: float, enhance: bool, ratio: float) -> dict[str, tuple[float, float]]:
    """One range for each tensor."""
    made: dict[str, tuple[float, float]] = {}
    for name, (lows, highs) in log.items():
        ends = np.asarray(lows), np.asarray(highs)
        made[name] = enhanced(*ends, percentile, ratio) if enhance else overall(*ends, percentile)
    return made


def samples(log: Ranges) -> int:
    """How many runs there were."""
    return max(_counts(log))


def _counts(log: Ranges) -> Iterable[int]:
    return (len(lows) for lows, _ in log.values())


def _ends(text: str) -> tuple[str, float, float] | None:
    match = _LINE.search(text.strip())
    if match is None:
        return None
    try:
        low, high = float(match["low"]), float(match["high"])
    except ValueError:
        return None
    return (match["name"], low, high) if np.isfinite(low) and np.isfinite(high) and low <= high else None
