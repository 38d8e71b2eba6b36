"""How the elements of a tensor are spread: few figures and the bars of a histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

BARS = 32
_MOST = 1 << 17  # elements that are counted: of more every n-th


def spread(array: npt.NDArray[Any]) -> dict[str, Any] | None:
    """The least and the largest finite element, and of at most so many elements the rest; None where nothing is known.

    `every`: 3 says that every third element was counted. `odd` are those that are NaN or infinite.
    """
    if array.dtype.kind not in "iuf" or not array.size:
        return None
    flat = array.reshape(-1)
    every = -(-flat.size // _MOST)
    numbers = flat[::every].astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return None
    low, high = (float(end) for end in _ends(flat))
    counts = np.histogram(finite, bins=BARS, range=(low, high))[0] if high > low else np.array([finite.size])
    return {
        "low": _short(low),
        "high": _short(high),
        "mean": _short(float(finite.mean())),
        "deviation": _short(float(finite.std())),
        "zeros": _short(float(np.count_nonzero(finite == 0) / finite.size)),
        "odd": int(numbers.size - finite.size),
        "every": every,
        "counts": [int(count) for count in counts],
    }


def _ends(flat: npt.NDArray[Any]) -> tuple[Any, Any]:
    low, high = flat.min(), flat.max()
    if np.isfinite(low) and np.isfinite(high):
        return low, high
    finite = flat[np.isfinite(flat)]
    return finite.min(), finite.max()


def _short(number: float) -> float:
    """Enough digits to be shown."""
    return float(f"{number:.5g}")
