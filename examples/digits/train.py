"""Trains the digits network and writes everything that this example ships: `python train.py`.

Needs NumPy, onnx and scikit-learn (for the data). Takes a few seconds. The seed is fixed and one thread does all sums,
so a second run writes the same file. Another version of NumPy or another processor may round differently and give
another, equally good file: then `model_sha256_checksum` in deploy.yml has to follow.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
from layers import Array, BatchNormalization, Convolution, FullyConnected, Layer, MaxPool, Relu, softmax
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

HERE = Path(__file__).resolve().parent
SEED = 20
EPOCHS = 40
BATCH = 32
LEARNING_RATE = 3e-3
PICTURES = 20  # shipped with the example, all from the test part


def main() -> None:
    random = np.random.default_rng(SEED)
    digits = load_digits()
    order = random.permutation(len(digits.target))
    pictures = (digits.images[order, None] / 16).astype(np.float32)
    labels = digits.target[order]
    split = len(labels) * 4 // 5

    layers = make_layers(random)
    with threadpool_limits(1):
        train(layers, pictures[:split], labels[:split], random)
    accuracy = (predict(layers, pictures[split:]).argmax(1) == labels[split:]).mean()
    print(f"accuracy on {len(labels) - split} pictures that were not trained on: {accuracy:.2%}")

    model = export(layers)
    (HERE / "digits.onnx").write_bytes(model)
    np.save(HERE / "pictures.npy", pictures[split : split + PICTURES])
    np.save(HERE / "labels.npy", labels[split : split + PICTURES].astype(np.int64))
    np.savez_compressed(HERE / "test.npz", pictures=(pictures[split:] * 16).astype(np.uint8), labels=labels[split:])
    print(f"digits.onnx: {len(model)} bytes, sha256 {hashlib.sha256(model).hexdigest()}")


def make_layers(random: np.random.Generator) -> list[Layer]:
    """1x8x8 -> 8x4x4 -> 16x2x2 -> 10 logits."""
    return [
        Convolution(1, 8, random),
        BatchNormalization(8),
        Relu(),
        MaxPool(),
        Convolution(8, 16, random),
        BatchNormalization(16),
        Relu(),
        MaxPool(),
        FullyConnected(64, 10, random),
    ]


def predict(layers: list[Layer], x: Array, training: bool = False) -> Array:
    """Probabilities per picture."""
    for layer in layers:
        x = layer.forward(x, training)
    return softmax(x)


def train(layers: list[Layer], pictures: Array, labels: np.ndarray, random: np.random.Generator) -> None:
    """Adam on the cross entropy; the rate falls to zero along half a cosine."""
    parameters = [parameter for layer in layers for parameter in layer.parameters]
    wanted = np.eye(10, dtype=np.float32)[labels]
    steps = EPOCHS * (len(labels) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(labels))
        for start in range(0, len(labels) - BATCH + 1, BATCH):
            step += 1
            batch = order[start : start + BATCH]
            gradient = (predict(layers, pictures[batch], training=True) - wanted[batch]) / BATCH
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for parameter in parameters:
                parameter.adam_step(rate, step)


def export(layers: list[Layer]) -> bytes:
    """The network as frameworks export it: batch normalisation unfolded, a fixed batch of one, NCHW."""
    nodes: list[onnx.NodeProto] = []
    weights: dict[str, Array] = {}
    value = "image"
    for index, layer in enumerate(layers):
        name = f"{type(layer).__name__.lower()}_{index}"
        inputs = [value]
        attributes: dict[str, object] = {}
        if isinstance(layer, Convolution):
            kind, arrays = "Conv", {"weight": layer.weight.value}
            attributes = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
        elif isinstance(layer, BatchNormalization):
            kind, attributes = "BatchNormalization", {"epsilon": layer.epsilon}
            arrays = {"scale": layer.scale.value, "bias": layer.shift.value}
            arrays |= {"mean": layer.running_mean, "variance": layer.running_variance}
        elif isinstance(layer, MaxPool):
            kind, arrays, attributes = "MaxPool", {}, {"kernel_shape": [2, 2], "strides": [2, 2]}
        elif isinstance(layer, FullyConnected):
            nodes.append(helper.make_node("Flatten", inputs, ["flat"], "flatten", axis=1))
            inputs = ["flat"]
            kind, attributes = "Gemm", {"transB": 1}
            arrays = {"weight": layer.weight.value, "bias": layer.bias.value}
        else:
            kind, arrays = "Relu", {}
        weights |= {f"{name}.{role}": array for role, array in arrays.items()}
        inputs += [f"{name}.{role}" for role in arrays]
        value = f"{name}_out"
        nodes.append(helper.make_node(kind, inputs, [value], name, **attributes))
    nodes.append(helper.make_node("Softmax", [value], ["probabilities"], "softmax", axis=1))

    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opset = helper.make_opsetid("", 13)
    model = helper.make_model(graph, producer_name="lathe-digits-example", opset_imports=[opset], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


if __name__ == "__main__":
    main()
