"""Small networks, one or more for each type of layer. OpenCV says what comes out, or NumPy where it does otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tests.importers.caffe.writer import Array, caffemodel, inputs, layer, numbers

#: Computes the outputs from the inputs and the weights, in order.
Meaning: TypeAlias = Callable[..., Array | Sequence[Array]]


@dataclass(frozen=True)
class Case:
    """Layers, shapes of what they are fed, and shapes of weights by layer. The outputs are the tops that are named."""

    name: str
    layers: str
    fed: Mapping[str, Sequence[int] | Array]
    weights: Mapping[str, Sequence[Sequence[int] | Array]] = field(default_factory=dict)
    outputs: Sequence[str] = ("y",)
    meaning: Meaning | None = None  # where OpenCV does not have the layer, or not as Caffe
    range: tuple[float, float] = (-1.0, 1.0)
    rtol: float = 1e-5
    atol: float = 1e-5

    def __str__(self) -> str:
        return self.name

    def arrays(self) -> dict[str, Array]:
        return {name: self._array(item, index) for index, (name, item) in enumerate(self.fed.items())}

    def blobs(self) -> dict[str, list[Array]]:
        return {
            name: [self._weight(item, 10 + index) for index, item in enumerate(items)]
            for name, items in self.weights.items()
        }

    def prototxt(self) -> str:
        return inputs({name: array.shape for name, array in self.arrays().items()}) + self.layers

    def caffemodel(self, old: bool = False) -> bytes:
        """Something even where there are no weights: OpenCV wants a file."""
        return caffemodel(self.blobs() or {"none": [np.zeros(1, np.float32)]}, old)

    def meant(self) -> list[Array]:
        assert self.meaning is not None
        weights = [blob for blobs in self.blobs().values() for blob in blobs]
        found = self.meaning(*self.arrays().values(), *weights)
        return [np.asarray(one) for one in (found if isinstance(found, list | tuple) else [found])]

    def _array(self, item: Sequence[int] | Array, seed: int) -> Array:
        return item if isinstance(item, np.ndarray) else numbers(item, seed, *self.range)

    @staticmethod
    def _weight(item: Sequence[int] | Array, seed: int) -> Array:
        return item if isinstance(item, np.ndarray) else numbers(item, seed, 0.1, 1.0)


def one(
    kind: str, parameters: str, fed: Sequence[int] | Array, *weights: Sequence[int] | Array, name: str = "", **more: Any
) -> Case:
    """A network of one layer with one bottom."""
    title = f"{kind}{'_' if name else ''}{name}"
    return Case(title, layer(kind, "y", "x", parameters), {"x": fed}, {"y": weights} if weights else {}, **more)


def several(kind: str, parameters: str, *fed: Sequence[int], name: str = "", tops: str = "", **more) -> Case:  # type: ignore[no-untyped-def]
    """A network of one layer with several bottoms or tops."""
    bottoms = {f"x{index}": shape for index, shape in enumerate(fed)}
    more.setdefault("outputs", tuple(tops.split()) or ("y",))
    title = f"{kind}{'_' if name else ''}{name}"
    return Case(title, layer(kind, "y", " ".join(bottoms), parameters, tops), bottoms, **more)


CONVOLUTIONS = [
    one("Convolution", "convolution_param { num_output: 5 kernel_size: 3 }", (1, 3, 7, 9), (5, 3, 3, 3), (5,)),
    one(
        "Convolution",
        "convolution_param { num_output: 4 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 0 }",
        (2, 3, 8, 7),
        (4, 3, 3, 2),
        (4,),
        name="sides",
    ),
    one(
        "Convolution",
        "convolution_param { num_output: 6 kernel_size: 3 group: 2 dilation: 2 pad: 2 bias_term: false }",
        (1, 4, 9, 8),
        (6, 2, 3, 3),
        name="groups",
    ),
    one(
        "Convolution",
        "convolution_param { num_output: 8 kernel_size: 3 group: 4 pad: 1 stride: 2 }",
        (1, 4, 7, 7),
        (8, 1, 3, 3),
        (8,),
        name="depthwise",
    ),
    one(
        "DepthwiseConvolution",
        "convolution_param { num_output: 4 kernel_size: 3 pad: 1 group: 4 }",
        (1, 4, 5, 7),
        (4, 1, 3, 3),
        (4,),
        meaning=lambda x, w, b: _depthwise(x, w, b),
    ),
    one(
        "ConvolutionDepthwise",
        "convolution_param { num_output: 4 kernel_size: 3 pad: 1 }",
        (1, 4, 5, 7),
        (4, 1, 3, 3),
        (4,),
        meaning=lambda x, w, b: _depthwise(x, w, b),
    ),
    one(
        "Deconvolution",
        "convolution_param { num_output: 5 kernel_size: 4 stride: 2 pad: 1 }",
        (1, 3, 4, 5),
        (3, 5, 4, 4),
        (5,),
    ),
    one(
        "Deconvolution",
        "convolution_param { num_output: 4 kernel_size: 4 stride: 2 pad: 1 group: 4 bias_term: false }",
        (1, 4, 4, 5),
        (4, 1, 4, 4),
        name="groups",
    ),
    one("InnerProduct", "inner_product_param { num_output: 5 }", (2, 3, 4, 2), (5, 24), (5,)),
    one(
        "InnerProduct", "inner_product_param { num_output: 5 bias_term: false axis: 2 }", (2, 3, 4), (5, 4), name="axis"
    ),
    one(
        "InnerProduct",
        "inner_product_param { num_output: 5 transpose: true }",
        (2, 6),
        (6, 5),
        (5,),
        name="turned",
        meaning=lambda x, w, b: x @ w + b,
    ),
]


def _depthwise(x: Array, w: Array, b: Array) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = np.zeros_like(x)
    for row in range(3):
        for column in range(3):
            y += (
                padded[:, :, row : row + x.shape[2], column : column + x.shape[3]]
                * w[None, :, 0, row, column, None, None]
            )
    return y + b[None, :, None, None]


def caffe_pool(x: Array, kernel: int, stride: int, pad: int, mean: bool, ceil: bool = True) -> Array:
    """The rules of Caffe, window by window."""
    sizes = []
    for size in x.shape[2:]:
        room = size + 2 * pad - kernel
        count = (-(-room // stride) if ceil else room // stride) + 1
        sizes.append(count - 1 if pad and (count - 1) * stride >= size + pad else count)
    y = np.zeros((*x.shape[:2], *sizes), np.float32)
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            top, left = i * stride - pad, j * stride - pad
            bottom, right = min(top + kernel, x.shape[2] + pad), min(left + kernel, x.shape[3] + pad)
            part = x[:, :, max(top, 0) : min(bottom, x.shape[2]), max(left, 0) : min(right, x.shape[3])]
            whole = (bottom - top) * (right - left)
            y[:, :, i, j] = part.sum(axis=(2, 3)) / whole if mean else part.max(axis=(2, 3))
    return y


def pool(mean: bool, kernel: int, stride: int, pad: int, shape: Sequence[int], mode: str = "") -> Case:
    words = f"pool: {'AVE' if mean else 'MAX'} kernel_size: {kernel} stride: {stride} pad: {pad} {mode}"
    name = f"{'mean' if mean else 'max'}_{kernel}_{stride}_{pad}_{shape[2]}{'_' if mode else ''}{mode[-5:]}"
    # OpenCV is asked too, in test_handlers; Caffe's rules are these.
    meaning = lambda x: caffe_pool(x, kernel, stride, pad, mean, "FLOOR" not in mode)  # noqa: E731
    return one("Pooling", f"pooling_param {{ {words} }}", shape, name=name, meaning=meaning)


POOLS = [
    *(
        pool(mean, *rest)
        for mean in (False, True)
        for rest in (
            (2, 2, 0, (1, 3, 6, 8)),
            (3, 2, 0, (1, 3, 8, 7)),
            (3, 2, 1, (1, 3, 6, 7)),
            (3, 2, 1, (1, 3, 7, 8)),
            (3, 1, 1, (2, 2, 5, 5)),
            (2, 2, 1, (1, 2, 5, 6)),
            (3, 3, 1, (1, 2, 6, 7), "round_mode: FLOOR"),
        )
    ),
    one("Pooling", "pooling_param { pool: AVE global_pooling: true }", (2, 3, 5, 4), name="global_mean"),
    one("Pooling", "pooling_param { pool: MAX global_pooling: true }", (2, 3, 5, 4), name="global_max"),
    one(
        "Pooling",
        "pooling_param { pool: MAX kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 0 }",
        (1, 2, 6, 5),
        name="sides",
    ),
]
_LEFT = (-2.0, 3.0)
ELEMENTWISE = [
    one("ReLU", "", (2, 3, 4)),
    one("ReLU", "relu_param { negative_slope: 0.1 }", (2, 3, 4), name="leaky"),
    one("ReLU6", "", (2, 3, 4), range=(-9, 9)),
    one("PReLU", "", (2, 3, 4, 5), (3,)),
    one(
        "PReLU",
        "prelu_param { channel_shared: true }",
        (2, 3, 4, 5),
        (1,),
        name="shared",
        meaning=lambda x, a: np.where(x > 0, x, a * x),
    ),
    one(
        "ELU",
        "elu_param { alpha: 0.5 }",
        (2, 3, 4),
        range=_LEFT,
        meaning=lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)),
    ),
    one("Sigmoid", "", (2, 3, 4), range=_LEFT),
    one("TanH", "", (2, 3, 4), range=_LEFT),
    one("AbsVal", "", (2, 3, 4)),
    one("BNLL", "", (2, 3, 4), range=_LEFT),
    one("Swish", "", (2, 3, 4), range=_LEFT),
    one(
        "Swish",
        "swish_param { beta: 1.5 }",
        (2, 3, 4),
        range=_LEFT,
        name="beta",
        meaning=lambda x: x / (1 + np.exp(-1.5 * x)),
    ),
    one("Clip", "clip_param { min: -0.5 max: 0.25 }", (2, 3, 4), meaning=lambda x: np.clip(x, -0.5, 0.25)),
    one("Power", "power_param { power: 3 scale: 2 shift: 0.5 }", (2, 3, 4)),
    one("Power", "power_param { power: 2 shift: -1 }", (2, 3, 4), name="square"),
    one("Power", "power_param { scale: 0.5 }", (2, 3, 4), name="linear"),
    one("Power", "power_param { power: 0.5 scale: 2 }", (2, 3, 4), range=(0.1, 2), name="root"),
    one("Exp", "", (2, 3, 4)),
    one("Exp", "exp_param { base: 2 scale: 3 shift: 0.5 }", (2, 3, 4), name="base"),
    one("Log", "", (2, 3, 4), range=(0.1, 2.0), meaning=np.log),
    one(
        "Log",
        "log_param { base: 10 scale: 2 shift: 1 }",
        (2, 3, 4),
        range=(0.1, 2.0),
        name="base",
        meaning=lambda x: np.log10(2 * x + 1),
    ),
    one("Threshold", "threshold_param { threshold: 0.25 }", (2, 3, 4), meaning=lambda x: (x > 0.25).astype(np.float32)),
    one("Dropout", "dropout_param { dropout_ratio: 0.5 }", (2, 3, 4)),
    several("Split", "", (2, 3, 4), tops="a b", meaning=lambda x: [x, x]),
    several("Eltwise", "", (1, 3, 4, 5), (1, 3, 4, 5)),
    several("Eltwise", "eltwise_param { operation: PROD }", (1, 3, 4, 5), (1, 3, 4, 5), (1, 3, 4, 5), name="prod"),
    several("Eltwise", "eltwise_param { operation: MAX }", (1, 3, 4, 5), (1, 3, 4, 5), name="max"),
    several(
        "Eltwise",
        "eltwise_param { operation: SUM coeff: 1 coeff: -0.5 }",
        (1, 3, 4, 5),
        (1, 3, 4, 5),
        name="coefficients",
    ),
    several("Eltwise", "eltwise_param { operation: MIN }", (1, 3, 4, 5), (1, 3, 4, 5), name="min", meaning=np.minimum),
    several("Add", "", (1, 3, 4, 5), (1, 3, 4, 5), meaning=np.add),
    one("Scale", "scale_param { bias_term: true }", (2, 3, 4, 5), (3,), (3,)),
    one("Scale", "scale_param { axis: 2 num_axes: 2 }", (2, 3, 4, 5), (4, 5), name="axes", meaning=np.multiply),
    one("Scale", "scale_param { axis: 0 num_axes: -1 }", (2, 3, 4), (2, 3, 4), name="all", meaning=np.multiply),
    several(
        "Scale",
        "scale_param { axis: 0 }",
        (2, 3, 4, 5),
        (2, 3),
        name="bottoms",
        meaning=lambda x, s: x * s[:, :, None, None],
    ),
    one("Bias", "", (2, 3, 4, 5), (3,), meaning=lambda x, b: x + b[:, None, None]),
    several("Bias", "bias_param { axis: 1 }", (2, 3, 4), (3, 4), name="bottoms", meaning=np.add),
]
NORMALISATIONS = [
    one("BatchNorm", "batch_norm_param { eps: 0.001 }", (2, 3, 4, 5), (3,), (3,), np.array([2.0], np.float32)),
    one("BatchNorm", "", (2, 3), (3,), (3,), np.array([1.0], np.float32), name="flat"),
    one(
        "BatchNorm",
        "",
        (2, 3, 2, 2),
        (3,),
        (3,),
        np.array([0.0], np.float32),
        name="no_weight",
        rtol=1e-4,
        meaning=lambda x, m, v, f: x / np.sqrt(np.float32(1e-5)),
    ),
    one("LRN", "lrn_param { local_size: 3 alpha: 0.5 beta: 0.6 }", (1, 7, 3, 4)),
    one(
        "LRN",
        "lrn_param { local_size: 3 alpha: 0.5 beta: 0.6 k: 2 }",
        (1, 7, 3, 4),
        name="k",
        meaning=lambda x: _across(x, 3, 0.5, 0.6, 2),
    ),
    one("LRN", "", (1, 7, 3, 4), name="defaults", meaning=lambda x: _across(x, 5, 1, 0.75, 1)),
    one(
        "LRN",
        "lrn_param { local_size: 3 alpha: 0.5 beta: 0.6 norm_region: WITHIN_CHANNEL }",
        (1, 2, 5, 4),
        name="within",
    ),
    one("MVN", "", (2, 3, 4, 5), rtol=1e-4, meaning=lambda x: _mvn(x, (2, 3), 1e-9)),
    one(
        "MVN",
        "mvn_param { across_channels: true eps: 0.1 }",
        (2, 3, 4, 5),
        name="across",
        meaning=lambda x: _mvn(x, (1, 2, 3), 0.1),
    ),
    one("MVN", "mvn_param { normalize_variance: false }", (2, 3, 4, 5), name="mean"),
    one("Normalize", "norm_param { across_spatial: false channel_shared: false }", (1, 3, 4, 5), (3,)),
    one("Normalize", "norm_param { across_spatial: true channel_shared: true }", (1, 3, 4, 5), (1,), name="whole"),
    one(
        "Normalize",
        "norm_param { across_spatial: true channel_shared: true }",
        (2, 3),
        (1,),
        name="rows",
        meaning=lambda x, scale: x / np.sqrt(np.sum(x * x, 1, keepdims=True) + 1e-10) * scale,
    ),
    one(
        "GroupNorm", "group_norm_param { group_num: 2 eps: 0.01 }", (2, 4, 3, 5), meaning=lambda x: _groups(x, 2, 0.01)
    ),
    one(
        "L2Normalization",
        "l2normalization_param { axis: 2 }",
        (1, 8, 1, 2),
        meaning=lambda x: x / np.sqrt((x * x).sum(axis=(2, 3), keepdims=True)),
    ),
    one(
        "L1Normalization",
        "l1normalization_param { axis: 1 }",
        (2, 3, 4),
        meaning=lambda x: x / np.abs(x).sum(axis=(1, 2), keepdims=True),
    ),
    one("Softmax", "", (2, 3, 4)),
    one("Softmax", "softmax_param { axis: -1 }", (2, 3, 4), name="last"),
]


def _across(x: Array, size: int, alpha: float, beta: float, k: float) -> Array:
    padded = np.pad(x * x, ((0, 0), (size // 2, size // 2), (0, 0), (0, 0)))
    total = sum(padded[:, start : start + x.shape[1]] for start in range(size))
    return np.asarray(x / (k + alpha / size * total) ** beta)


def _mvn(x: Array, axes: tuple[int, ...], eps: float) -> Array:
    apart = x - x.mean(axis=axes, keepdims=True)
    return np.asarray(apart / (np.sqrt((apart * apart).mean(axis=axes, keepdims=True)) + eps))


def _groups(x: Array, groups: int, eps: float) -> Array:
    parts = x.reshape(x.shape[0], groups, -1)
    return ((parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + eps)).reshape(x.shape)
