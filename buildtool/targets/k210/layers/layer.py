"""What all layers of a description have: a name, and how they become nodes of a graph."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from buildtool.errors import ConfigError, Where
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.ops.registry import builtin
from buildtool.targets.k210.generation.rules import NotHereError

_CALLS = itertools.count()
_MOST_WEIGHTS = 1 << 25


@dataclass(eq=False)
class Tensor:
    """What a layer makes of others. Its shape is known when a model is made of it."""

    layer: Layer
    sources: tuple[Tensor, ...]
    number: int = field(default_factory=lambda: next(_CALLS))  # in the order of the calls


@dataclass(frozen=True, eq=False)
class Layer:
    """A description. To call it with tensors applies it; to call it twice applies the same weights twice."""

    name: str = field(default="", kw_only=True)  # "": the kind of layer, numbered

    def __call__(self, *sources: Tensor | Sequence[Tensor]) -> Tensor:
        flat: list[Any] = []
        for source in sources:
            flat += source if isinstance(source, list | tuple) else [source]
        if not all(isinstance(source, Tensor) for source in flat):
            raise ConfigError(
                f"{type(self).__name__} was called with an argument that is not a tensor",
                where=Where(node=self.name),
                rule="layers are called with the results of Input and other layers",
            )
        return Tensor(self, tuple(flat))

    def build(self, making: Making, x: Value) -> Value:
        """Its nodes. NotHereError and OperatorError where it does not fit its input."""
        raise NotImplementedError

    def build_all(self, making: Making, values: Sequence[Value]) -> Value:
        """The same for layers that take several tensors."""
        if len(values) != 1:
            raise NotHereError(
                f"it was called with {len(values)} tensors", "it takes one", "join tensors with Concat or Add"
            )
        return self.build(making, values[0])


@dataclass(frozen=True)
class Slot:
    """A place for an array: the name of a layer, what the array is to it, and its shape."""

    layer: str
    role: str
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """As TensorLayer calls it."""
        return f"{self.layer}/{self.role}"


class Making:
    """A graph in the making. Without arrays, weights are zeros: so shapes are found, and which weights there are."""

    def __init__(self, graph: Graph, arrays: dict[Slot, Array] | None) -> None:
        self.graph = graph
        self.slots: dict[Slot, None] = {}  # in order
        self.layer = ""
        self._elements = 0  # of all slots
        self._arrays = arrays
        self._operators = builtin()

    def input(self, shape: Sequence[int]) -> Value:
        value = Value(self.layer, TensorType(DType.F32, (1, *shape)), (self.layer,))
        self.graph.inputs.append(value)
        return value

    def node(self, op: str, *inputs: Value, **attributes: Any) -> Value:
        node = self.graph.new_node(self._operators[op](**attributes), inputs, self.layer, hint=self.layer)
        self.graph.nodes.append(node)
        return node.outputs[0]

    def weight(self, role: str, *shape: int) -> Array:
        """An array of the layer that is being built."""
        slot = Slot(self.layer, role, shape)
        self._elements += 0 if slot in self.slots else math.prod(shape)
        if self._elements > _MOST_WEIGHTS:
            raise NotHereError(
                f"with its '{role}' {list(shape)} the model has {self._elements} weights",
                f"more than {_MOST_WEIGHTS} are not usable: the chip has 6 MiB of memory, boards 16 MiB of "
                "flash memory",
                "make the layer smaller",
            )
        self.slots[slot] = None
        return np.zeros(shape, np.float32) if self._arrays is None else self._arrays[slot]

    def constant(self, array: Array) -> Value:
        return self.graph.new_constant(self.layer, np.ascontiguousarray(array, np.float32))


def shape_of(value: Value) -> tuple[int, ...]:
    """Without the batch."""
    return tuple(int(dim) for dim in value.type.shape[1:] if isinstance(dim, int))


def picture(value: Value) -> tuple[int, int, int]:
    """Rows, columns, channels. NotHereError where it is no picture."""
    shape = shape_of(value)
    if len(shape) != 3:
        raise NotHereError(
            f"its input has the shape {list(shape)}", "it takes rows, columns, channels", "move it before Flatten"
        )
    return shape[0], shape[1], shape[2]
