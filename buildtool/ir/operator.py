"""What an operator is to the graph. The operators themselves live one per file in `buildtool.ops`.

An operator is a frozen dataclass whose fields are its attributes; an instance is an operator with its attributes set.
It knows its meaning and nothing of frameworks, kernels or targets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from buildtool.ir.dims import Dim, DimExpr
from buildtool.ir.types import DType, TensorType

Array: TypeAlias = npt.NDArray[Any]
# What an attribute may hold. Lists are tuples; a tuple of dimensions may mix ints and expressions.
AttrValue: TypeAlias = (
    bool | int | float | str | DType | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | tuple[Dim, ...]
)


class OperatorError(ValueError):
    """An operator cannot take these inputs or attributes. The verifier and the importers add the place."""


@dataclasses.dataclass(frozen=True)
class Operator:
    """Base of all operators. Subclasses are frozen dataclasses that set `name` and define the methods below."""

    name: ClassVar[str] = ""
    #: How many inputs: (least, most); most None for variadic operators. Trailing optional inputs may be left out.
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    outputs: ClassVar[int | None] = 1  # None: as many as the attributes say (split)
    #: The output holds the same bytes as input 0 under another shape (reshape): the planner may let them share memory.
    is_view: ClassVar[bool] = False
    #: Each output element depends on the elements at the same (broadcast) position only.
    is_elementwise: ClassVar[bool] = False
    regions: ClassVar[int] = 0  # how many regions a node of this operator holds (If: 2)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        """Output types. Raises OperatorError with a sentence that names the rule and the value that breaks it."""
        raise NotImplementedError

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        """The meaning, in NumPy. The oracle of every pass and kernel; folds constants. Never changes its inputs."""
        raise NotImplementedError

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        """Multiply-accumulates of one run; 0 for operators without any."""
        return 0

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        """The operator that computes transpose(self(x...), perm) from transpose(x, perm) of every input.

        Inputs of lower rank are broadcast, and the caller reshapes them. None where there is no such operator.
        """
        return None

    def attributes(self) -> dict[str, AttrValue]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __str__(self) -> str:
        shown = ", ".join(f"{key}={format_attribute(value)}" for key, value in self.attributes().items())
        return f"{self.name} {{{shown}}}" if shown else self.name


def format_attribute(value: AttrValue | Dim) -> str:
    """One spelling per value, readable and exact (floats by repr)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, DType):
        return value.value
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return "[" + ", ".join(format_attribute(item) for item in value) + "]"
    if isinstance(value, DimExpr):
        return str(value)
    return repr(value)
