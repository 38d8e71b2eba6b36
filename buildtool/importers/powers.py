"""Powers with a whole exponent and their roots, as norms need them."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step


def power(step: Step, x: Tensor, p: int) -> Tensor:
    """|x|^p."""
    if p == 2:
        return step.emit("mul", x, x)
    size = step.emit("abs", x)
    return size if p == 1 else step.emit("pow", size, step.constant(np.array(p, x.dtype.numpy)))


def root(step: Step, x: Tensor, p: int) -> Tensor:
    """The p-th root of what is not negative."""
    if p == 1:
        return x
    return step.emit("sqrt", x) if p == 2 else step.emit("pow", x, step.constant(np.array(1 / p, x.dtype.numpy)))
