"""Small TFLite models with activations of 16 bits and weights of 8, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.importers.tflite.writer import Quantisation
from tests.targets.micro.quantised_models import NONE, RELU, RELU6, SAME, VALID, Model


@dataclass
class ShortModel(Model):
    """No tensor has a zero point."""

    def dense(self, x: int, made: int, *, biased: bool = True) -> int:
        deep = int(np.prod(self.tensors[x].shape))
        operands = self._products(x, (made, deep), made, None)[: 1 + biased]
        return self._node("FULLY_CONNECTED", [x, *operands], self._activation((1, made)), "FullyConnectedOptions", {})

    def rescale(self, x: int) -> int:
        return self._node("QUANTIZE", [x], self._activation(self.tensors[x].shape), "", {})

    def softmax(self, x: int) -> int:
        y = self._activation(self.tensors[x].shape, Quantisation([2.0**-15], [0]))
        return self._node("SOFTMAX", [x], y, "SoftmaxOptions", {"Beta": 1.0})

    def curve(self, x: int, op: str) -> int:
        return self._node(op, [x], self._activation(self.tensors[x].shape, Quantisation([2.0**-15], [0])), "", {})

    def _products(self, x: int, filters: tuple[int, ...], made: int, axis: int | None) -> tuple[int, int]:
        spec = self.tensors[x].quantisation
        assert spec is not None
        spread = 0.06 * (np.prod(filters) / made if axis == 3 else np.prod(filters[1:])) ** -0.5
        scales = (spread * self.random.uniform(0.3, 1.0, made if axis is not None else 1)).astype(np.float32)
        of_bias = [float(np.float32(spec.scales[0]) * scale) for scale in scales]
        weights = self._constant(
            self.random.integers(-127, 128, filters).astype(np.int8),
            Quantisation(list(scales), [0] * len(scales), axis or 0),
        )
        bias = self.random.integers(-90000, 90000, made).astype(np.int64)
        return weights, self._constant(bias, Quantisation(of_bias, [0] * len(of_bias)))

    def _activation(self, shape: Sequence[int], quantisation: Quantisation | None = None) -> int:
        drawn = Quantisation([float(np.float32(self.random.uniform(1.0, 4.0) * 2.0**-13))], [0])
        return self._tensor("int16", shape, None, quantisation or drawn)


def shorts(seed: int) -> bytes:
    """Every layer that has a kernel."""
    model = ShortModel(seed)
    x = model.conv(model.input(1, 13, 11, 3), 10, (3, 3), 2, activation=RELU6)
    one = model.depthwise(x, (3, 3))
    two = model.conv(one, 10, (1, 1), activation=NONE)
    x = model.add(x, two, RELU)
    x = model.depthwise(model.pad(x), (5, 3), 2, VALID, times=2)
    x = model.concat(model.pool(x, "MAX", 2, 1, SAME), model.pool(x, "AVERAGE", 2, 1, SAME))
    x = model.mul(x, model.rescale(x))
    x = model.move("TRANSPOSE", x, (1, 4, 40, 3), [0, 2, 3, 1], "TransposeOptions")
    x = model.move("GATHER", x, (1, 4, 40, 2), [2, 0], "GatherOptions", Axis=3, BatchDims=0)
    wide = model.dense(model.reshape(x, 1, 320), 11)  # sums in parts: more than 256 products do not fit 32 bits
    curves = model.reshape(model.concat_rows(model.curve(wide, "TANH"), model.curve(wide, "LOGISTIC")), 1, 22)
    return model.file(model.softmax(model.dense(curves, 5, biased=False)), wide)


def deep(seed: int) -> bytes:
    """Many products for a result, batches of rows, dilations."""
    model = ShortModel(seed)
    x = model.conv(model.input(1, 6, 7, 33), 9, (3, 3), activation=NONE)
    x = model.dense(model.reshape(x, 1, 378), 6)
    return model.file(x)
