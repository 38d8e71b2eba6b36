"""What an operator is to the graph. The operators themselves live one per file in `buildtool.ops`.

An operator is a frozen dataclass whose fields are its attributes; an instance is an operator with its attributes set.
It knows its meaning and nothing of frameworks, kernels or targets.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy.typing as npt

from buildtool.ir.attributes import AttrKind, AttrValue, format_attribute, kind_of, normalise
from buildtool.ir.dims import Dim, DimExpr, Symbol, evaluate, symbols
from buildtool.ir.types import TensorType

__all__ = ["Array", "AttrKind", "AttrValue", "Body", "Operator", "OperatorError", "RegionType", "format_attribute"]

Array: TypeAlias = npt.NDArray[Any]
_Self = TypeVar("_Self", bound="Operator")


class OperatorError(ValueError):
    """An operator cannot take these inputs or attributes. The verifier and the importers add the place."""


@dataclasses.dataclass(frozen=True)
class RegionType:
    """What a region takes and what it gives."""

    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]


@dataclasses.dataclass(frozen=True)
class Body:
    """A region as the meaning of its node sees it: a function. Its type has numbers for dimensions."""

    type: RegionType
    run: Callable[[Sequence[Array]], tuple[Array, ...]]


@dataclasses.dataclass(frozen=True)
class Operator:
    """Base of all operators. Subclasses are frozen dataclasses that set `name` and define the methods below.

    Making an instance normalises the attributes (see `attributes.normalise`) and calls `check`: an operator that exists
    has attributes of the right kind and range.
    """

    name: ClassVar[str] = ""
    #: How many inputs: (least, most); most None for variadic operators. Trailing optional inputs may be left out.
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    outputs: ClassVar[int | None] = 1  # None: as many as the attributes say (split)
    #: The output holds the same bytes as input 0 under another shape (reshape): the planner may let them share memory.
    is_view: ClassVar[bool] = False
    gives_as_stored: ClassVar[bool] = False  # what its regions give, quantised or not, is what it gives
    #: Each output element depends on the elements at the same (broadcast) position only.
    is_elementwise: ClassVar[bool] = False
    #: Output elements are elements of the inputs (or zero, or below all of them), chosen by place or by order: what
    #: they stand for does not matter.
    keeps_numbers: ClassVar[bool] = False
    regions: ClassVar[int] = 0  # how many regions a node of this operator holds (If: 2)
    #: The attribute that names sizes which only the data decides: its symbols get their values when the node has run.
    data_sizes: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        for key, kind in self.attribute_kinds().items():
            try:
                value = normalise(getattr(self, key), kind)
            except ValueError as problem:
                raise OperatorError(f"attribute '{key}' {problem}") from None
            object.__setattr__(self, key, value)  # frozen for everybody else
        self.check()

    def check(self) -> None:
        """Raises OperatorError where attributes break a rule that does not depend on the inputs."""

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        """Output types. Raises OperatorError with a sentence that names the rule and the value that breaks it."""
        raise NotImplementedError

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        """The meaning, in NumPy. The oracle of every pass and kernel; folds constants. Never changes its inputs.

        The inputs are ones that `infer` accepts, and attributes hold no symbols (see `bound`). What depends on the
        values of the inputs (an index that is out of range) raises OperatorError.
        """
        raise NotImplementedError

    def infer_node(self, inputs: Sequence[TensorType], regions: Sequence[RegionType]) -> tuple[TensorType, ...]:
        """As `infer`, for every node: operators that hold regions define this one instead."""
        return self.infer(inputs)

    def reference_node(self, inputs: Sequence[Array], bodies: Sequence[Body]) -> tuple[Array, ...]:
        """As `reference`, for every node: operators that hold regions define this one instead."""
        if bodies:
            raise OperatorError(f"'{self.name}' does not define the effect of its regions")
        return self.reference(*inputs)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        """Multiply-accumulates of one run; 0 for operators without any."""
        return 0

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        """The operator that computes transpose(self(x...), perm) from transpose(x, perm) of every input.

        Inputs of lower rank (weights) stay as they are, but those of element-wise operators are broadcast: the caller
        gives them the missing axes and transposes them too. None where there is no such operator.
        """
        return None

    def bound(self: _Self, values: Mapping[str, int]) -> _Self:
        """The operator with numbers in place of the dimensions that its attributes hold."""
        changed: dict[str, Any] = {}
        for key, value in self.attributes().items():
            if isinstance(value, tuple) and any(isinstance(item, DimExpr) for item in value):
                changed[key] = tuple(evaluate(item, values) if isinstance(item, DimExpr) else item for item in value)
        return dataclasses.replace(self, **changed) if changed else self

    def defined_symbols(self) -> tuple[Symbol, ...]:
        """The symbols that stand for sizes which this operator finds out: see `data_sizes`."""
        sizes = getattr(self, self.data_sizes) if self.data_sizes is not None else ()
        return tuple(dim.symbol for dim in sizes if isinstance(dim, DimExpr) and dim.symbol is not None)

    def used_symbols(self) -> Iterator[Symbol]:
        """The symbols in the attributes, those that the operator defines included."""
        for value in self.attributes().values():
            if isinstance(value, tuple):
                for item in value:
                    if isinstance(item, DimExpr):
                        yield from symbols(item)

    def attributes(self) -> dict[str, AttrValue]:
        return {name: getattr(self, name) for name in self.attribute_kinds()}

    @classmethod
    def attribute_kinds(cls) -> Mapping[str, AttrKind]:
        """The kind of every attribute, in the order of the fields."""
        known: Any = cls
        return _attribute_kinds(known)

    def operands(self, inputs: Sequence[TensorType]) -> Sequence[TensorType]:
        """The inputs, after a check that there are as many as `arity` allows. The first step of every `infer`."""
        least, most = self.arity
        if len(inputs) < least or (most is not None and len(inputs) > most):
            count = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            raise OperatorError(f"{self.name} takes {count} inputs, not {len(inputs)}")
        return inputs

    def __str__(self) -> str:
        shown = ", ".join(f"{key}={format_attribute(value)}" for key, value in self.attributes().items())
        return f"{self.name} {{{shown}}}" if shown else self.name


@functools.cache
def _attribute_kinds(operator: Any) -> Mapping[str, AttrKind]:
    hints = typing.get_type_hints(operator)
    kinds = {}
    for field in dataclasses.fields(operator):
        kind = kind_of(hints[field.name])
        if kind is None:
            raise OperatorError(f"attribute '{field.name}' of '{operator.name}' is annotated with an unknown type")
        kinds[field.name] = kind
    return kinds
