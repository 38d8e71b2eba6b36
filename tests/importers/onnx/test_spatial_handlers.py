"""Convolutions, pools, batch normalisation and resizes against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.importers.onnx.harness import NEWEST_OF_RUNTIME, Case, check, random

_IMAGE = random(1, 6, 11, 9)
_LINE = random(2, 4, 13)


def _weights(*arrays: object) -> tuple[int, ...]:
    return tuple(range(1, len(arrays) + 1))


CONVOLUTIONS = [
    Case("Conv", [_IMAGE, random(8, 6, 3, 3)], {}, (1,)),
    Case("Conv", [_IMAGE, random(8, 6, 3, 3), random(8)], {"pads": [1, 2, 0, 1], "strides": [2, 1]}, (1, 2)),
    Case("Conv", [_IMAGE, random(4, 3, 3, 2)], {"group": 2, "dilations": [2, 1], "kernel_shape": [3, 2]}, (1,)),
    Case("Conv", [_IMAGE, random(6, 1, 3, 3), random(6)], {"group": 6, "pads": [1, 1, 1, 1]}, (1, 2)),
    Case("Conv", [_IMAGE, random(12, 1, 3, 3)], {"group": 6, "auto_pad": "SAME_UPPER", "strides": [2, 2]}, (1,)),
    Case("Conv", [_IMAGE, random(5, 6, 4, 4)], {"auto_pad": "SAME_LOWER"}, (1,)),
    Case("Conv", [_IMAGE, random(5, 6, 4, 4)], {"auto_pad": "SAME_UPPER", "strides": [3, 2]}, (1,)),
    Case("Conv", [_IMAGE, random(5, 6, 2, 2)], {"auto_pad": "VALID", "strides": [2, 2]}, (1,)),
    Case("Conv", [_IMAGE, random(5, 6, 3, 3), random(5)], {}),  # filters that are inputs
    Case("Conv", [random(1, 1, 7, 7), random(3, 1, 3, 3)], {}, (1,)),  # one channel is no depthwise convolution
    Case("Conv", [_LINE, random(6, 4, 3), random(6)], {"pads": [1, 0], "strides": [2]}, (1, 2)),
    Case("Conv", [_LINE, random(4, 1, 5)], {"group": 4, "dilations": [2]}, (1,)),
    Case("Conv", [_LINE, random(4, 4, 5)], {"auto_pad": "SAME_UPPER"}, (1,)),
    Case("Conv", [_IMAGE, random(8, 6, 3, 3)], {}, (1,), opset=7),
    Case("Conv", [_IMAGE, random(8, 6, 3, 3)], {}, (1,), opset=NEWEST_OF_RUNTIME),
]
DECONVOLUTIONS = [
    Case("ConvTranspose", [_IMAGE, random(6, 4, 3, 3)], {}, (1,)),
    Case(
        "ConvTranspose",
        [_IMAGE, random(6, 2, 3, 2), random(4)],
        {"group": 2, "strides": [2, 3], "pads": [1, 0, 0, 1], "output_padding": [1, 2]},
        (1, 2),
    ),
    Case("ConvTranspose", [_IMAGE, random(6, 1, 4, 4)], {"group": 6, "strides": [2, 2], "pads": [1, 1, 1, 1]}, (1,)),
    Case("ConvTranspose", [_IMAGE, random(6, 4, 3, 3)], {"dilations": [2, 2]}, (1,)),
    Case("ConvTranspose", [_IMAGE, random(6, 4, 3, 3)], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, (1,)),
    Case("ConvTranspose", [_IMAGE, random(6, 4, 3, 3)], {"auto_pad": "SAME_LOWER", "strides": [2, 2]}, (1,)),
    Case("ConvTranspose", [_IMAGE, random(6, 4, 3, 3)], {"output_shape": [22, 18], "strides": [2, 2]}, (1,)),
    Case("ConvTranspose", [_LINE, random(4, 3, 3), random(3)], {"strides": [2], "pads": [1, 1]}, (1, 2)),
    Case("ConvTranspose", [_IMAGE, random(6, 4, 3, 3)], {}),
    Case("ConvTranspose", [_IMAGE, random(6, 4, 3, 3)], {}, (1,), opset=7),
]
POOLS = [
    Case("MaxPool", [_IMAGE], {"kernel_shape": [3, 2]}),
    Case("MaxPool", [_IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    Case("MaxPool", [_IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    Case("MaxPool", [_IMAGE], {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    Case("MaxPool", [_IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    Case("MaxPool", [_LINE], {"kernel_shape": [3], "strides": [2]}),
    Case("MaxPool", [random(1, 2, 6, 7)], {"kernel_shape": [2, 3], "strides": [2, 3]}, outputs=2),
    Case("MaxPool", [_IMAGE], {"kernel_shape": [3, 2]}, opset=7),
    Case("MaxPool", [_IMAGE], {"kernel_shape": [3, 2]}, opset=NEWEST_OF_RUNTIME),
    Case("AveragePool", [_IMAGE], {"kernel_shape": [3, 2]}),
    Case("AveragePool", [_IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    Case("AveragePool", [_IMAGE], {"kernel_shape": [3, 3], "pads": [1, 0, 1, 0], "count_include_pad": 1}),
    Case("AveragePool", [_IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}, opset=19),
    Case("AveragePool", [_IMAGE], {"kernel_shape": [2, 2], "dilations": [2, 2]}, opset=19),
    Case("AveragePool", [_IMAGE], {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER"}),
    Case("AveragePool", [_LINE], {"kernel_shape": [4], "pads": [1, 2]}),
    Case("AveragePool", [_IMAGE], {"kernel_shape": [3, 2]}, opset=7),
    Case("GlobalAveragePool", [_IMAGE]),
    Case("GlobalAveragePool", [_LINE]),
    Case("GlobalMaxPool", [_IMAGE]),
]
_STATISTICS = [random(6), random(6, seed=1), random(6, seed=2), random(6, low=0.1, seed=3)]
NORMS = [
    Case("BatchNormalization", [_IMAGE, *_STATISTICS], {"epsilon": 1e-3}, (1, 2, 3, 4)),
    Case("BatchNormalization", [random(3, 6), *_STATISTICS], {}, (1, 2, 3, 4)),
    Case("BatchNormalization", [random(3, 6, 5), *_STATISTICS], {}, (1, 2, 3, 4)),
    Case("BatchNormalization", [random(1, 6, 2, 3, 4), *_STATISTICS], {}, (1, 2, 3, 4)),
    Case("BatchNormalization", [_IMAGE, *_STATISTICS], {}),
    Case("BatchNormalization", [_IMAGE, *_STATISTICS], {}, (1, 2, 3, 4), opset=7),
    Case("BatchNormalization", [_IMAGE, *_STATISTICS], {}, (1, 2, 3, 4), opset=9),
]


def _scales(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def _resize(scales: tuple[float, ...] | None, sizes: tuple[int, ...] | None = None, **attributes: object) -> Case:
    given = [_IMAGE, None, None if scales is None else _scales(*scales), None if sizes is None else np.array(sizes)]
    kept = given if sizes is not None else given[:3]
    return Case(
        "Resize", kept, attributes, tuple(index for index in (2, 3) if index < len(kept) and kept[index] is not None)
    )


RESIZES = [
    Case("Upsample", [_IMAGE], {"scales": [1.0, 1.0, 2.0, 3.0]}, opset=7),
    Case("Upsample", [_IMAGE, _scales(1, 1, 2, 2)], {"mode": "linear"}, (1,), opset=9),
    Case("Resize", [_IMAGE, _scales(1, 1, 2, 2)], {"mode": "nearest"}, (1,), opset=10),
    Case("Resize", [_IMAGE, _scales(1, 1, 1.7, 2.2)], {"mode": "linear"}, (1,), opset=10),
    _resize((1, 1, 2, 2), mode="linear"),
    _resize((1, 1, 0.6, 1.9), mode="linear"),
    _resize((1, 1, 2, 2), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    _resize((1, 1, 1.5, 2.5), mode="nearest", nearest_mode="round_prefer_ceil"),
    _resize((1, 1, 0.5, 0.5), mode="nearest", nearest_mode="ceil"),
    _resize(None, (1, 6, 20, 17), mode="linear", coordinate_transformation_mode="align_corners"),
    _resize(None, (1, 6, 5, 17), mode="linear", coordinate_transformation_mode="pytorch_half_pixel"),
    _resize(None, (1, 6, 22, 18), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    Case("Resize", [_IMAGE, None, _scales(2, 2)], {"mode": "nearest", "axes": [2, 3]}, (2,), opset=18),
]


@pytest.mark.parametrize("case", [*CONVOLUTIONS, *DECONVOLUTIONS], ids=str)
def test_convolution(case: Case, tmp_path: Path) -> None:
    graph = check(case, tmp_path, rtol=1e-4, atol=1e-4)
    depthwise = case.op == "Conv" and case.attributes.get("group", 1) == case.inputs[0].shape[1] > 1  # type: ignore[union-attr]
    wanted = "deconv2d" if case.op == "ConvTranspose" else "dwconv2d" if depthwise else "conv2d"
    assert [node.op.name for node in graph.nodes if "conv" in node.op.name] == [wanted]


@pytest.mark.parametrize("case", [*POOLS, *NORMS, *RESIZES], ids=str)
def test_pool_norm_resize(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
