"""Small TFLite models of 8-bit integers, drawn at random, and what LiteRT's reference kernels make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.operator import Array
from buildtool.ops.registry import registry
from buildtool.passes import pipeline
from buildtool.targets.micro.lowering.lower import lower
from buildtool.targets.micro.network import Network
from tests.importers.tflite.writer import GraphSpec, NodeSpec, Quantisation, TensorSpec, write

SAME, VALID = 0, 1
_ENDS = {"int8": (-128, 128), "int16": (-(1 << 15), 1 << 15)}
NONE, RELU, RELU6 = 0, 1, 3


@dataclass
class Model:
    """Tensors and nodes so far. Methods add a layer and give the index of its output."""

    seed: int
    tensors: list[TensorSpec] = field(default_factory=list)
    nodes: list[NodeSpec] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def input(self, *shape: int) -> int:
        index = self._activation(shape)
        self.inputs.append(index)
        return index

    def conv(
        self, x: int, made: int, kernel: tuple[int, int], stride: int = 1, padding: int = SAME, activation: int = RELU
    ) -> int:
        shape = self.tensors[x].shape
        filters = (made, *kernel, shape[3])
        operands = self._products(x, filters, made, 0)
        y = self._activation((1, *_sizes(shape, kernel, stride, padding), made))
        values = _window("Stride", stride) | {"Padding": padding, "FusedActivationFunction": activation}
        values |= {"DilationWFactor": 1, "DilationHFactor": 1}
        return self._node("CONV_2D", [x, *operands], y, "Conv2DOptions", values)

    def depthwise(
        self,
        x: int,
        kernel: tuple[int, int],
        stride: int = 1,
        padding: int = SAME,
        activation: int = RELU6,
        times: int = 1,
    ) -> int:
        shape = self.tensors[x].shape
        made = shape[3] * times
        operands = self._products(x, (1, *kernel, made), made, 3)
        y = self._activation((1, *_sizes(shape, kernel, stride, padding), made))
        values = _window("Stride", stride) | {"Padding": padding, "FusedActivationFunction": activation}
        values |= {"DepthMultiplier": times, "DilationWFactor": 1, "DilationHFactor": 1}
        return self._node("DEPTHWISE_CONV_2D", [x, *operands], y, "DepthwiseConv2DOptions", values)

    def dense(self, x: int, made: int) -> int:
        deep = int(np.prod(self.tensors[x].shape))
        operands = self._products(x, (made, deep), made, None)
        y = self._activation((1, made))
        return self._node("FULLY_CONNECTED", [x, *operands], y, "FullyConnectedOptions", {})

    def pool(self, x: int, op: str, size: int, stride: int, padding: int = VALID) -> int:
        spec = self.tensors[x]
        shape = (1, *_sizes(spec.shape, (size, size), stride, padding), spec.shape[3])
        y = self._activation(shape, spec.quantisation)
        values = _window("Stride", stride) | {"FilterWidth": size, "FilterHeight": size, "Padding": padding}
        return self._node(f"{op}_POOL_2D", [x], y, "Pool2DOptions", values)

    def add(self, x: int, y: int, activation: int = NONE) -> int:
        made = self._activation(self.tensors[x].shape)
        return self._node("ADD", [x, y], made, "AddOptions", {"FusedActivationFunction": activation})

    def mul(self, x: int, y: int) -> int:
        return self._node("MUL", [x, y], self._activation(self.tensors[x].shape), "MulOptions", {})

    def concat(self, *parts: int) -> int:
        spec = self.tensors[parts[0]]
        deep = sum(self.tensors[part].shape[3] for part in parts)
        y = self._activation((*spec.shape[:3], deep), spec.quantisation)
        return self._node("CONCATENATION", list(parts), y, "ConcatenationOptions", {"Axis": 3})

    def concat_rows(self, *parts: int) -> int:
        spec = self.tensors[parts[0]]
        y = self._activation((len(parts), *spec.shape[1:]), spec.quantisation)
        return self._node("CONCATENATION", list(parts), y, "ConcatenationOptions", {"Axis": 0})

    def pad(self, x: int) -> int:
        spec = self.tensors[x]
        _, rows, columns, deep = spec.shape
        amounts = self._constant(np.array([[0, 0], [1, 2], [2, 1], [0, 0]], np.int32), None)
        y = self._activation((1, rows + 3, columns + 3, deep), spec.quantisation)
        return self._node("PAD", [x, amounts], y, "PadOptions", {})

    def move(self, op: str, x: int, shape: tuple[int, ...], operands: Any, options: str, **values: int) -> int:
        """An operator that copies elements; `operands`: a list, or several."""
        lists = operands if isinstance(operands, tuple) else [operands] if operands else []
        constants = [self._constant(np.array(each, np.int32), None) for each in lists]
        y = self._activation(shape, self.tensors[x].quantisation)
        return self._node(op, [x, *constants], y, options, values)

    def _two(self, op: str, x: int, y: int) -> int:
        """A sum or product in the larger shape of both."""
        shape = np.broadcast_shapes(self.tensors[x].shape, self.tensors[y].shape)
        return self._node(op, [x, y], self._activation(shape), f"{op.title()}Options", {})

    def nearest(self, x: int, rows: int, columns: int) -> int:
        shape = (1, rows, columns, self.tensors[x].shape[3])
        op, options = "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"
        return self.move(op, x, shape, [rows, columns], options, AlignCorners=False, HalfPixelCenters=True)

    def reshape(self, x: int, *shape: int) -> int:
        y = self._activation(shape, self.tensors[x].quantisation)
        return self._node("RESHAPE", [x], y, "ReshapeOptions", {"NewShape": list(shape)})

    def softmax(self, x: int) -> int:
        y = self._activation(self.tensors[x].shape, Quantisation([1 / 256], [-128]))
        return self._node("SOFTMAX", [x], y, "SoftmaxOptions", {"Beta": 1.0})

    def unary(self, x: int, op: str, options: str = "", **values: float) -> int:
        """Some operators prescribe how their results are stored."""
        fixed = {"LOGISTIC": Quantisation([1 / 256], [-128]), "TANH": Quantisation([1 / 128], [0])}
        return self._node(op, [x], self._activation(self.tensors[x].shape, fixed.get(op)), options, values)

    def in_nibbles(self) -> None:
        """Weights that were drawn become numbers of 4 bits."""
        for at, spec in enumerate(self.tensors):
            if spec.dtype == "int8" and spec.content is not None:
                self.tensors[at] = replace(spec, dtype="int4", content=spec.content >> 4)

    def file(self, *outputs: int) -> bytes:
        return write(GraphSpec(self.tensors, self.nodes, self.inputs, outputs))

    def _products(self, x: int, filters: tuple[int, ...], made: int, axis: int | None) -> tuple[int, int]:
        """Filters and biases of such sizes that results use their range."""
        spec = self.tensors[x].quantisation
        assert spec is not None
        scales = self.random.uniform(0.002, 0.01, made if axis is not None else 1).astype(np.float32)
        weights = self.random.integers(-127, 128, filters)
        bias = self.random.integers(-2000, 2000, made).astype(np.int32)
        if axis is not None and made > 3:  # a channel that training has left: only its bias counts, in tiny steps
            scales[1], bias[1] = 3e-8, (1 << 30) + 12345
            np.moveaxis(weights, axis, 0)[1] = 0
        of_bias = [float(np.float32(spec.scales[0]) * scale) for scale in scales]
        w = self._constant(weights.astype(np.int8), Quantisation(list(scales), [0] * len(scales), axis or 0))
        return w, self._constant(bias, Quantisation(of_bias, [0] * len(of_bias)))

    def _activation(self, shape: Sequence[int], quantisation: Quantisation | None = None) -> int:
        drawn = Quantisation([float(np.float32(self.random.uniform(0.02, 0.1)))], [int(self.random.integers(-128, 40))])
        return self._tensor("int8", shape, None, quantisation or drawn)

    def _constant(self, content: Array, quantisation: Quantisation | None) -> int:
        return self._tensor(str(content.dtype), content.shape, content, quantisation)

    def _tensor(
        self, dtype: str, shape: Sequence[int], content: Array | None, quantisation: Quantisation | None
    ) -> int:
        self.tensors.append(TensorSpec(f"t{len(self.tensors)}", dtype, tuple(shape), content, quantisation))
        return len(self.tensors) - 1

    def _node(self, op: str, inputs: list[int], y: int, options: str, values: dict[str, Any]) -> int:
        self.nodes.append(NodeSpec(op, inputs, [y], options, values))
        return y


def _window(word: str, size: int) -> dict[str, Any]:
    return {f"{word}W": size, f"{word}H": size}


def _sizes(shape: Sequence[int], kernel: tuple[int, int], stride: int, padding: int) -> tuple[int, int]:
    rows, columns = (
        -(-size // stride) if padding == SAME else (size - side) // stride + 1
        for size, side in zip(shape[1:3], kernel, strict=True)
    )
    return rows, columns


def images(seed: int) -> bytes:
    """Convolutions, pools and sums of odd sizes."""
    model = Model(seed)
    x = model.input(1, 17, 13, 3)
    x = model.conv(x, 10, (3, 3), 2, activation=RELU6)
    one = model.depthwise(x, (3, 3))
    two = model.conv(one, 10, (1, 1), activation=NONE)
    x = model.add(x, two, RELU)
    x = model.concat(x, x)
    x = model.depthwise(x, (5, 3), 2, VALID)
    x = model.pad(x)
    x = model.pool(x, "MAX", 3, 2)
    x = model.conv(x, 37, (2, 1), 1, SAME, NONE)
    x = model.depthwise(x, (3, 3), 2)
    x = model.pool(x, "AVERAGE", 2, 1, SAME)
    x = model.dense(model.reshape(x, 1, int(np.prod(model.tensors[x].shape))), 11)
    return model.file(model.softmax(x))


def wide(seed: int) -> bytes:
    """Channels by sixteens, products of tensors, and two outputs."""
    model = Model(seed)
    x = model.input(1, 9, 12, 1)
    x = model.conv(x, 32, (5, 4), 2)
    x = model.depthwise(x, (3, 3))
    y = model.depthwise(x, (3, 3), 1, SAME, NONE)
    x = model.mul(x, y)
    x = model.conv(x, 48, (1, 1))
    z = model.depthwise(model.conv(x, 3, (1, 1)), (3, 3), 1, VALID, RELU, times=4)
    x = model.conv(x, 2, (1, 1), 1, VALID, NONE)
    return model.file(x, z)


def nibbles(seed: int) -> bytes:
    """Weights of 4 bits, of odd and even depths."""
    model = Model(seed)
    x = model.conv(model.input(1, 9, 7, 3), 9, (3, 3), 2)
    x = model.conv(x, 8, (1, 1), activation=NONE)
    x = model.depthwise(x, (3, 3), 1)
    x = model.conv(x, 5, (2, 3), 1, VALID)
    y = model.dense(model.reshape(x, 1, 40), 7)
    model.in_nibbles()
    return model.file(y, x)


def nibbles_by_channels(seed: int) -> bytes:
    """Depthwise weights of 4 bits for kernels that compute several channels of a place at a time, and for others."""
    model = Model(seed)
    x = model.depthwise(model.input(1, 7, 6, 26), (3, 3), 2, activation=NONE)
    x = model.conv(x, 6, (1, 1))
    x = model.depthwise(x, (2, 3), 1, VALID, NONE, times=3)
    model.in_nibbles()
    return model.file(x)


def rearranged(seed: int) -> bytes:
    """Copies of elements in other orders, and operands that are repeated."""
    model = Model(seed)
    x = model.conv(model.input(1, 6, 4, 3), 8, (3, 3), activation=NONE)
    x = model.move("TRANSPOSE", x, (1, 4, 8, 6), [0, 2, 3, 1], "TransposeOptions")
    x = model.move("SPACE_TO_DEPTH", x, (1, 2, 4, 24), None, "SpaceToDepthOptions", BlockSize=2)
    x = model.move("DEPTH_TO_SPACE", x, (1, 4, 8, 6), None, "DepthToSpaceOptions", BlockSize=2)
    one = model.move("SLICE", x, (1, 3, 5, 6), ([0, 1, 2, 0], [1, 3, 5, 6]), "SliceOptions")
    two = model.move(
        "STRIDED_SLICE", x, (1, 1, 1, 3), ([0, 3, 1, 5], [1, 4, 2, -7], [1, 1, 1, -2]), "StridedSliceOptions"
    )
    three = model.move("TILE", two, (1, 1, 5, 6), [1, 1, 5, 2], "TileOptions")
    one = model.nearest(model.nearest(one, 6, 10), 3, 5)
    one = model.nearest(model.nearest(one, 5, 7), 3, 5)
    one = model.move("GATHER", one, (1, 3, 5, 6), [4, 0, 0, 3, 1], "GatherOptions", Axis=2, BatchDims=0)
    columns = model.pool(one, "MAX", 1, 1)
    return model.file(model._two("MUL", model._two("ADD", three, one), columns), model.conv(one, 3, (1, 1)))


def network_of(data: bytes, folder: Path, name: str = "m") -> Network:
    """As the target reads a file."""
    file = folder / f"{name}.tflite"
    file.write_bytes(data)
    return network(file, name)


def network(file: Path, name: str) -> Network:
    request = ImportRequest(name, file, None, (), (), registry(()))
    graph = import_model("tflite", request).graph
    pipeline.optimise(graph, ["remove_dead_code", "fold_constants", "remove_identities"])
    return lower(graph, name)


def inputs_of(network: Network, seed: int) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    return {
        tensor.name: random.integers(*_ENDS[tensor.dtype], tensor.shape).astype(tensor.dtype)
        for tensor in network.inputs
    }


def litert(data: bytes, inputs: Sequence[Array]) -> list[Array]:
    """What LiteRT's reference kernels make of inputs."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType  # type: ignore[import-untyped,unused-ignore]

    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    for about, array in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(about["index"], array.reshape(about["shape"]))
    interpreter.invoke()
    return [interpreter.get_tensor(about["index"]) for about in interpreter.get_output_details()]
