"""erf: the error function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator
from buildtool.ops._erf import error_function


@dataclass(frozen=True)
class Erf(UnaryOperator):
    """Input x, floating-point numbers."""

    name: ClassVar[str] = "erf"

    def compute(self, x: Array) -> Array:
        return error_function(x)
