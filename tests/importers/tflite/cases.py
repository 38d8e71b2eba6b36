"""One case or more for every operator of floats and plain integers; LiteRT says what comes out."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.importers.tflite.harness import Case, ints, random

_F = "float32"
_BOOL = np.random.default_rng(5).integers(0, 2, (2, 3, 4)).astype(np.bool_)


def conv(stride: int = 1, padding: int = 0, dilation: int = 1, activation: int = 0, **more: int) -> dict[str, int]:
    return {
        "Padding": padding,
        "StrideW": stride,
        "StrideH": stride,
        "DilationWFactor": dilation,
        "DilationHFactor": dilation,
        "FusedActivationFunction": activation,
        **more,
    }


def pool(side: int = 2, stride: int = 2, padding: int = 0, activation: int = 0) -> dict[str, int]:
    return {
        "Padding": padding,
        "StrideW": stride,
        "StrideH": stride,
        "FilterWidth": side,
        "FilterHeight": side + 1,
        "FusedActivationFunction": activation,
    }


CONVOLUTIONS = [
    Case("CONV_2D", (random(1, 7, 9, 3), random(5, 3, 3, 3), random(5)), "Conv2DOptions", conv(), (1, 2)),
    Case("CONV_2D", (random(2, 8, 6, 3), random(4, 3, 2, 3), random(4)), "Conv2DOptions", conv(2, 0, 1, 3), (1, 2)),
    Case("CONV_2D", (random(1, 9, 9, 3), random(4, 3, 3, 3), random(4)), "Conv2DOptions", conv(1, 1, 2, 1), (1, 2)),
    Case("CONV_2D", (random(1, 5, 5, 4), random(6, 3, 3, 2), random(6)), "Conv2DOptions", conv(), (1, 2)),
    Case("CONV_2D", (random(1, 5, 5, 2), random(3, 1, 1, 2), random(3)), "Conv2DOptions", conv(1, 0, 1, 2), (1, 2)),
    Case(
        "DEPTHWISE_CONV_2D",
        (random(1, 7, 8, 3), random(1, 3, 3, 6), random(6)),
        "DepthwiseConv2DOptions",
        conv(2, DepthMultiplier=2),
        (1, 2),
    ),
    Case(
        "DEPTHWISE_CONV_2D",
        (random(1, 7, 8, 5), random(1, 3, 3, 5), random(5)),
        "DepthwiseConv2DOptions",
        conv(1, 1, 2, 1, DepthMultiplier=1),
        (1, 2),
    ),
    Case(
        "TRANSPOSE_CONV",
        (ints(1, 8, 10, 4), random(4, 3, 3, 2), random(1, 4, 5, 2), random(4)),
        "TransposeConvOptions",
        {"Padding": 0, "StrideW": 2, "StrideH": 2},
        (0, 1, 3),
        version=3,
    ),
    Case(
        "TRANSPOSE_CONV",
        (ints(1, 9, 11, 4), random(4, 3, 3, 2), random(1, 4, 5, 2)),
        "TransposeConvOptions",
        {"Padding": 1, "StrideW": 2, "StrideH": 2, "FusedActivationFunction": 1},
        (0, 1),
        version=4,
    ),
    Case(
        "TRANSPOSE_CONV",
        (ints(1, 10, 12, 4), random(4, 3, 3, 2), random(1, 4, 5, 2)),
        "TransposeConvOptions",
        {"Padding": 1, "StrideW": 2, "StrideH": 2},
        (0, 1),
    ),
    Case(
        "CONV_3D",
        (random(1, 5, 6, 7, 2), random(2, 3, 3, 2, 4), random(4)),
        "Conv3DOptions",
        {"Padding": 0, "StrideD": 2, "StrideH": 1, "StrideW": 2, "FusedActivationFunction": 1},
        (1, 2),
    ),
    *(
        Case(
            "CONV_3D_TRANSPOSE",
            (ints(1, *sizes, 4), random(2, 3, 3, 4, 2), random(1, 3, 4, 5, 2), *bias),
            "Conv3DOptions",
            {"Padding": padding, "StrideD": 2, "StrideH": 1, "StrideW": 2, "FusedActivationFunction": act},
            (0, 1, 3) if bias else (0, 1),
        )
        for sizes, bias, padding, act in (
            ((6, 4, 10), (random(4),), 0, 1),
            ((5, 4, 9), (), 0, 0),
            ((6, 6, 11), (random(4),), 1, 0),
            ((7, 6, 12), (), 1, 0),
        )
    ),
]
POOLS = [
    Case(op, (random(1, 7, 8, 3),), "Pool2DOptions", pool(*settings))
    for op in ("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D")
    for settings in ((2, 2, 0), (3, 1, 0, 1), (2, 2, 1, 3))
]
PRODUCTS = [
    Case("FULLY_CONNECTED", (random(3, 8), random(5, 8), random(5)), "FullyConnectedOptions", {}, (1, 2)),
    Case(
        "FULLY_CONNECTED",
        (random(2, 3, 4), random(5, 4), random(5)),
        "FullyConnectedOptions",
        {"KeepNumDims": 1, "FusedActivationFunction": 1},
        (1, 2),
        version=2,
    ),
    Case("FULLY_CONNECTED", (random(2, 3, 4), random(5, 12), None), "FullyConnectedOptions", {}, (1,), version=6),
    Case("FULLY_CONNECTED", (random(2, 3, 4), random(5, 4), None), "FullyConnectedOptions", {}, (1,), version=6),
    Case("FULLY_CONNECTED", (random(3, 8), random(5, 8), random(5)), "FullyConnectedOptions", {}),
    Case("BATCH_MATMUL", (random(2, 3, 4), random(2, 4, 5)), "BatchMatMulOptions"),
    Case("BATCH_MATMUL", (random(2, 4, 3), random(5, 4)), "BatchMatMulOptions", {"AdjX": 1, "AdjY": 1}),
    Case("EMBEDDING_LOOKUP", (ints(2, 0, 3), random(4, 5)), constants=(1,)),
]
UNARY = [
    Case(op, (random(2, 3, 5),), options)
    for op, options in (
        ("ABS", "AbsOptions"),
        ("CEIL", ""),
        ("COS", "CosOptions"),
        ("ELU", ""),
        ("EXP", "ExpOptions"),
        ("FLOOR", ""),
        ("HARD_SWISH", "HardSwishOptions"),
        ("LOGISTIC", ""),
        ("LOG_SOFTMAX", "LogSoftmaxOptions"),
        ("NEG", "NegOptions"),
        ("RELU", ""),
        ("RELU6", ""),
        ("RELU_0_TO_1", ""),
        ("RELU_N1_TO_1", ""),
        ("ROUND", ""),
        ("SIGN", "SignOptions"),
        ("SIN", ""),
        ("SQUARE", "SquareOptions"),
        ("TANH", ""),
        ("ZEROS_LIKE", "ZerosLikeOptions"),
    )
] + [
    Case("LOG", (random(2, 5, low=0.1),)),
    Case("SQRT", (random(2, 5, low=0.0),)),
    Case("RSQRT", (random(2, 5, low=0.1),)),
    Case("LEAKY_RELU", (random(2, 5),), "LeakyReluOptions", {"Alpha": 0.3}),
    Case("PRELU", (random(2, 4, 5, 3), random(1, 1, 3)), constants=(1,)),
    Case("GELU", (random(2, 5),), "GeluOptions", {"Approximate": 1}, atol=1e-4),
    Case("GELU", (random(2, 5),), "GeluOptions", {"Approximate": 0}, atol=1e-4),
    Case("SOFTMAX", (random(2, 5),), "SoftmaxOptions", {"Beta": 1.0}),
    Case("SOFTMAX", (random(2, 4, 5),), "SoftmaxOptions", {"Beta": 0.5}),
    Case("L2_NORMALIZATION", (random(2, 3, 5),), "L2NormOptions"),
    Case(
        "LOCAL_RESPONSE_NORMALIZATION",
        (random(1, 3, 4, 7),),
        "LocalResponseNormalizationOptions",
        {"Radius": 2, "Bias": 1.5, "Alpha": 0.4, "Beta": 0.7},
    ),
    Case("CAST", (random(2, 3),), "CastOptions", {"InDataType": 0, "OutDataType": 2}, outputs=("int32",)),
    Case("CAST", (_BOOL,), "CastOptions", {"InDataType": 6, "OutDataType": 0}),
    Case("LOGICAL_NOT", (_BOOL,), "LogicalNotOptions", outputs=("bool",)),
    Case("FAKE_QUANT", (random(3, 7),), "FakeQuantOptions", {"Min": -1.3, "Max": 1.1, "NumBits": 4}, version=2),
    Case(  # which LiteRT refuses: 255 numbers from -1 to 1 have 0 in the middle
        "FAKE_QUANT",
        (random(3, 7),),
        "FakeQuantOptions",
        {"Min": -1.0, "Max": 1.0, "NumBits": 8, "NarrowRange": 1},
        expected=((np.floor(np.clip(random(3, 7), -1, 1) * 127 + 0.5) / 127).astype(np.float32),),
    ),
    Case("DEQUANTIZE", (random(3, 7).astype(np.float16),), "DequantizeOptions", version=3),
]
BINARY = [
    Case("ADD", (random(2, 3, 4), random(3, 1)), "AddOptions", {"FusedActivationFunction": 1}),
    Case(
        "ADD",
        (ints([[1, -2, 3]]), ints([[7], [9]])),
        "AddOptions",
        {},
        outputs=("int32",),
    ),
    Case("SUB", (random(2, 3, 4), random(4)), "SubOptions", {"FusedActivationFunction": 3}, (1,)),
    Case("MUL", (random(2, 3, 4), random(2, 3, 4)), "MulOptions"),
    Case("DIV", (random(2, 3, 4), random(2, 3, 4, low=0.5)), "DivOptions", {"FusedActivationFunction": 2}),
    Case("ADD_N", (random(2, 3), random(2, 3, seed=1), random(2, 3, seed=2)), "AddNOptions"),
    Case("MAXIMUM", (random(2, 3), random(2, 3, seed=1)), "MaximumMinimumOptions"),
    Case("MINIMUM", (random(2, 3), random(3, seed=1)), "MaximumMinimumOptions"),
    Case("POW", (random(2, 3, low=0.1), random(2, 3, seed=1)), "PowOptions"),
    Case("SQUARED_DIFFERENCE", (random(2, 3), random(3, seed=1)), "SquaredDifferenceOptions"),
    Case("FLOOR_DIV", (random(2, 3), random(2, 3, seed=1, low=0.5)), "FloorDivOptions"),
    Case("FLOOR_DIV", (ints(7, -7, 7, -7), ints(2, 2, -2, -2)), "FloorDivOptions", outputs=("int32",), version=2),
    Case("FLOOR_MOD", (random(2, 3), random(2, 3, seed=1, low=0.5)), "FloorModOptions"),
    Case("FLOOR_MOD", (ints(7, -7, 7, -7), ints(2, 2, -2, -2)), "FloorModOptions", outputs=("int32",)),
    Case("ATAN2", (ints(1, 1, -1, -1, 0, 2, -2, dtype=_F), ints(1, -1, 1, -1, -1, 0, 0, dtype=_F))),
    Case("RIGHT_SHIFT", (ints(100, -100, 7), ints(3, 2, 31)), "RightShiftOptions", outputs=("int32",)),
    Case("BITCAST", (random(2, 3),), "BitcastOptions", outputs=("int32",)),
    Case("LOGICAL_AND", (_BOOL, ~_BOOL[:, ::-1]), "LogicalAndOptions", outputs=("bool",)),
    Case("LOGICAL_OR", (_BOOL, ~_BOOL[:, ::-1]), "LogicalOrOptions", outputs=("bool",)),
    Case("BITWISE_XOR", (ints(5, 12, -3), ints(3, 10, 7)), outputs=("int32",)),
    Case("SELECT", (_BOOL, random(2, 3, 4), random(2, 3, 4, seed=1)), "SelectOptions"),
    Case("SELECT", (np.array([True, False]), random(2, 3), random(2, 3, seed=1)), "SelectOptions"),
    Case("SELECT_V2", (_BOOL, random(4), random(2, 3, 1, seed=1)), "SelectV2Options"),
] + [
    Case(op, (ints(1, 2, 3, 4), ints(2, 2, 2, 4)), options, outputs=("bool",))
    for op, options in (
        ("EQUAL", "EqualOptions"),
        ("NOT_EQUAL", "NotEqualOptions"),
        ("LESS", "LessOptions"),
        ("LESS_EQUAL", "LessEqualOptions"),
        ("GREATER", "GreaterOptions"),
        ("GREATER_EQUAL", "GreaterEqualOptions"),
    )
]
_X = random(2, 3, 4, 5)
MOVING = [
    Case("RESHAPE", (_X, ints(6, -1)), "ReshapeOptions", {"NewShape": (6, 20)}, (1,)),
    Case("RESHAPE", (_X,), "ReshapeOptions", {"NewShape": (-1, 5)}),
    Case("SQUEEZE", (random(1, 3, 1, 4),), "SqueezeOptions", {"SqueezeDims": (-2,)}),
    Case("SQUEEZE", (random(1, 3, 1, 4),), "SqueezeOptions"),
    Case("EXPAND_DIMS", (_X, ints(-2)), "ExpandDimsOptions", {}, (1,)),
    Case("TRANSPOSE", (_X, ints(0, 3, 1, 2)), "TransposeOptions", {}, (1,)),
    Case("CONCATENATION", (_X, random(2, 3, 4, 2)), "ConcatenationOptions", {"Axis": -1}),
    Case("PACK", (random(2, 3), random(2, 3, seed=1)), "PackOptions", {"Axis": 1, "ValuesCount": 2}),
    # Counted from the end of the output, which has one axis more than the inputs.
    Case("PACK", (random(2, 3), random(2, 3, seed=1)), "PackOptions", {"Axis": -1, "ValuesCount": 2}),
    Case("PACK", (random(2, 3), random(2, 3, seed=1)), "PackOptions", {"Axis": -2, "ValuesCount": 2}),
    Case("PACK", (random(2, 3), random(2, 3, seed=1)), "PackOptions", {"Axis": -3, "ValuesCount": 2}),
    Case("UNPACK", (random(2, 3, 4),), "UnpackOptions", {"Axis": -2, "Num": 3}, outputs=(_F,) * 3),
    Case("SPLIT", (ints([3])[0], _X[..., :4]), "SplitOptions", {"NumSplits": 2}, (0,), (_F,) * 2),
    Case("SPLIT", (ints([-2])[0], random(3, 6, 2)), "SplitOptions", {"NumSplits": 2}, (0,), (_F,) * 2),
    Case("SPLIT_V", (_X, ints(1, -1, 2), ints([3])[0]), "SplitVOptions", {"NumSplits": 3}, (1, 2), (_F,) * 3),
    Case("SPLIT_V", (random(3, 6, 2), ints(2, 4), ints([-2])[0]), "SplitVOptions", {"NumSplits": 2}, (1, 2), (_F,) * 2),
    Case("SLICE", (_X, ints(0, 1, 0, 2), ints(2, 2, -1, 3)), "SliceOptions", {}, (1, 2)),
    Case("SLICE", (_X, ints(1, 1, 2, 0), ints(-1, 2, -1, 2)), "SliceOptions", {}, (1, 2)),
    Case(
        "STRIDED_SLICE",
        (_X, ints(0, 1, 3, 0), ints(2, 3, 0, -1), ints(1, 1, -2, 2)),
        "StridedSliceOptions",
        {"BeginMask": 1, "EndMask": 2},
        (1, 2, 3),
    ),
    Case(
        "STRIDED_SLICE",
        (_X, ints(1, 0, 0, -1), ints(2, 0, 0, 0), ints(1, 1, 1, 1)),
        "StridedSliceOptions",
        {"ShrinkAxisMask": 9, "EllipsisMask": 2, "NewAxisMask": 4},
        (1, 2, 3),
        version=6,
    ),
    Case(
        "STRIDED_SLICE",
        (_X, ints(0, 1, -3, 0), ints(2, 2, 2, 3), ints(1, 1, 1, 2)),
        "StridedSliceOptions",
        {"Offset": True},
        (1, 2, 3),
        version=8,
    ),
    Case("PAD", (_X, ints([[0, 0], [1, 2], [0, 3], [0, 0]])), "PadOptions", {}, (1,)),
    Case("PADV2", (_X, ints([[0, 0], [1, 2], [0, 3], [0, 0]]), ints(2.5, dtype=_F)), "PadV2Options", {}, (1, 2)),
    Case("MIRROR_PAD", (_X, ints([[0, 0], [1, 2], [0, 3], [0, 0]])), "MirrorPadOptions", {"Mode": 0}, (1,)),
    Case("MIRROR_PAD", (_X, ints([[0, 0], [3, 2], [4, 0], [0, 0]])), "MirrorPadOptions", {"Mode": 1}, (1,)),
    Case("TILE", (random(2, 3), ints(2, 3)), "TileOptions", {}, (1,)),
    Case("BROADCAST_TO", (random(3, 1), ints(2, 3, 4)), "BroadcastToOptions", {}, (1,), version=2),
    Case("REVERSE_V2", (random(2, 3, 4), ints(1)), "ReverseV2Options", {}, (1,)),
    Case("REVERSE_V2", (random(2, 3, 5), ints(-1)), "ReverseV2Options", {}, (1,)),
    Case(
        "REVERSE_SEQUENCE",
        (random(2, 5, 3), ints(3, 5)),
        "ReverseSequenceOptions",
        {"SeqDim": 1, "BatchDim": 0},
        (1,),
    ),
    Case("SPACE_TO_DEPTH", (random(1, 4, 6, 3),), "SpaceToDepthOptions", {"BlockSize": 2}),
    Case("DEPTH_TO_SPACE", (random(1, 2, 3, 12),), "DepthToSpaceOptions", {"BlockSize": 2}),
    Case(
        "SPACE_TO_BATCH_ND",
        (random(2, 3, 4, 3), ints(2, 2), ints([[1, 0], [1, 1]])),
        "SpaceToBatchNDOptions",
        {},
        (1, 2),
    ),
    Case(
        "BATCH_TO_SPACE_ND",
        (random(8, 2, 3, 3), ints(2, 2), ints([[1, 0], [1, 1]])),
        "BatchToSpaceNDOptions",
        {},
        (1, 2),
    ),
]
PICKING = [
    Case("GATHER", (_X, ints(2, 0)), "GatherOptions", {"Axis": 1}, (1,)),
    Case("GATHER", (_X, ints(2, 0)), "GatherOptions", {"Axis": -2}, (1,)),
    Case("GATHER", (_X, ints([[2, 0], [1, 1]])), "GatherOptions", {"Axis": 1, "BatchDims": 1}, version=5),
    Case("GATHER_ND", (_X, ints([[1, 2], [0, 0]])), "GatherNdOptions"),
    Case("SCATTER_ND", (ints([[1], [3], [1]]), random(3, 2), ints(5, 2)), "ScatterNdOptions", {}, (2,)),
    Case(
        "SPARSE_TO_DENSE",
        (ints([[0, 1], [2, 0]]), ints(3, 2), random(2), np.float32(-1.5)),
        "SparseToDenseOptions",
        {},
        (1, 3),
    ),
    Case("SPARSE_TO_DENSE", (ints(1, 3), ints(5), np.float32(2), np.float32(0)), "SparseToDenseOptions", {}, (1, 2, 3)),
    Case("ARG_MAX", (_X, ints([1])[0]), "ArgMaxOptions", {"OutputType": 4}, (1,), ("int64",)),
    Case("ARG_MIN", (_X, ints([-1])[0]), "ArgMinOptions", {"OutputType": 2}, (1,), ("int32",)),
    Case(
        "ARG_MAX",
        (ints([2, 5, 5], [1, 1, 0], dtype=_F), ints([1])[0]),
        "ArgMaxOptions",
        {"OutputType": 4},
        (1,),
        ("int64",),
    ),
    Case("TOPK_V2", (random(3, 7), ints([3])[0]), "TopKV2Options", {}, (1,), (_F, "int32")),
    Case(
        "ONE_HOT",
        (ints(1, -1, 3, 9), ints([4])[0], np.float32(2.5), np.float32(-1)),
        "OneHotOptions",
        {"Axis": 0},
        (1, 2, 3),
    ),
    Case("WHERE", (_BOOL,), "WhereOptions", outputs=("int64",)),
]
_AXES = ints(1, -1)
REDUCTIONS = [
    Case(op, (random(2, 3, 4, low=0.5, high=1.5), _AXES), "ReducerOptions", {"KeepDims": keep}, (1,))
    for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")
    for keep in (0, 1)
] + [
    Case("REDUCE_ANY", (_BOOL, _AXES), "ReducerOptions", {"KeepDims": 0}, (1,), ("bool",)),
    Case("REDUCE_ALL", (_BOOL, ints(-1)), "ReducerOptions", {"KeepDims": 1}, (1,), ("bool",)),
    Case("CUMSUM", (random(2, 3, 4), ints([-1])[0]), "CumsumOptions", {"Exclusive": 1, "Reverse": 1}, (1,)),
    Case("MATRIX_DIAG", (random(2, 3),), "MatrixDiagOptions"),
]
SIZES = [
    Case("SHAPE", (_X,), "ShapeOptions", {"OutType": 2}, outputs=("int32",)),
    Case("RANK", (_X,), "RankOptions", outputs=("int32",)),
    Case("FILL", (ints(2, 3), np.float32(1.5)), "FillOptions", {}, (0,)),
    Case("RANGE", (ints([2])[0], ints([11])[0], ints([3])[0]), "RangeOptions", {}, (0, 1, 2), ("int32",)),
    Case("BROADCAST_ARGS", (ints(2, 1, 3), ints(4, 1)), "", {}, (0, 1), ("int32",)),
]
RESIZES = [
    Case(
        op,
        (random(1, *old, 2), ints(*new)),
        options,
        {"AlignCorners": align, "HalfPixelCenters": half},
        (1,),
        version=3,
    )
    for op, options in (
        ("RESIZE_BILINEAR", "ResizeBilinearOptions"),
        ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"),
    )
    # The last two have places that are those of a pixel but for rounding.
    for old, new in (((5, 7), (10, 14)), ((5, 7), (3, 11)), ((2, 8), (41, 47)), ((4, 2), (82, 82)))
    for align, half in ((0, 0), (1, 0), (0, 1))
]


_UNITS, _DEEP = 4, 3


def _weights(seed: int = 0, wide: int = _UNITS) -> list[Any]:
    """Of all gates for the input and for the last output, without peepholes, and biases."""
    held = [
        random(_UNITS, size, seed=seed + index)
        for size, seed in ((_DEEP, seed), (wide, seed + 50))
        for index in range(4)
    ]
    return [*held, None, None, None, *(random(_UNITS, seed=seed + 20 + index) for index in range(4)), None, None]


def _constants(inputs: Sequence[Any], states: Sequence[int]) -> list[int]:
    return [index for index, item in enumerate(inputs) if index and item is not None and index not in states]


def _lstm(changed: Mapping[int, Any] | None = None, wide: int = _UNITS, **options: Any) -> Case:
    """TFLite's layer has 20 inputs, the last two of which are its states; with norms it has 24."""
    states = [np.zeros((2, wide), np.float32), np.zeros((2, _UNITS), np.float32)]
    inputs = [random(2, 5, _DEEP), *_weights(wide=wide), *states, None, None, None, None]
    for index, item in (changed or {}).items():
        inputs[index] = item
    if all(item is None for item in inputs[20:]):
        del inputs[20:]
    return Case(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        inputs,
        "UnidirectionalSequenceLSTMOptions",
        {"FusedActivationFunction": 4, **options},
        _constants(inputs, (18, 19)),
        states=(18, 19),
    )


def _bidirectional_lstm(merged: int, time_major: int) -> Case:
    states = [np.zeros((2, _UNITS), np.float32)] * 4
    inputs = [random(*((5, 2) if time_major else (2, 5)), _DEEP), *_weights(), *_weights(7), *states, *[None] * 9]
    return Case(
        "BIDIRECTIONAL_SEQUENCE_LSTM",
        inputs,
        "BidirectionalSequenceLSTMOptions",
        {"FusedActivationFunction": 4, "MergeOutputs": merged, "TimeMajor": time_major},
        _constants(inputs, range(35, 39)),
        (_F,) if merged else (_F, _F),
        states=(35, 36, 37, 38),
    )


def _rnn_inputs(seed: int) -> list[Any]:
    state = np.zeros((2, _UNITS), np.float32)
    return [random(_UNITS, _DEEP, seed=seed), random(_UNITS, _UNITS, seed=seed), random(_UNITS, seed=seed), state]


def _bidirectional_rnn(merged: int) -> Case:
    inputs = [random(2, 5, _DEEP), *_rnn_inputs(1), *_rnn_inputs(2), None, None, None]
    return Case(
        "BIDIRECTIONAL_SEQUENCE_RNN",
        inputs,
        "BidirectionalSequenceRNNOptions",
        {"FusedActivationFunction": 4, "MergeOutputs": merged},
        _constants(inputs, (4, 8)),
        (_F,) if merged else (_F, _F),
        states=(4, 8),
    )


def _filters_of_rank(rank: int, bias: bool = True) -> Case:
    state = np.zeros((2, 6 * 4), np.float32)
    row = random(6 // rank, seed=3) if bias else None
    inputs = (random(2, _DEEP), random(6, _DEEP), random(6, 4), row, state)
    return Case("SVDF", inputs, "SVDFOptions", {"Rank": rank}, (1, 2, 3) if bias else (1, 2), states=(4,))


_PEEPHOLES = {9 + index: random(_UNITS, seed=40 + index) for index in range(3)}
_NORMS = {20 + index: random(_UNITS, seed=60 + index) for index in range(4)}
_NO_INPUT_GATE = {1: None, 5: None, 12: None}
_PROJECTION = {16: random(2, _UNITS, seed=70), 17: random(2, seed=71)}
RECURRENT = [
    _filters_of_rank(1),
    _filters_of_rank(2),
    _filters_of_rank(3, bias=False),
    _lstm(),
    _lstm(_PEEPHOLES),
    _lstm(_NO_INPUT_GATE),
    _lstm(CellClip=0.3),
    _lstm(_PROJECTION, wide=2, ProjClip=0.4),
    _lstm({**_NORMS, **_PEEPHOLES}),
    _lstm({**_NORMS, **_NO_INPUT_GATE, 20: None}),
    *(_bidirectional_lstm(merged, merged) for merged in (0, 1)),
    *(_bidirectional_rnn(merged) for merged in (0, 1)),
    Case(
        "LSTM",
        (random(2, 3), random(2, 4), random(16, 7), random(16), random(2, 4, seed=5)),
        "LSTMOptions",
        {"FusedActivationFunction": 4, "KernelType": 1},
        (2, 3),
        (_F, _F, _F, _F),
        version=1,
    ),
    Case(
        "LSTM",
        (random(2, _DEEP), *_weights(), *[np.zeros((2, _UNITS), np.float32)] * 2),
        "LSTMOptions",
        {"FusedActivationFunction": 4},
        [*range(1, 9), *range(12, 16)],
        states=(18, 19),
    ),
    Case(
        "RNN",
        (random(2, 3), *_rnn_inputs(3)),
        "RNNOptions",
        {"FusedActivationFunction": 4},
        (1, 2, 3),
        states=(4,),
    ),
    Case(
        "UNIDIRECTIONAL_SEQUENCE_RNN",
        (random(2, 5, 3), random(4, 3), random(4, 4), random(4), np.zeros((2, 4), np.float32)),
        "SequenceRNNOptions",
        {"FusedActivationFunction": 4},
        (1, 2, 3),
        states=(4,),
    ),
]


def _mediapipe() -> list[Case]:
    """What LiteRT does not have; the results follow from the definitions, for windows of 2 x 2 side by side."""
    x = random(1, 4, 6, 3)
    blocks = x.reshape(1, 2, 2, 3, 2, 3).transpose(0, 1, 3, 5, 2, 4).reshape(1, 2, 3, 3, 4)
    largest, places = blocks.max(-1), (blocks.argmax(-1) + np.float32(0.1)).astype(np.float32)
    spread = np.zeros((1, 2, 3, 3, 4), np.float32)
    np.put_along_axis(spread, blocks.argmax(-1)[..., None], largest[..., None], -1)
    unpooled = spread.reshape(1, 2, 3, 3, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(1, 4, 6, 3)
    options = struct.pack("<6i", 2, 2, 2, 2, 2, 0)
    odd = np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2) - 30
    at = np.array([3.1, 3.1, 1.1, 1.1], np.float32).repeat(2).reshape(1, 2, 2, 2)
    return [
        Case("MaxPoolingWithArgmax2D", (x,), outputs=(_F, _F), custom=options, expected=(largest, places)),
        Case(
            "MaxPoolingWithArgmax2D",
            (odd,),
            outputs=(_F, _F),
            custom=struct.pack("<6i", 1, 2, 2, 2, 2, 0),
            expected=(odd[:, [1, 2]][:, :, [1, 3]], at),
        ),
        Case(
            "MaxPoolingWithArgmax2D",
            (odd,),
            outputs=(_F, _F),
            custom=struct.pack("<6i", 2, 2, 1, 1, 3, 0),  # three rows and one column
            expected=(odd[:, 2:3, ::2], np.full((1, 1, 2, 2), 2.1, np.float32)),
        ),
        Case("MaxUnpooling2D", (largest, places), custom=options, expected=(unpooled,)),
        Case(
            "Convolution2DTransposeBias",
            (x, np.ones((2, 2, 2, 3), np.float32), np.array([1, 2], np.float32)),
            constants=(1, 2),
            custom=struct.pack("<3i", 1, 2, 2),
            expected=(np.repeat(np.repeat(x.sum(-1, keepdims=True), 2, 1), 2, 2) + np.array([1, 2], np.float32),),
        ),
    ]


MEDIAPIPE = _mediapipe()
CASES = [
    *CONVOLUTIONS,
    *POOLS,
    *PRODUCTS,
    *UNARY,
    *BINARY,
    *MOVING,
    *PICKING,
    *REDUCTIONS,
    *SIZES,
    *RESIZES,
    *RECURRENT,
    *MEDIAPIPE,
]
