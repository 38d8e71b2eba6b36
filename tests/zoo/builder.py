"""Writes ONNX graphs the way that exporters do: a node per framework call, nothing folded.

A `Value` is a name with the shape that the writer expects, so that layers know their channels. The shape arithmetic
that exporters emit (`Shape`, `Gather`, `Unsqueeze`, `Concat`) is written out in full: importers have to fold it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 13


@dataclass(frozen=True)
class Value:
    """A tensor of the graph: N, C, H, W, or fewer dimensions later on."""

    name: str
    shape: tuple[int, ...]

    @property
    def channels(self) -> int:
        return self.shape[1]


class GraphBuilder:
    """Collects nodes and seeded weights. Every method appends nodes and returns their result."""

    def __init__(self, name: str, seed: int, input_shape: Sequence[int]) -> None:
        self.name = name
        self.input = Value("input", tuple(input_shape))
        self._random = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def model(self, output: Value) -> onnx.ModelProto:
        """The finished model; its output is called `output`."""
        for node in self._nodes:
            for index, name in enumerate(node.output):
                if name == output.name:
                    node.output[index] = "output"
        graph = helper.make_graph(
            self._nodes,
            self.name,
            [helper.make_tensor_value_info(self.input.name, TensorProto.FLOAT, self.input.shape)],
            [helper.make_tensor_value_info("output", TensorProto.FLOAT, output.shape)],
            self._weights,
        )
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, producer_name="lathe-zoo", opset_imports=[opset], ir_version=8)

    # --- layers -----------------------------------------------------------------------------------------------------

    def conv(self, x: Value, channels: int, kernel: int, stride: int = 1, groups: int = 1, bias: bool = False) -> Value:
        """Padded by half of the kernel, as torchvision does."""
        return self.conv_padded(x, channels, kernel, stride, (kernel - 1) // 2, groups, bias)

    def conv_padded(
        self, x: Value, channels: int, kernel: int, stride: int, pad: int, groups: int = 1, bias: bool = True
    ) -> Value:
        n, inputs, h, w = x.shape
        weight_shape = (channels, inputs // groups, kernel, kernel)
        deviation = np.sqrt(2 / np.prod(weight_shape[1:]))
        operands = [x.name, self._weight("weight", self._random.normal(0, deviation, weight_shape))]
        if bias:
            operands.append(self._weight("bias", self._random.uniform(-0.1, 0.1, channels)))
        shape = (n, channels, (h + 2 * pad - kernel) // stride + 1, (w + 2 * pad - kernel) // stride + 1)
        return self._add(
            "Conv",
            operands,
            shape,
            dilations=[1, 1],
            group=groups,
            kernel_shape=[kernel] * 2,
            pads=[pad] * 4,
            strides=[stride] * 2,
        )

    def batch_norm(self, x: Value) -> Value:
        uniform = self._random.uniform
        operands = [
            x.name,
            self._weight("scale", uniform(0.5, 1.0, x.channels)),
            self._weight("shift", uniform(-0.1, 0.1, x.channels)),
            self._weight("mean", uniform(-0.1, 0.1, x.channels)),
            self._weight("variance", uniform(0.8, 1.2, x.channels)),
        ]
        return self._add("BatchNormalization", operands, x.shape, epsilon=1e-5, momentum=0.9)

    def relu(self, x: Value) -> Value:
        return self._add("Relu", [x.name], x.shape)

    def relu6(self, x: Value) -> Value:
        low, high = self.constant(np.float32(0)), self.constant(np.float32(6))
        return self._add("Clip", [x.name, low.name, high.name], x.shape)

    def max_pool(self, x: Value, pad: int = 0, ceil_mode: bool = False) -> Value:
        """3x3 with stride 2."""

        def size(length: int) -> int:
            span = length + 2 * pad - 3
            return (-(-span // 2) if ceil_mode else span // 2) + 1

        n, c, h, w = x.shape
        return self._add(
            "MaxPool",
            [x.name],
            (n, c, size(h), size(w)),
            ceil_mode=int(ceil_mode),
            kernel_shape=[3, 3],
            pads=[pad] * 4,
            strides=[2, 2],
        )

    def global_average_pool(self, x: Value) -> Value:
        return self._add("GlobalAveragePool", [x.name], (*x.shape[:2], 1, 1))

    def spatial_mean(self, x: Value) -> Value:
        return self._add("ReduceMean", [x.name], x.shape[:2], axes=[2, 3], keepdims=0)

    def linear(self, x: Value, outputs: int) -> Value:
        weight = self._random.normal(0, np.sqrt(2 / x.channels), (outputs, x.channels))
        operands = [x.name, self._weight("weight", weight)]
        operands.append(self._weight("bias", self._random.uniform(-0.1, 0.1, outputs)))
        return self._add("Gemm", operands, (x.shape[0], outputs), alpha=1.0, beta=1.0, transB=1)

    def add(self, a: Value, b: Value) -> Value:
        return self._add("Add", [a.name, b.name], a.shape)

    def concat(self, parts: Sequence[Value], axis: int = 1) -> Value:
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self._add("Concat", [part.name for part in parts], shape, axis=axis)

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        return self._add("Transpose", [x.name], [x.shape[axis] for axis in permutation], perm=list(permutation))

    def flatten(self, x: Value) -> Value:
        return self._add("Flatten", [x.name], (x.shape[0], int(np.prod(x.shape[1:]))), axis=1)

    # --- what exporters make of `x.view(...)` and `x.chunk(2, 1)` ---------------------------------------------------

    def constant(self, value: npt.ArrayLike) -> Value:
        array = np.asarray(value)
        return self._add("Constant", [], array.shape, value=numpy_helper.from_array(array))

    def dimension(self, x: Value, axis: int) -> Value:
        """A scalar: `x.size(axis)`."""
        shape = self._add("Shape", [x.name], (len(x.shape),))
        return self._add("Gather", [shape.name, self.constant(np.int64(axis)).name], (), axis=0)

    def integer(self, kind: str, a: Value, b: int) -> Value:
        """Scalar arithmetic on a size: kind is Add, Sub, Mul or Div."""
        return self._add(kind, [a.name, self.constant(np.int64(b)).name], ())

    def view(self, x: Value, sizes: Sequence[Value | int], shape: Sequence[int]) -> Value:
        """`x.view(sizes)`: scalars of the graph or numbers; `shape` is what comes out."""
        axis = self.constant(np.array([0], np.int64))
        parts = []
        for size in sizes:
            if isinstance(size, Value):
                parts.append(self._add("Unsqueeze", [size.name, axis.name], (1,)))
            else:
                parts.append(self.constant(np.array([size], np.int64)))
        return self._add("Reshape", [x.name, self.concat(parts, axis=0).name], shape)

    def flatten_by_view(self, x: Value) -> Value:
        """`x.view(x.size(0), -1)`."""
        return self.view(x, [self.dimension(x, 0), -1], (x.shape[0], int(np.prod(x.shape[1:]))))

    def split_in_two(self, x: Value) -> tuple[Value, Value]:
        """`x.chunk(2, 1)` of newer exporters."""
        half = (x.shape[0], x.channels // 2, *x.shape[2:])
        sizes = self.constant(np.array([half[1]] * 2, np.int64))
        first = self._add("Split", [x.name, sizes.name], half, outputs=2, axis=1)
        return first, Value(f"{first.name}.1", half)

    def slice_in_two(self, x: Value) -> tuple[Value, Value]:
        """`x.chunk(2, 1)` of older exporters: two slices whose bounds are computed from the shape."""
        half = (x.shape[0], x.channels // 2, *x.shape[2:])
        length = self.integer("Div", self.integer("Add", self.dimension(x, 1), 1), 2)
        axes = self.constant(np.array([1], np.int64))
        bounds = [self.constant(np.array([0], np.int64))]
        for factor in (1, 2):
            bound = self.integer("Mul", length, factor)
            bounds.append(self._add("Unsqueeze", [bound.name, self.constant(np.array([0], np.int64)).name], (1,)))
        first, second = (
            self._add("Slice", [x.name, low.name, high.name, axes.name], half) for low, high in pairwise(bounds)
        )
        return first, second

    # --- inner ------------------------------------------------------------------------------------------------------

    def _add(
        self, kind: str, operands: Sequence[str], shape: Sequence[int], outputs: int = 1, **attributes: Any
    ) -> Value:
        name = f"{kind}_{len(self._nodes)}"
        results = [f"{name}_output"] + [f"{name}_output.{index}" for index in range(1, outputs)]
        self._nodes.append(helper.make_node(kind, operands, results, name, **attributes))
        return Value(results[0], tuple(shape))

    def _weight(self, role: str, value: npt.NDArray[Any]) -> str:
        name = f"{role}_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name
