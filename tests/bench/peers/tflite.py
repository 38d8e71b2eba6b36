"""Writes a network of the zoo as a TFLite file: `python -m tests.bench.peers.tflite NETWORK OUT [--size N]`.

The zoo's own description of a network is replayed into a builder that keeps the nodes instead of writing ONNX, so that
weights and layers are the same without a converter. What TFLite's converters do is done here too: channels last, batch
normalisation folded, activations fused. Runs in the environment of the peers, which brings the schema.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from ai_edge_litert import schema_py_generated as schema  # type: ignore[import-not-found, unused-ignore]

from tests.zoo.builder import GraphBuilder, Value
from tests.zoo.networks import NETWORKS, Network

Array = npt.NDArray[Any]
_SHAPE_ARITHMETIC = {"Shape", "Gather", "Constant", "Unsqueeze", "Div", "Mul"}
_ACTIVATIONS = schema.ActivationFunctionType
_OPERATORS = schema.BuiltinOperator


@dataclass
class Node:
    """One operator. `shape` is that of ONNX, arrays are its constants; both are still in ONNX's layout."""

    kind: str
    inputs: list[str]
    shape: tuple[int, ...]
    attributes: dict[str, Any]
    arrays: list[Array] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    activation: int = _ACTIVATIONS.NONE


def stored_axes(rank: int) -> tuple[int, ...]:
    """Which axis of ONNX stands at each position: the two spatial ones go before the channels."""
    return tuple(range(rank)) if rank < 4 else (0, rank - 2, rank - 1, *range(1, rank - 2))


def stored_shape(shape: Sequence[int]) -> list[int]:
    return [shape[axis] for axis in stored_axes(len(shape))]


class Recorder(GraphBuilder):
    """Takes what a network says and keeps the nodes that are left after folding."""

    def __init__(self, name: str, seed: int, input_shape: Sequence[int]) -> None:
        super().__init__(name, seed, input_shape)
        self.nodes: list[Node] = []
        self.shapes: dict[str, tuple[int, ...]] = {"input": tuple(input_shape)}
        self._arrays: dict[str, Array] = {}
        self._same: dict[str, str] = {}  # a name that was folded away -> the one that stands for it

    def slice_in_two(self, x: Value) -> tuple[Value, Value]:
        return self.split_in_two(x)

    def final_name(self, name: str) -> str:
        return self._same.get(name, name)

    def _weight(self, role: str, value: Array) -> str:
        name = f"{role}_{len(self._arrays)}"
        self._arrays[name] = value.astype(np.float32)
        return name

    def _add(
        self, kind: str, operands: Sequence[str], shape: Sequence[int], outputs: int = 1, **attributes: Any
    ) -> Value:
        name = f"{kind}_{len(self.nodes)}_{len(self._same)}"
        results = [name] + [f"{name}.{index}" for index in range(1, outputs)]
        # A scalar or a vector of this builder is arithmetic on sizes: the sizes themselves are known.
        if kind in _SHAPE_ARITHMETIC or len(shape) < 2:
            return Value(f"size of {name}", tuple(shape))
        inputs = [self.final_name(operand) for operand in operands if operand not in self._arrays]
        arrays = [self._arrays[operand] for operand in operands if operand in self._arrays]
        if kind in ("BatchNormalization", "Relu", "Clip"):
            self._fold(kind, inputs[0], arrays, attributes)
            self._same[name] = inputs[0]
            return Value(name, tuple(shape))
        inputs = [item for item in inputs if item in self.shapes]
        self.nodes.append(Node(kind, inputs, tuple(shape), attributes, arrays, results))
        self.shapes |= dict.fromkeys(results, tuple(shape))
        return Value(results[0], tuple(shape))

    def _fold(self, kind: str, name: str, arrays: list[Array], attributes: dict[str, Any]) -> None:
        node = next(node for node in reversed(self.nodes) if name in node.results)
        if node.activation != _ACTIVATIONS.NONE:
            raise ValueError(f"{kind} behind an activation has no place in a TFLite file")
        if kind != "BatchNormalization":
            node.activation = _ACTIVATIONS.RELU if kind == "Relu" else _ACTIVATIONS.RELU6
            return
        scale, shift, mean, variance = arrays
        factor = scale / np.sqrt(variance + attributes["epsilon"])
        weight, *bias = node.arrays
        old = bias[0] if bias else np.zeros_like(mean)
        node.arrays = [weight * factor.reshape(-1, 1, 1, 1), (old - mean) * factor + shift]


class Writer:
    """Collects the tables of the file."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._buffers = [_table(schema.BufferT)]
        self._tensors: list[Any] = []
        self._codes: list[int] = []
        self._operators: list[Any] = []
        self._index: dict[str, int] = {}

    def write(self, output: str) -> bytes:
        import flatbuffers  # type: ignore[import-untyped, unused-ignore]

        source = self._tensor("input", stored_shape(self._recorder.shapes["input"]))
        for node in self._recorder.nodes:
            getattr(self, f"_{node.kind.lower()}")(node)
        result = self._index[self._recorder.final_name(output)]
        graph = _table(
            schema.SubGraphT,
            name=self._recorder.name.encode(),
            tensors=self._tensors,
            inputs=np.array([source], np.int32),
            outputs=np.array([result], np.int32),
            operators=self._operators,
        )
        codes = [
            _table(schema.OperatorCodeT, builtinCode=code, deprecatedBuiltinCode=min(code, 127), version=1)
            for code in self._codes
        ]
        signature = _table(  # LiteRT's quantiser wants one
            schema.SignatureDefT,
            signatureKey=b"serving_default",
            inputs=[_table(schema.TensorMapT, name=b"input", tensorIndex=source)],
            outputs=[_table(schema.TensorMapT, name=b"output", tensorIndex=result)],
        )
        model = _table(
            schema.ModelT,
            version=3,
            subgraphs=[graph],
            operatorCodes=codes,
            buffers=self._buffers,
            signatureDefs=[signature],
        )
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    # --- operators --------------------------------------------------------------------------------------------------

    def _conv(self, node: Node) -> None:
        attributes = node.attributes
        weight, bias = node.arrays
        kernel, stride, pad = attributes["kernel_shape"][0], attributes["strides"][0], attributes["pads"][0]
        source, padding = self._padded(node, kernel, stride, pad)
        options: dict[str, Any] = {"padding": padding, "strideW": stride, "strideH": stride}
        options |= {"dilationWFactor": 1, "dilationHFactor": 1, "fusedActivationFunction": node.activation}
        if attributes["group"] == 1:
            operands = [source, self._constant(weight.transpose(0, 2, 3, 1)), self._constant(bias)]
            self._operator(node, _OPERATORS.CONV_2D, operands, "Conv2DOptions", **options)
        elif attributes["group"] == len(bias):
            operands = [source, self._constant(weight.transpose(1, 2, 3, 0)), self._constant(bias)]
            options["depthMultiplier"] = 1
            self._operator(node, _OPERATORS.DEPTHWISE_CONV_2D, operands, "DepthwiseConv2DOptions", **options)
        else:
            raise ValueError("the zoo has no other groups")

    def _maxpool(self, node: Node) -> None:
        # Padding with zeros is right where the input is behind a ReLU, as it is in the zoo.
        source, padding = self._padded(node, 3, 2, node.attributes["pads"][0])
        options = {"padding": padding, "strideW": 2, "strideH": 2, "filterWidth": 3, "filterHeight": 3}
        self._operator(node, _OPERATORS.MAX_POOL_2D, [source], "Pool2DOptions", **options)

    def _padded(self, node: Node, kernel: int, stride: int, pad: int) -> tuple[int, int]:
        """The input, padded by an operator where no word of TFLite says how; and the word for the rest."""
        name = node.inputs[0]
        size, result = self._recorder.shapes[name][2], node.shape[2]
        total = max((result - 1) * stride + kernel - size, 0)
        if pad == total // 2 and result == -(-size // stride):
            return self._index[name], schema.Padding.SAME
        if pad == 0 and (size - kernel) // stride + 1 == result:
            return self._index[name], schema.Padding.VALID
        shape = stored_shape(self._recorder.shapes[name])
        shape[1:3] = [length + 2 * pad for length in shape[1:3]]
        margins = self._constant(np.array([[0, 0], [pad, pad], [pad, pad], [0, 0]], np.int32))
        result_index = self._tensor(f"{name} padded {len(self._tensors)}", shape)
        self._emit(_OPERATORS.PAD, [self._index[name], margins], [result_index], "PadOptions")
        return result_index, schema.Padding.VALID

    def _gemm(self, node: Node) -> None:
        operands = [self._index[node.inputs[0]], *(self._constant(array) for array in node.arrays)]
        options = {"fusedActivationFunction": node.activation}
        self._operator(node, _OPERATORS.FULLY_CONNECTED, operands, "FullyConnectedOptions", **options)

    def _add(self, node: Node) -> None:
        operands = [self._index[name] for name in node.inputs]
        self._operator(node, _OPERATORS.ADD, operands, "AddOptions", fusedActivationFunction=node.activation)

    def _concat(self, node: Node) -> None:
        operands = [self._index[name] for name in node.inputs]
        self._operator(node, _OPERATORS.CONCATENATION, operands, "ConcatenationOptions", axis=3)

    def _split(self, node: Node) -> None:
        operands = [self._constant(np.array(3, np.int32)), self._index[node.inputs[0]]]
        self._operator(node, _OPERATORS.SPLIT, operands, "SplitOptions", numSplits=len(node.results))

    def _globalaveragepool(self, node: Node) -> None:
        self._mean(node, keep=True)

    def _reducemean(self, node: Node) -> None:
        self._mean(node, keep=False)

    def _mean(self, node: Node, keep: bool) -> None:
        operands = [self._index[node.inputs[0]], self._constant(np.array([1, 2], np.int32))]
        self._operator(node, _OPERATORS.MEAN, operands, "ReducerOptions", keepDims=keep)

    def _reshape(self, node: Node) -> None:
        shape = np.array(stored_shape(node.shape), np.int32)
        operands = [self._index[node.inputs[0]], self._constant(shape)]
        self._operator(node, _OPERATORS.RESHAPE, operands, "ReshapeOptions", newShape=shape)

    _flatten = _reshape

    def _transpose(self, node: Node) -> None:
        stored = stored_axes(len(node.shape))
        permutation = [stored.index(node.attributes["perm"][axis]) for axis in stored]
        operands = [self._index[node.inputs[0]], self._constant(np.array(permutation, np.int32))]
        self._operator(node, _OPERATORS.TRANSPOSE, operands, "TransposeOptions")

    # --- tables -----------------------------------------------------------------------------------------------------

    def _operator(self, node: Node, code: int, operands: list[int], kind: str, **options: Any) -> None:
        results = [self._tensor(name, stored_shape(node.shape)) for name in node.results]
        self._emit(code, operands, results, kind, **options)

    def _emit(self, code: int, operands: list[int], results: list[int], kind: str, **options: Any) -> None:
        if code not in self._codes:
            self._codes.append(code)
        operator = _table(
            schema.OperatorT,
            opcodeIndex=self._codes.index(code),
            inputs=np.array(operands, np.int32),
            outputs=np.array(results, np.int32),
            builtinOptionsType=getattr(schema.BuiltinOptions, kind),
            builtinOptions=_table(getattr(schema, f"{kind}T"), **options),
        )
        self._operators.append(operator)

    def _constant(self, array: Array) -> int:
        data = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        self._buffers.append(_table(schema.BufferT, data=data))
        kind = schema.TensorType.FLOAT32 if array.dtype.kind == "f" else schema.TensorType.INT32
        return self._tensor(f"constant {len(self._tensors)}", list(array.shape), kind, len(self._buffers) - 1)

    def _tensor(self, name: str, shape: list[int], kind: int = schema.TensorType.FLOAT32, buffer: int = 0) -> int:
        tensor = _table(schema.TensorT, name=name.encode(), shape=np.array(shape, np.int32), type=kind, buffer=buffer)
        self._tensors.append(tensor)
        self._index[name] = len(self._tensors) - 1
        return self._index[name]


def _table(kind: Any, **fields: Any) -> Any:
    """A table of the schema's object form with these fields."""
    table = kind()
    for name, value in fields.items():
        if not hasattr(table, name):
            raise AttributeError(f"{kind.__name__} has no field {name}")
        setattr(table, name, value)
    return table


def write(name: str, size: int) -> bytes:
    network = Network(name, seed=1234, size=size, width=1.0)
    recorder = Recorder(name, 1234, network.graph.input.shape)
    network.graph = recorder
    return Writer(recorder).write(NETWORKS[name](network).name)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peers.tflite", description=__doc__)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=int, default=224, help="edge of the input (default: 224)")
    options = parser.parse_args()
    options.out.write_bytes(write(options.network, options.size))


if __name__ == "__main__":
    main()
