"""The options of custom operators: bytes that only who defines the operator can read."""

from __future__ import annotations

import numpy as np

from buildtool.importers.step import Step


def integers(step: Step, least: int) -> tuple[int, ...]:
    """The options as numbers of 32 bits, as C has them in a structure; at least so many."""
    options = step.attribute("custom_options")
    if not isinstance(options, np.ndarray) or options.size < 4 * least:
        step.malformed(f"it has no {least} options")
    whole = options[: options.size // 4 * 4]
    return tuple(int(number) for number in np.frombuffer(whole.tobytes(), "<i4"))
