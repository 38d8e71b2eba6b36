"""A model of any framework once it has been read and checked: plain Python data, safe to walk, in execution order.

A framework's reader makes a `SourceModel`; from there on everything but the handlers is common to all frameworks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from buildtool.errors import Where
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType

#: An attribute's value: its type in the file decides which; a tensor is an array.
AttributeValue: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | Array
#: A dimension as the file declares it: a size, the name of an unknown size, or None.
SourceDim: TypeAlias = int | str | None


class Attributes(Mapping[str, AttributeValue]):
    """Attributes that remember which of them were looked at."""

    def __init__(self, values: Mapping[str, AttributeValue]) -> None:
        self._values = values
        self.unread = set(values)

    def __getitem__(self, name: str) -> AttributeValue:
        self.unread.discard(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str):
            self.unread.discard(name)
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@dataclass(frozen=True)
class SourceTensor:
    """A declared tensor. `shape` is None where the file says nothing about it."""

    name: str
    dtype: DType | None  # in the graph
    shape: tuple[SourceDim, ...] | None
    half: DType | None = None  # the 16-bit type that users pass, where the graph has it in single precision
    usual: tuple[int, ...] | None = None  # the sizes where nothing is declared, if the file states some
    #: What its whole numbers stand for: users that declare floats pass that.
    quantisation: QuantType | None = None


@dataclass(frozen=True, eq=False)
class SourceNode:
    """One node. Absent inputs and outputs are empty strings."""

    op: str  # the framework's name of the operator
    domain: str  # who defines the operator; empty for the framework itself
    name: str  # never empty: nodes without a name are named after their first output
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, AttributeValue]
    unreadable: Mapping[str, str] = field(default_factory=dict)  # attributes of unknown kinds (sparse tensors, types)
    #: Attributes that are graphs. Each is read when it is asked for: what is never run may hold anything.
    bodies: Mapping[str, Callable[[], SourceBody]] = field(default_factory=dict)
    captured: tuple[str, ...] = ()  # what the bodies read from around the node
    #: Of inputs and outputs that stand for other numbers than they hold, where tensors have this from the file.
    quantisation: Mapping[str, QuantType] = field(default_factory=dict)
    dtypes: Mapping[str, DType] = field(default_factory=dict)  # of inputs and outputs, where the file states them
    #: How the file stores what the layer computes in between; None where it says nothing.
    between: tuple[QuantType | None, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.domain}.{self.op}" if self.domain else self.op

    @property
    def reads(self) -> tuple[str, ...]:
        """Every tensor that has to be there before the node; absent inputs are empty strings."""
        return (*self.inputs, *self.captured)


@dataclass(frozen=True, eq=False)
class SourceBody:
    """A graph inside of a node. Its nodes also read tensors from around it."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, Array]
    nodes: tuple[SourceNode, ...]
    declared: Mapping[str, SourceTensor] = field(default_factory=dict)  # what the file says of the inputs


@dataclass(frozen=True)
class SourceModel:
    """The main graph of a file."""

    where: Where  # the file and the name of the model
    opset: int  # the version of the operators, where the framework has such versions
    layout: str  # NCHW or NHWC: the order in which the framework has tensors of rank 4
    inputs: Mapping[str, SourceTensor]  # without those that have an initial value
    outputs: Mapping[str, SourceTensor]
    declared: Mapping[str, SourceTensor]  # inner tensors whose shape the file tells
    constants: Mapping[str, Array]
    nodes: tuple[SourceNode, ...]
    other_layout: frozenset[str] = frozenset()  # tensors of rank 4 that this model has in the other order
    initial: Mapping[str, Array] = field(default_factory=dict)  # what states among the inputs begin with

    def names(self) -> frozenset[str]:
        """The names of all tensors."""
        made = {name for node in self.nodes for name in node.outputs if name}
        return frozenset(made | set(self.inputs) | set(self.constants))
