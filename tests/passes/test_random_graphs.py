"""Random graphs of everything that passes rearrange: the same outputs, and never more transposes than before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from buildtool.ir.dims import static
from buildtool.ir.graph import Graph, Value
from buildtool.ops.transpose import Transpose
from buildtool.passes.move_transposes import MoveTransposes
from buildtool.passes.permutations import moves_only_ones
from buildtool.passes.pipeline import ORDER
from tests.passes.harness import CONV, NCHW, NHWC, Maker, apply


class RandomGraph:
    """Grows a graph of values [N, C, H, W] and of what reshapes make of them."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.make = Maker()
        batch, channels = (int(number) for number in self.random.choice([1, 2, 4], 2))
        self.values = [self.make.input(batch, channels * 2, 3, 4) for _ in range(2)]

    def graph(self) -> Graph:
        self.grow(int(self.random.integers(4, 24)))
        count = int(self.random.integers(1, 3))
        outputs = list(dict.fromkeys([self.values[-1], *(self.pick() for _ in range(count))]))
        return self.make.finish(*(self.make("identity", value) for value in outputs))

    def grow(self, count: int) -> None:
        for _ in range(count):
            steps = self.steps()
            made = steps[int(self.random.integers(len(steps)))](self.pick())
            if made is not None:
                self.values.append(made)

    def steps(self) -> list[Callable[[Value], Value | None]]:
        return [self.conv, self.norm, self.unary, self.binary, self.join, self.cut, self.fold, self.shape, self.turn]

    def pick(self) -> Value:
        recent = self.values[-6:]
        return recent[int(self.random.integers(len(recent)))]

    def conv(self, x: Value) -> Value | None:
        if x.type.rank != 4:
            return None
        moved = self.make("transpose", x, perm=NHWC)
        if self.random.random() < 0.3:
            depth = static(moved.type.shape)[3]
            made = self.make("dwconv2d", moved, self.make.random(1, 1, depth), **CONV)
        else:
            made = self.make.conv(moved, int(self.random.choice([2, 4, 6])), 1)
        return self.make("transpose", made, perm=NCHW)

    def norm(self, x: Value) -> Value | None:
        if x.type.rank != 4:
            return None
        channels = static(x.type.shape)[1]
        numbers = [self.make.random(channels, low=0.1) for _ in range(4)]
        moved = self.make("transpose", x, perm=NHWC)
        return self.make("transpose", self.make("batch_norm", moved, *numbers, epsilon=1e-3), perm=NCHW)

    def unary(self, x: Value) -> Value:
        return self.make(str(self.random.choice(["relu", "sigmoid", "tanh", "hard_swish", "neg"])), x)

    def binary(self, x: Value) -> Value:
        op = str(self.random.choice(["add", "mul", "sub", "maximum"]))
        same = [value for value in self.values if value.type == x.type]
        other = same[int(self.random.integers(len(same)))]
        if self.random.random() < 0.4:
            shape = [dim if self.random.random() < 0.5 else 1 for dim in static(x.type.shape)]
            other = self.make.random(*shape[int(self.random.integers(len(shape) + 1)) :])
        return self.make(op, *((x, other) if self.random.random() < 0.5 else (other, x)))

    def join(self, x: Value) -> Value:
        axis = int(self.random.integers(x.type.rank))
        same = [value for value in self.values if value.type == x.type]
        return self.make("concat", x, same[int(self.random.integers(len(same)))], axis=axis)

    def cut(self, x: Value) -> Value | None:
        axis = int(self.random.integers(x.type.rank))
        size = static(x.type.shape)[axis]
        if size < 2:
            return None
        if self.random.random() < 0.5:
            parts = self.make.all("split", x, axis=axis, sizes=(size // 2, size - size // 2))
            self.values.append(parts[0])
            return parts[1]
        starts = [size - 1 if other == axis else 0 for other in range(x.type.rank)]
        steps = [-1 if other == axis else 1 for other in range(x.type.rank)]
        return self.make("slice", x, starts=tuple(starts), steps=tuple(steps), sizes=x.type.shape)

    def fold(self, x: Value) -> Value:
        op = str(self.random.choice(["reduce_mean", "reduce_max", "softmax", "pad"]))
        axis = int(self.random.integers(x.type.rank))
        if op == "softmax":
            return self.make(op, x, axis=axis)
        if op == "pad":
            amounts = tuple(int(axis == other) for other in range(x.type.rank))
            return self.make(op, x, before=amounts, after=(0,) * x.type.rank, mode="edge", value=0.0)
        keep = bool(x.type.rank < 3 or self.random.random() < 0.7)
        return self.make(op, x, axes=(axis,), keepdims=keep)

    def shape(self, x: Value) -> Value | None:
        shape = list(static(x.type.shape))
        axis = int(self.random.integers(len(shape)))
        if len(shape) > 1 and self.random.random() < 0.5:
            axis = min(axis, len(shape) - 2)
            shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
        elif shape[axis] % 2 == 0 and len(shape) < 6:
            shape[axis : axis + 1] = [2, shape[axis] // 2]
        elif len(shape) < 6:
            shape.insert(axis, 1)
        return self.make("reshape", x, shape=tuple(shape))

    def turn(self, x: Value) -> Value:
        return self.make("transpose", x, perm=tuple(int(axis) for axis in self.random.permutation(x.type.rank)))


def _transposes(graph: Graph) -> int:
    """How many transposes move elements; the others are reshapes, and become them."""
    return sum(
        not moves_only_ones(node.inputs[0].type.shape, node.op.perm)
        for node in graph.nodes
        if isinstance(node.op, Transpose)
    )


@pytest.mark.parametrize("seed", range(150))
def test_moved_transposes(seed: int) -> None:
    graph = RandomGraph(seed).graph()
    before = _transposes(graph)
    apply(graph, MoveTransposes())
    assert _transposes(graph) <= before


@pytest.mark.parametrize("seed", range(150, 300))
def test_all_passes_in_order(seed: int) -> None:
    graph = RandomGraph(seed).graph()
    apply(graph, *(one() for one in ORDER), *(one() for one in ORDER))
