"""Networks that read digits: how often they are right in single precision, and as kmodels by each quantiser.

`python -m tests.targets.k210.layers.digits` prints the table of docs/how-to/k210-layers.md; with `train` it makes
mnist_like.npz anew first. That network reads scikit-learn's digits, enlarged from 8x8 to the 28x28 of MNIST.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.operator import Array
from buildtool.targets.k210 import layers as tl

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[3] / "examples" / "digits"
WEIGHTS = HERE / "mnist_like.npz"
QUANTISERS = ("minmax", "minmax98", "meanminmax", "kld", "mse")
CALIBRATED_WITH = 60
_SEED, _EPOCHS, _BATCH, _RATE = 7, 8, 32, 3e-3


def mnist_like() -> tl.Model:
    """28x28 -> 14x14x8 -> 7x7x16 -> 7x7x16 -> 10."""
    x = y = tl.Input((28, 28, 1), "picture")
    for index, channels in enumerate((8, 16, 16)):
        y = tl.Conv2d(channels, bias=False, name=f"conv{index}")(y)
        y = tl.BatchNorm(act="relu", name=f"norm{index}")(y)
        if index < 2:
            y = tl.MaxPool2d((2, 2), (2, 2))(y)
    return tl.Model(x, tl.Dense(10, act="softmax", name="out")(tl.Flatten()(y)), "mnist_like")


def digits() -> tl.Model:
    """The network of examples/digits, described as TensorLayer would: 8x8 -> 4x4x8 -> 2x2x16 -> 10."""
    x = y = tl.Input((8, 8, 1), "picture")
    for index, channels in enumerate((8, 16)):
        y = tl.Conv2d(channels, bias=False, name=f"conv{index}")(y)
        y = tl.BatchNorm(act="relu", name=f"norm{index}")(y)
        y = tl.MaxPool2d((2, 2), (2, 2))(y)
    model = tl.Model(x, tl.Dense(10, act="softmax", name="out")(tl.Flatten()(y)), "digits")
    graph = import_model("onnx", ImportRequest("digits", EXAMPLE / "digits.onnx")).graph
    arrays: list[Array] = []
    for node in graph.nodes:
        constants = [value.constant for value in node.inputs if value.constant is not None]
        if node.op.name == "conv2d":
            arrays.append(constants[0].transpose(1, 2, 3, 0))
        elif node.op.name == "batch_norm":
            arrays += [constants[1], constants[0], *constants[2:]]
        elif node.op.name in ("matmul", "fully_connected"):
            weights, *_ = constants
            weights = weights if weights.shape == (64, 10) else weights.T
            arrays.append(weights.reshape(16, 2, 2, 10).transpose(1, 2, 0, 3).reshape(64, 10))  # channels last
            arrays += constants[1:]
        elif node.op.name == "add" and constants:
            arrays += constants
    model.set_weights(arrays)
    return model


def enlarged(pictures: Array) -> Array:
    """8x8 with a border of one as 28x28, with straight lines between the middles of pixels."""
    wide = np.pad(pictures, ((0, 0), (1, 1), (1, 1)))
    places = np.clip((np.arange(28) + 0.5) * 10 / 28 - 0.5, 0, 9)
    low = np.minimum(np.floor(places).astype(int), 8)
    part = (places - low).astype(np.float32)
    rows = wide[:, low] * (1 - part)[:, None] + wide[:, low + 1] * part[:, None]
    return np.asarray(rows[:, :, low] * (1 - part) + rows[:, :, low + 1] * part, np.float32)


def data(large: bool) -> tuple[Array, Array, Array, Array]:
    """Pictures and labels for training, and the same for tests: the split of examples/digits."""
    if not large:
        with np.load(EXAMPLE / "test.npz") as shipped:
            tests, labels = shipped["pictures"].reshape(-1, 8, 8, 1).astype(np.float32) / 16, shipped["labels"]
        known = {test.tobytes() for test in tests}
        every = (load_digits().images / 16).astype(np.float32)[..., None]
        training = np.array([one for one in every if one.tobytes() not in known])
        return training, np.zeros(0), tests, labels
    found = load_digits()
    order = np.random.default_rng(_SEED).permutation(len(found.target))
    pictures = enlarged((found.images[order] / 16).astype(np.float32))[..., None]
    labels, split = found.target[order], len(order) * 4 // 5
    return pictures[:split], labels[:split], pictures[split:], labels[split:]


# -- training ----------------------------------------------------------------------------------------------------------
def train() -> None:
    """Writes the weights as TensorLayer's save_npz does."""
    parts = _trainer()
    random = np.random.default_rng(_SEED)
    stack = []
    for index, (inputs, outputs) in enumerate(((1, 8), (8, 16), (16, 16))):
        stack += [parts.Convolution(inputs, outputs, random), parts.BatchNormalization(outputs), parts.Relu()]
        stack += [parts.MaxPool()] if index < 2 else []
    stack.append(parts.FullyConnected(7 * 7 * 16, 10, random))
    pictures, labels, _, _ = data(large=True)
    _fit(parts, stack, pictures.transpose(0, 3, 1, 2), labels, random)
    arrays: list[Array] = []
    for layer in stack:
        if isinstance(layer, parts.Convolution):
            arrays.append(layer.weight.value.transpose(2, 3, 1, 0))
        elif isinstance(layer, parts.BatchNormalization):
            arrays += [layer.shift.value, layer.scale.value, layer.running_mean, layer.running_variance]
        elif isinstance(layer, parts.FullyConnected):
            planes = layer.weight.value.reshape(10, 16, 7, 7)
            arrays += [planes.transpose(2, 3, 1, 0).reshape(-1, 10), layer.bias.value]
    whole = np.empty(len(arrays), object)
    whole[:] = [np.ascontiguousarray(array, np.float32) for array in arrays]
    np.savez(WEIGHTS, params=whole)


def _fit(parts: ModuleType, stack: list, pictures: Array, labels: Array, random: np.random.Generator) -> None:  # type: ignore[type-arg]
    """Adam on the cross entropy; the rate falls to zero along half a cosine."""
    wanted = np.eye(10, dtype=np.float32)[labels]
    steps, step = _EPOCHS * (len(labels) // _BATCH), 0
    with threadpool_limits(1):
        for _ in range(_EPOCHS):
            order = random.permutation(len(labels))
            for start in range(0, len(labels) - _BATCH + 1, _BATCH):
                step += 1
                batch = order[start : start + _BATCH]
                x = pictures[batch]
                for layer in stack:
                    x = layer.forward(x, True)
                gradient = (parts.softmax(x) - wanted[batch]) / _BATCH
                for layer in reversed(stack):
                    gradient = layer.backward(gradient)
                rate = _RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
                for parameter in (parameter for layer in stack for parameter in layer.parameters):
                    parameter.adam_step(rate, step)


def _trainer() -> ModuleType:
    """The layers of examples/digits, which is no package."""
    spec = importlib.util.spec_from_file_location("digits_layers", EXAMPLE / "layers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- the table ---------------------------------------------------------------------------------------------------------
def correct(run: Array, labels: Array) -> float:
    return float((run.argmax(-1) == labels).mean())


def scores(model: tl.Model, large: bool, count: int | None = None) -> dict[str, float]:
    """How many of the test's pictures are read as they should be: in single precision, and by each quantiser."""
    training, _, tests, labels = data(large)
    tests, labels = tests[:count], labels[:count]
    found = {"float": correct(np.concatenate([model.run(test)["out"] for test in tests]), labels)}
    for quantiser in QUANTISERS:
        packed = tl.pack(model, training[:CALIBRATED_WITH], quantiser=quantiser, input_range=(0, 1))
        found[quantiser] = correct(np.concatenate([packed.run(test)["out"] for test in tests]), labels)
    return found


def main(arguments: list[str]) -> None:
    if "train" in arguments:
        train()
    large = mnist_like()
    large.load_weights(WEIGHTS)
    lines = [f"| network | float | {' | '.join(QUANTISERS)} |", "|---|---|" + "---|" * len(QUANTISERS)]
    for name, model, is_large in (("digits, 8x8", digits(), False), ("MNIST-like, 28x28", large, True)):
        shares = " | ".join(f"{score:.1%}" for score in scores(model, is_large).values())
        lines.append(f"| {name} | {shares} |")
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
