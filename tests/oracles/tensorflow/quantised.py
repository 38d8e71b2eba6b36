"""Networks that the converter to TFLite quantises: relatives of the zoo, and one with what else 8 bits can be.

The zoo is written once, for ONNX (`tests/zoo`): its builder is replaced here by one that calls TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.oracles.paddle.archive import Archive
from tests.zoo import networks
from tests.zoo.builder import GraphBuilder, Value

SIZE, WIDTH, CLASSES, SAMPLES = 64, 0.125, 24, 4  # small: what is made of it is committed


def write(file: Path) -> None:
    with Archive(file) as archive:
        for name, data in _converted().items():
            archive.put(f"{name}.tflite", data)
        graph, arrays = _trained()
        archive.put("trained.pb", graph)
        for key, array in arrays.items():
            archive.put_array(f"trained/{key}.npy", array)


def _converted() -> Mapping[str, bytes]:
    zoo = {name: _zoo(name) for name in networks.NETWORKS}
    files = {f"{name}_int8": _quantised(function) for name, function in zoo.items()}
    files["squeezenet_v11_uint8_borders"] = _quantised(zoo["squeezenet_v11"], borders=tf.uint8)
    files["squeezenet_v11_float_borders"] = _quantised(zoo["squeezenet_v11"], borders=tf.float32)
    files["squeezenet_v11_int16"] = _quantised(zoo["squeezenet_v11"], wide=True)
    files["mixed_int8"] = _quantised(_mixed())
    files["trained_uint8"] = _trained_uint8()
    return files


class _TensorFlow(GraphBuilder):
    """Calls instead of nodes; channels are last. Shapes are known, so that no node computes them."""

    def __init__(self, name: str, seed: int, shape: Sequence[int], image: Any) -> None:
        super().__init__(name, seed, shape)
        self._tensors = {self.input.name: image}

    def tensor(self, value: Value) -> Any:
        return self._tensors[value.name]

    def _made(self, tensor: Any, shape: Sequence[int]) -> Value:
        value = Value(f"t{len(self._tensors)}", tuple(shape))
        self._tensors[value.name] = tensor
        return value

    def conv_padded(
        self, x: Value, channels: int, kernel: int, stride: int, pad: int, groups: int = 1, bias: bool = True
    ) -> Value:
        n, inputs, h, w = x.shape
        shape = (channels, inputs // groups, kernel, kernel)
        weight = self._random.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape).astype(np.float32)
        image = self.tensor(x)
        if pad:
            image = tf.pad(image, [[0, 0], [pad, pad], [pad, pad], [0, 0]])
        if groups == 1:
            y = tf.nn.conv2d(image, weight.transpose(2, 3, 1, 0), stride, "VALID")
        else:
            y = tf.nn.depthwise_conv2d(image, weight.transpose(2, 3, 0, 1), [1, stride, stride, 1], "VALID")
        if bias:
            y = tf.nn.bias_add(y, self._random.uniform(-0.1, 0.1, channels).astype(np.float32))
        return self._made(y, (n, channels, (h + 2 * pad - kernel) // stride + 1, (w + 2 * pad - kernel) // stride + 1))

    def batch_norm(self, x: Value) -> Value:
        draw = self._random.uniform
        ends = ((0.5, 1.0), (-0.1, 0.1), (-0.1, 0.1), (0.8, 1.2))
        scale, shift, mean, variance = (draw(*end, x.channels).astype(np.float32) for end in ends)
        y = tf.nn.batch_normalization(self.tensor(x), mean, variance, shift, scale, 1e-5)
        return self._made(y, x.shape)

    def relu(self, x: Value) -> Value:
        return self._made(tf.nn.relu(self.tensor(x)), x.shape)

    def relu6(self, x: Value) -> Value:
        return self._made(tf.nn.relu6(self.tensor(x)), x.shape)

    def max_pool(self, x: Value, pad: int = 0, ceil_mode: bool = False) -> Value:
        padding = "SAME" if pad or x.shape[2] % 2 == 0 else "VALID"
        y = tf.nn.max_pool2d(self.tensor(x), 3, 2, padding)
        return self._made(y, (*x.shape[:2], *y.shape[1:3]))

    def global_average_pool(self, x: Value) -> Value:
        return self._made(tf.reduce_mean(self.tensor(x), [1, 2], keepdims=True), (*x.shape[:2], 1, 1))

    def spatial_mean(self, x: Value) -> Value:
        return self._made(tf.reduce_mean(self.tensor(x), [1, 2]), x.shape[:2])

    def linear(self, x: Value, outputs: int) -> Value:
        weight = self._random.normal(0, np.sqrt(2 / x.channels), (outputs, x.channels)).astype(np.float32)
        bias = self._random.uniform(-0.1, 0.1, outputs).astype(np.float32)
        return self._made(tf.matmul(self.tensor(x), weight.T) + bias, (x.shape[0], outputs))

    def add(self, a: Value, b: Value) -> Value:
        return self._made(self.tensor(a) + self.tensor(b), a.shape)

    def concat(self, parts: Sequence[Value], axis: int = 1) -> Value:
        shape = [*parts[0].shape]
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self._made(tf.concat([self.tensor(part) for part in parts], 3), shape)

    def split_in_two(self, x: Value) -> tuple[Value, Value]:
        half = (x.shape[0], x.channels // 2, *x.shape[2:])
        first, second = tf.split(self.tensor(x), 2, 3)
        return self._made(first, half), self._made(second, half)

    slice_in_two = split_in_two

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        """Of the pairs of channels that `view` made."""
        assert tuple(permutation) == (0, 2, 1, 3, 4)
        return self._made(tf.transpose(self.tensor(x), (0, 1, 2, 4, 3)), [x.shape[axis] for axis in permutation])

    def flatten(self, x: Value) -> Value:
        return self._made(tf.reshape(self.tensor(x), (x.shape[0], -1)), (x.shape[0], int(np.prod(x.shape[1:]))))

    flatten_by_view = flatten

    def view(self, x: Value, sizes: Sequence[Value | int], shape: Sequence[int]) -> Value:
        """Channels as pairs, and back."""
        n, *channels, h, w = shape
        return self._made(tf.reshape(self.tensor(x), (n, h, w, *channels)), shape)

    def dimension(self, x: Value, axis: int) -> Value:
        return Value("", ())

    def integer(self, kind: str, a: Value, b: int) -> Value:
        return a


def _zoo(name: str) -> Callable[[Any], Any]:
    def function(image: Any) -> Any:
        net = networks.Network(name, seed=1234, size=SIZE, width=WIDTH)
        builder = _TensorFlow(name, 1234, (1, 3, SIZE, SIZE), image)
        net.graph = builder
        networks.CLASSES = CLASSES
        return builder.tensor(networks.NETWORKS[name](net))

    return function


def _mixed() -> Callable[[Any], Any]:
    """Functions that are tables, operands of different ranges, pools, sizes and gates."""
    dice = np.random.default_rng(8)

    def weight(*shape: int) -> Any:
        return dice.normal(0, np.sqrt(2 / np.prod(shape[:-1])), shape).astype(np.float32)

    weights = [weight(3, 3, 3, 8), weight(1, 1, 8, 8), weight(1, 1, 8, 8), weight(8, 8), weight(3, 3, 8, 8)]
    last = weight(16, 10)

    def function(image: Any) -> Any:
        first, second, third, gate, up = weights
        x = tf.nn.conv2d(image, first, 2, "SAME")
        x = x * tf.nn.relu6(x + 3.0) / 6.0
        a = tf.nn.leaky_relu(tf.nn.conv2d(x, second, 1, "SAME"), 0.1)
        b = 4.0 * tf.tanh(tf.nn.conv2d(x, third, 1, "SAME"))
        scale = tf.sigmoid(tf.matmul(tf.reduce_mean(x, [1, 2]), gate))
        b = b * tf.reshape(scale, (1, 1, 1, 8)) - a
        joined = tf.concat([tf.nn.avg_pool2d(a, 3, 2, "SAME"), tf.nn.max_pool2d(b, 2, 2, "SAME")], 3)
        wide = tf.image.resize(joined, (32, 32))
        grown = tf.nn.conv2d_transpose(joined[..., :8], up, (1, 32, 32, 8), 2, "SAME")
        y = tf.concat([wide[..., :8] + grown, wide[..., 8:]], 3)
        return tf.nn.softmax(tf.matmul(tf.reduce_mean(tf.nn.relu(y), [1, 2]), last))

    return function


def _images() -> list[Any]:
    dice = np.random.default_rng(7)
    return [dice.uniform(-1, 1, (1, SIZE, SIZE, 3)).astype(np.float32) for _ in range(SAMPLES)]


def _quantised(function: Callable[[Any], Any], borders: Any = tf.int8, wide: bool = False) -> bytes:
    traced = tf.function(function, input_signature=[tf.TensorSpec((1, SIZE, SIZE, 3), tf.float32, name="image")])
    converter = tf.lite.TFLiteConverter.from_concrete_functions([traced.get_concrete_function()])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image] for image in _images())
    kinds = tf.lite.OpsSet
    if wide:
        both = kinds.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        converter.target_spec.supported_ops = [both]
        borders = tf.int16
    else:
        converter.target_spec.supported_ops = [kinds.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = borders
    return bytes(converter.convert())


def _simulated(symmetric: bool) -> tuple[Any, Any]:
    """Input and output of a network with fake quantisation of 8 bits, for weights too: these may have zero points."""
    dice = np.random.default_rng(9)
    rounded = tf.quantization.fake_quant_with_min_max_args
    image = tf.compat.v1.placeholder(tf.float32, (1, 16, 16, 3), "image")
    x = rounded(image, -1.0, 1.0)
    for number, (deep, stride) in enumerate(((8, 2), (12, 1), (12, 1), (12, 2))):
        shape = (3, 3, int(x.shape[3]), deep)
        weight = dice.normal(0.02, np.sqrt(2 / np.prod(shape[:3])), shape).astype(np.float32)
        most = float(np.abs(weight).max())
        low, high = (-most, most) if symmetric else (float(weight.min()), float(weight.max()))
        weight = rounded(tf.constant(weight), low, high, narrow_range=symmetric)
        bias = tf.constant(dice.uniform(-0.1, 0.1, deep).astype(np.float32))
        y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, weight, stride, "SAME"), bias))
        y = rounded(y, 0.0, 2.5 + number)
        x = rounded(x + y, -1.0, 4.0) if y.shape == x.shape else y
    return image, tf.identity(x, "end")


def _trained() -> tuple[bytes, Mapping[str, Any]]:
    """The graph as TensorFlow has it, and what it gives; inner tensors by the names of their nodes."""
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        image, _ = _simulated(symmetric=True)
        made = [op.outputs[0] for op in graph.get_operations() if op.type not in ("Const", "Placeholder")]
        fed = np.random.default_rng(2).uniform(-1, 1, (1, 16, 16, 3)).astype(np.float32)
        values = session.run(made, {image: fed})
        return graph.as_graph_def().SerializeToString(), {
            tensor.op.name: value for tensor, value in zip((image, *made), (fed, *values), strict=True)
        }


def _trained_uint8() -> bytes:
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        image, end = _simulated(symmetric=False)
        converter = tf.compat.v1.lite.TFLiteConverter.from_session(session, [image], [end])
        converter.inference_type = tf.uint8
        converter.quantized_input_stats = {"image": (127.5, 127.5)}
        return bytes(converter.convert())
