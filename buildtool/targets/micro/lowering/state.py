"""What is known while a graph is read: stored tensors, and real values that are computed from them.

Models store a result by the nodes dequantise, compute, quantise. Such a chain becomes one layer when its last node is
read: until then the real values are `Pending`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.targets.micro.definitions.loops import C_TYPES
from buildtool.targets.micro.network import Layer, Table, Tensor

QUANTISE = "quantise the whole model to int8 (TFLite)"


class NoLayerError(Exception):
    """The node has no layer. Empty text: something in front of it has none."""

    def __init__(self, text: str = "", remedy: str = "") -> None:
        super().__init__(text)
        self.remedy = remedy


@dataclass(frozen=True)
class Pending:
    """A real value: an operator on stored tensors, and the bounds of its results."""

    op: str  # `stored`: a tensor as it is; `float`: a tensor of floats
    inputs: tuple[Tensor, ...]
    node: Node | None = None
    low: float = -np.inf
    high: float = np.inf

    def bounded(self, low: float, high: float) -> Pending:
        return replace(self, low=max(self.low, low), high=min(self.high, high))


@dataclass
class Lowering:
    """The layers so far."""

    graph: Graph
    layers: list[Layer] = field(default_factory=list)
    aliases: dict[Tensor, Tensor] = field(default_factory=dict)
    stored: dict[Value, Tensor] = field(default_factory=dict)
    real: dict[Value, Pending] = field(default_factory=dict)
    failed: set[Value] = field(default_factory=set)
    constants: dict[Value, Array] = field(default_factory=dict)  # that nodes of constants make
    halves: bool = False

    def __post_init__(self) -> None:
        for value in self.graph.inputs:
            dtype = value.type.dtype.numpy.name
            if dtype in C_TYPES and dtype != "float64" and all(isinstance(dim, int) for dim in value.type.shape):
                self.stored[value] = Tensor(value.name, shape_of(value), dtype=dtype)

    def tensor(self, value: Value) -> Tensor:
        """Where a value is stored."""
        found = self.stored.get(value)
        if found is None:
            if value in self.failed:
                raise NoLayerError()
            if value.is_constant:
                raise NoLayerError("an operand is a constant, which this layer does not take")
            kind = value.type.dtype
            if kind.numpy.name not in C_TYPES:
                raise NoLayerError(f"'{value.name}' has the type {kind.word}", "declare it as float32")
            raise NoLayerError(f"'{value.name}' has a run-time size", "fix the input shapes in the deployment file")
        return found

    def constant_of(self, value: Value) -> Array | None:
        return self.constants.get(value) if value.constant is None else value.constant

    def reads_bytes(self, node: Node) -> bool:
        """Whether what a node reads is stored as bytes, or computed from such tensors."""
        read = [value for value in node.inputs if self.constant_of(value) is None]
        return all(
            self.stored[value].dtype in ("int8", "uint8", "int16")
            if value in self.stored
            else value not in self.constants
            for value in read
        )

    def saved(self) -> tuple[Any, ...]:
        return self.layers.copy(), self.aliases.copy(), self.stored.copy(), self.real.copy()

    def restore(self, before: tuple[Any, ...]) -> None:
        self.layers, self.aliases, self.stored, self.real = before

    def is_stored(self, value: Value) -> bool:
        return value in self.stored

    def pending(self, value: Value) -> Pending:
        found = self.real.get(value)
        if found is None:
            if value in self.failed:
                raise NoLayerError()
            if value.is_constant:
                raise NoLayerError("an operand is a constant, which this layer does not take")
            raise NoLayerError(f"'{value.name}' is computed in floating point", QUANTISE)
        return found

    def quantised_input(self, value: Value, scale: float, zero: int) -> Tensor:
        """The tensor of a value, whose scale a reader says. All readers of a value say the same."""
        tensor = self.tensor(value)
        if tensor.scale == scale and tensor.zero == zero:
            return tensor
        new = replace(tensor, scale=scale, zero=zero)
        if tensor.scale != 1.0 or tensor.zero != 0:
            self.aliases[new] = tensor  # read by another scale: the same bytes
            return new
        self._renew(tensor, new)
        return new

    def _renew(self, old: Tensor, new: Tensor) -> None:
        """Puts a tensor whose scale became known in the place of the one without."""
        for value, known in list(self.stored.items()):
            if known is old:
                self.stored[value] = new
        if old in self.aliases:
            self.aliases[new] = self.aliases.pop(old)
        for alias, of in list(self.aliases.items()):
            if of is old:
                self.aliases[alias] = new
        for index, layer in enumerate(self.layers):
            if layer.output is old or old in layer.inputs:
                inputs = tuple(new if each is old else each for each in layer.inputs)
                output = new if layer.output is old else layer.output
                self.layers[index] = replace(layer, inputs=inputs, output=output)

    def add(self, value: Value, layer: Layer) -> None:
        if not isinstance(layer, Table) and any(each.dtype == "uint8" for each in (*layer.inputs, layer.output)):
            raise NoLayerError("unsigned bytes, which only functions of one variable read and make", QUANTISE)
        self.layers.append(layer)
        self.stored[value] = layer.output


def shape_of(value: Value) -> tuple[int, ...]:
    shape = tuple(value.type.shape)
    if not all(isinstance(dim, int) for dim in shape):
        raise NoLayerError(f"'{value.name}' has a run-time size", "fix the input shapes in the deployment file")
    return tuple(int(dim) for dim in shape if isinstance(dim, int))


def constant(value: Value) -> Array:
    if value.constant is None:
        raise NoLayerError(f"'{value.name}' is not a constant")
    return value.constant


def scale_of(scale: Value, zero: Value | None) -> tuple[float, int]:
    """A scale and a zero point of a whole tensor."""
    scales = constant(scale)
    zeros = np.zeros((), np.int64) if zero is None else constant(zero)
    if scales.size != 1 or zeros.size != 1:
        raise NoLayerError("activations have scales by channel")
    return float(np.float32(scales.reshape(()))), int(zeros.reshape(()))
