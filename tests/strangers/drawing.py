"""Draws well-typed ONNX models. Sizes are drawn several at once: what a graph does has to fit all of them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from buildtool.ir.operator import Array

#: A dimension at each of the sizes that a model is run at: the largest first, then the smallest, then another.
Size = tuple[int, ...]
Shape = tuple[Size, ...]
RUNS = 3
TYPES = {"f32": np.float32, "f64": np.float64, "s64": np.int64, "s32": np.int32, "bool": np.bool_}
_MOST_ELEMENTS = 6000


def fixed(size: int) -> Size:
    return (size,) * RUNS


def is_fixed(size: Size) -> bool:
    return len(set(size)) == 1


def fixed_shape(sizes: Sequence[int]) -> Shape:
    return tuple(fixed(size) for size in sizes)


@dataclass(frozen=True)
class Drawn:
    """A value of a model that is being drawn."""

    name: str
    kind: str
    shape: Shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_fixed(self) -> bool:
        return all(is_fixed(size) for size in self.shape)

    def sizes(self) -> tuple[int, ...]:
        """The shape of a value without run-time sizes."""
        assert self.is_fixed
        return tuple(size[0] for size in self.shape)


@dataclass
class Drawing:
    """A model while nodes are added to it."""

    rng: random.Random
    opset: int
    values: list[Drawn] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[Drawn] = field(default_factory=list)
    symbols: dict[str, Size] = field(default_factory=dict)
    count: int = 0

    def name(self, word: str) -> str:
        self.count += 1
        return f"{word}{self.count}"

    def node(
        self, op: str, inputs: Sequence[Drawn | str], shape: Sequence[Size], kind: str = "", **attrs: Any
    ) -> Drawn:
        """A node with one output, which is of the first input's type where no other is given."""
        return self.nodes_of(op, inputs, [(tuple(shape), kind)], **attrs)[0]

    def nodes_of(
        self, op: str, inputs: Sequence[Drawn | str], results: Sequence[tuple[Shape, str]], **attrs: Any
    ) -> list[Drawn]:
        """A node with several outputs: their shapes and types."""
        first = next((item.kind for item in inputs if isinstance(item, Drawn)), "f32")
        outputs = [Drawn(self.name("v"), kind or first, shape) for shape, kind in results]
        names = [item.name if isinstance(item, Drawn) else item for item in inputs]
        attrs = {key: value for key, value in attrs.items() if value is not None}
        self.nodes.append(
            helper.make_node(op, names, [item.name for item in outputs], name=self.name(f"{op.lower()}_"), **attrs)
        )
        self.values += outputs
        return outputs

    def weight(self, array: Any, dtype: Any = np.float32) -> Drawn:
        """A constant."""
        held = np.asarray(array, dtype)
        name = self.name("w")
        self.weights.append(numpy_helper.from_array(held, name))
        kind = next((word for word, known in TYPES.items() if known == held.dtype.type), "f32")
        return Drawn(name, kind, fixed_shape(held.shape))

    def numbers(self, *shape: int, low: float = -1.0, high: float = 1.0) -> Drawn:
        """Random weights."""
        seeded = np.random.default_rng(self.rng.randrange(1 << 30))
        return self.weight(seeded.uniform(low, high, shape))

    def integers(self, values: Any) -> Drawn:
        return self.weight(values, np.int64)

    def axis(self, rank: int) -> tuple[int, int]:
        """An axis, and how a model writes it: from the end as well."""
        axis = self.rng.randrange(rank)
        return axis, axis - rank if self.rng.random() < 0.5 else axis

    def axes(self, rank: int, most: int = 3) -> tuple[list[int], list[int]]:
        """Several axes in any order, and how a model writes them."""
        chosen = self.rng.sample(range(rank), self.rng.randint(1, min(rank, most)))
        return chosen, [axis - rank if self.rng.random() < 0.5 else axis for axis in chosen]


def fits(shape: Sequence[Size], most: int = _MOST_ELEMENTS) -> bool:
    """Whether a value of this shape is neither empty nor large, at all sizes."""
    counts = [math.prod(size[run] for size in shape) for run in range(RUNS)]
    return len(shape) <= 6 and min(counts) > 0 and max(counts) <= most and all(min(size) > 0 for size in shape)


def broadcast(left: Shape, right: Shape) -> Shape | None:
    """The shape of a result of both; None where they do not fit at all sizes, or where a size is 1 at some of them."""
    rank = max(len(left), len(right))
    padded = [(fixed(1),) * (rank - len(shape)) + shape for shape in (left, right)]
    result = []
    for a, b in zip(*padded, strict=True):
        if a == b or b == fixed(1):
            result.append(a)
        elif a == fixed(1):
            result.append(b)
        else:
            return None
    return tuple(result)


@dataclass(frozen=True)
class Model:
    """A model with what it is run on."""

    proto: onnx.ModelProto
    symbols: dict[str, Size]  # words in the shapes of its inputs
    seed: int

    def shapes(self, run: int) -> dict[str, tuple[int, ...]]:
        """The shapes of the inputs at one of the sizes."""
        return {
            item.name: tuple(
                self.symbols[dim.dim_param][run] if dim.dim_param else dim.dim_value
                for dim in item.type.tensor_type.shape.dim
            )
            for item in self.proto.graph.input
        }

    def feeds(self, run: int) -> dict[str, Array]:
        """Random inputs at one of the sizes."""
        made = {}
        kinds = {item.name: item.type.tensor_type.elem_type for item in self.proto.graph.input}
        for position, (name, shape) in enumerate(self.shapes(run).items()):
            rng = np.random.default_rng((self.seed, run, position))
            dtype = helper.tensor_dtype_to_np_dtype(kinds[name])
            if dtype.kind in "iub":
                least, end = {"i": (-4, 5), "u": (0, 5), "b": (0, 2)}[dtype.kind]
                made[name] = np.asarray(rng.integers(least, end, shape), dtype)
            else:
                made[name] = np.asarray(rng.uniform(-2, 2, shape), dtype)
        return made
