"""The layers of the digits network in NumPy, forward and backward: all that its training needs.

Activations are NCHW. A layer keeps what its backward pass needs from its last forward pass, and each `Parameter` holds
the gradient of the last backward pass.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


class Parameter:
    """A trained array with its gradient and the two moments of Adam."""

    def __init__(self, value: Array) -> None:
        self.value = value.astype(np.float32)
        self.gradient = np.zeros_like(self.value)
        self.mean = np.zeros_like(self.value)
        self.variance = np.zeros_like(self.value)

    def adam_step(self, rate: float, step: int) -> None:
        """One update; `step` counts from 1."""
        self.mean += 0.1 * (self.gradient - self.mean)
        self.variance += 0.001 * (self.gradient**2 - self.variance)
        mean = self.mean / (1 - 0.9**step)
        variance = self.variance / (1 - 0.999**step)
        self.value -= rate * mean / (np.sqrt(variance) + 1e-8)


class Layer:
    """A differentiable function with parameters."""

    parameters: tuple[Parameter, ...] = ()

    def forward(self, x: Array, training: bool) -> Array:
        raise NotImplementedError

    def backward(self, gradient: Array) -> Array:
        raise NotImplementedError


class Convolution(Layer):
    """3x3, stride 1, one pixel of zeros around, no bias (batch normalisation follows)."""

    def __init__(self, inputs: int, outputs: int, random: np.random.Generator) -> None:
        deviation = np.sqrt(2 / (inputs * 9))
        self.weight = Parameter(random.normal(0, deviation, (outputs, inputs, 3, 3)).astype(np.float32))
        self.parameters = (self.weight,)

    def forward(self, x: Array, training: bool) -> Array:
        self._padded_shape = (*x.shape[:2], x.shape[2] + 2, x.shape[3] + 2)
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        self._patches = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        result: Array = np.einsum("nchwij,ocij->nohw", self._patches, self.weight.value, optimize=True)
        return result

    def backward(self, gradient: Array) -> Array:
        self.weight.gradient = np.einsum("nchwij,nohw->ocij", self._patches, gradient, optimize=True)
        height, width = gradient.shape[2:]
        padded = np.zeros(self._padded_shape, np.float32)
        for i in range(3):
            for j in range(3):
                part = np.einsum("nohw,oc->nchw", gradient, self.weight.value[:, :, i, j], optimize=True)
                padded[:, :, i : i + height, j : j + width] += part
        return padded[:, :, 1:-1, 1:-1]


class BatchNormalization(Layer):
    """Per channel, with running statistics for inference."""

    epsilon = 1e-5
    momentum = 0.1

    def __init__(self, channels: int) -> None:
        self.scale = Parameter(np.ones(channels, np.float32))
        self.shift = Parameter(np.zeros(channels, np.float32))
        self.running_mean = np.zeros(channels, np.float32)
        self.running_variance = np.ones(channels, np.float32)
        self.parameters = (self.scale, self.shift)

    def forward(self, x: Array, training: bool) -> Array:
        if training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
            self.running_mean += self.momentum * (mean - self.running_mean)
            self.running_variance += self.momentum * (variance - self.running_variance)
        else:
            mean, variance = self.running_mean, self.running_variance
        self._inverse = _per_channel(1 / np.sqrt(variance + self.epsilon))
        self._normal = (x - _per_channel(mean)) * self._inverse
        return self._normal * _per_channel(self.scale.value) + _per_channel(self.shift.value)

    def backward(self, gradient: Array) -> Array:
        self.scale.gradient = (gradient * self._normal).sum((0, 2, 3))
        self.shift.gradient = gradient.sum((0, 2, 3))
        count = gradient.size / gradient.shape[1]
        centred = gradient - _per_channel(self.shift.gradient / count)
        centred -= self._normal * _per_channel(self.scale.gradient / count)
        return centred * self._inverse * _per_channel(self.scale.value)


class Relu(Layer):
    """max(x, 0)."""

    def forward(self, x: Array, training: bool) -> Array:
        self._positive = x > 0
        return x * self._positive

    def backward(self, gradient: Array) -> Array:
        return gradient * self._positive


class MaxPool(Layer):
    """2x2, stride 2. Where the maximum stands twice, each place gets the gradient; that does no harm here."""

    def forward(self, x: Array, training: bool) -> Array:
        n, c, h, w = x.shape
        tiles = x.reshape(n, c, h // 2, 2, w // 2, 2)
        result: Array = tiles.max((3, 5))
        self._is_maximum = tiles == result[:, :, :, None, :, None]
        return result

    def backward(self, gradient: Array) -> Array:
        n, c, h, w = gradient.shape
        return (gradient[:, :, :, None, :, None] * self._is_maximum).reshape(n, c, 2 * h, 2 * w)


class FullyConnected(Layer):
    """Flattens its input; y = x w^T + b."""

    def __init__(self, inputs: int, outputs: int, random: np.random.Generator) -> None:
        self.weight = Parameter(random.normal(0, np.sqrt(1 / inputs), (outputs, inputs)).astype(np.float32))
        self.bias = Parameter(np.zeros(outputs, np.float32))
        self.parameters = (self.weight, self.bias)

    def forward(self, x: Array, training: bool) -> Array:
        self._shape = x.shape
        self._flat = x.reshape(len(x), -1)
        return self._flat @ self.weight.value.T + self.bias.value

    def backward(self, gradient: Array) -> Array:
        self.weight.gradient = gradient.T @ self._flat
        self.bias.gradient = gradient.sum(0)
        return (gradient @ self.weight.value).reshape(self._shape)


def softmax(x: Array) -> Array:
    """Over the last axis."""
    shifted = np.exp(x - x.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


def _per_channel(x: Array) -> Array:
    return x[:, None, None]
