"""mod: the remainder of a / b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import BinaryOperator


@dataclass(frozen=True)
class Mod(BinaryOperator):
    """Inputs a, b (broadcast), any numbers; integers over 0 are 0.

    The result has the sign of b, or with `fmod` that of a, as C's fmod.
    """

    name: ClassVar[str] = "mod"

    fmod: bool

    def compute(self, a: Array, b: Array) -> Array:
        return np.fmod(a, b) if self.fmod else np.mod(a, b)
