"""One graph or more for every operator that is imported. Inputs that are fed are wrapped, the others are constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Fed:
    """An input that is known only at run time."""

    array: Array


@dataclass(frozen=True)
class Held:
    """A constant of a type that NumPy does not have."""

    array: Array
    dtype: str


@dataclass(frozen=True)
class Case:
    """An operator on some inputs.

    `channels_first`: the graph has images in this order; it is run in the other one, which every machine knows.
    """

    op: str
    inputs: Sequence[Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    channels_first: bool = False


def real(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Array:
    """Random numbers."""
    return np.random.default_rng((seed, *shape)).uniform(low, high, shape).astype(np.float32)


def whole(*shape: int, seed: int = 0, low: int = -9, high: int = 9, dtype: str = "int32") -> Array:
    """Random whole numbers."""
    return np.random.default_rng((seed, *shape)).integers(low, high, shape, endpoint=True).astype(dtype)


def truth(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng((seed, *shape)).integers(0, 2, shape).astype(np.bool_)


def ints(*values: int) -> Array:
    return np.array(values, np.int32)


def number(value: float, dtype: str = "float32") -> Array:
    return np.array(value, dtype)


def case(op: str, *inputs: Any, channels_first: bool = False, **attributes: Any) -> Case:
    return Case(op, inputs, attributes, channels_first)


_X = Fed(real(2, 3, 4))
_POSITIVE = Fed(real(2, 3, 4, low=0.1, high=3.0))
_UNIT = Fed(real(2, 3, 4, low=-0.9, high=0.9))
_BOUNDS = np.array([-1.5, 0.0, -0.2, -2.0], np.float32), np.array([1.0, 0.0, 1.9, -0.5], np.float32)
_ONE = (1, 1, 1, 1)
_TWO = (1, 2, 2, 1)

UNARY = [
    *(
        case(op, _X)
        for op in [
            "Abs",
            "Asinh",
            "Atan",
            "Ceil",
            "Cos",
            "Elu",
            "Erf",
            "Erfc",
            "Exp",
            "Expm1",
            "Floor",
            "Neg",
            "Relu",
            "Relu6",
            "Rint",
            "Round",
            "Selu",
            "Sigmoid",
            "Sign",
            "Sin",
            "Softplus",
            "Softsign",
            "Square",
            "Tan",
            "Tanh",
            "Cosh",
            "Sinh",
            "LeakyRelu",
            "ZerosLike",
            "OnesLike",
            "Softmax",
            "LogSoftmax",
        ]
    ),
    *(case(op, _POSITIVE) for op in ["Log", "Log1p", "Sqrt", "Rsqrt", "Reciprocal", "Inv"]),
    *(case(op, _UNIT) for op in ("Acos", "Asin", "Atanh")),
    case("Acosh", Fed(real(2, 3, low=1.1, high=4.0))),
    case("LeakyRelu", _X, alpha=0.05),
    case("Abs", Fed(whole(2, 5))),
    case("Neg", Fed(whole(2, 5))),
    case("Square", Fed(whole(2, 5))),
    case("Sign", Fed(whole(2, 5))),
    case("Invert", Fed(whole(2, 5))),
    case("LogicalNot", Fed(truth(3, 4))),
    case("IsNan", Fed(np.array([1, np.nan, np.inf], np.float32))),
    case("IsInf", Fed(np.array([1, np.nan, -np.inf], np.float32))),
    case("IsFinite", Fed(np.array([1, np.nan, np.inf], np.float32))),
    case("ClipByValue", _X, number(-0.5), number(1.0)),
    case("ClipByValue", _X, Fed(number(-0.5)), Fed(number(1.0))),
    case("FakeQuantWithMinMaxArgs", _X, min=-1.0, max=1.5),
    case("FakeQuantWithMinMaxArgs", _X, min=0.1, max=1.5, num_bits=4, narrow_range=True),
    case("FakeQuantWithMinMaxArgs", _X, min=-1.2, max=0.9, num_bits=16),
    case("FakeQuantWithMinMaxVars", _X, number(-1.5), number(1.0)),
    case("FakeQuantWithMinMaxVars", _X, number(0.0), number(0.0)),
    case("FakeQuantWithMinMaxVars", Held(real(5, 3), "float32"), number(-0.9), number(0.9), narrow_range=True),
    case("FakeQuantWithMinMaxVarsPerChannel", _X, *_BOUNDS),
    case("FakeQuantWithMinMaxVarsPerChannel", _X, *_BOUNDS, num_bits=6, narrow_range=True),
    case("FakeQuantWithMinMaxVarsPerChannel", Held(real(2, 3, 4), "float32"), *_BOUNDS, narrow_range=True),
    *(case(op, _X) for op in ("Identity", "Snapshot", "StopGradient", "PreventGradient")),
    case("CheckNumerics", _X, message="not a number"),
    case("EnsureShape", _X, shape=[2, 3, 4]),
    case("IdentityN", [_X, Fed(whole(3))]),
    case("PlaceholderWithDefault", real(2, 3), shape=[2, 3]),
]
_CASTS = [("float32", "int32"), ("int32", "float32"), ("float32", "bool"), ("bool", "float32"), ("uint8", "float32")]
CASTS = [
    *(
        case("Cast", Fed((real(3, 4) * 3).astype(old) if old != "uint8" else whole(3, low=0, dtype=old)), DstT=new)
        for old, new in _CASTS
    ),
    case("Bitcast", Fed(real(3, 2)), type="int32"),
    case(
        "Dequantize",
        Held(whole(3, 5, low=0, high=255, dtype="uint8"), "quint8"),
        number(-2.0),
        number(3.0),
        mode="MIN_FIRST",
    ),
    case(
        "Dequantize",
        Held(whole(3, 5, low=0, high=255, dtype="uint8"), "quint8"),
        number(-2.0),
        number(3.0),
        mode="MIN_COMBINED",
    ),
    case(
        "Dequantize",
        Held(whole(3, 5, low=-128, high=127, dtype="int8"), "qint8"),
        number(-2.0),
        number(3.0),
        mode="MIN_COMBINED",
    ),
]

_Y = Fed(real(3, 4, seed=1))
_I, _J = Fed(whole(2, 3)), Fed(whole(2, 3, seed=1, low=1))
BINARY = [
    *(
        case(op, _X, _Y)
        for op in [
            "Add",
            "AddV2",
            "Sub",
            "Mul",
            "RealDiv",
            "Div",
            "Maximum",
            "Minimum",
            "SquaredDifference",
            "FloorDiv",
            "FloorMod",
        ]
    ),
    *(
        case(op, _I, _J)
        for op in [
            "AddV2",
            "Sub",
            "Mul",
            "FloorDiv",
            "TruncateDiv",
            "FloorMod",
            "TruncateMod",
            "Mod",
            "Maximum",
            "Minimum",
            "Div",
        ]
    ),
    *(case(op, _I, _J) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    *(case(op, Fed(whole(4, low=0, high=2)), Fed(ints(0, 1, 2, 1))) for op in ["Equal", "NotEqual", "Less", "Greater"]),
    *(case(op, Fed(whole(4, low=0, high=2)), Fed(ints(0, 1, 2, 1))) for op in ("LessEqual", "GreaterEqual")),
    *(case(op, Fed(truth(3, 4)), Fed(truth(4, seed=1))) for op in ("LogicalAnd", "LogicalOr")),
    case("Pow", _POSITIVE, Fed(real(4))),
    case("Pow", _X, number(2.0)),
    case("DivNoNan", _X, Fed(np.array([0, 1, 0, 2], np.float32))),
    case("Atan2", _X, _Y),
    case("AddN", [_X, Fed(real(2, 3, 4, seed=2)), Fed(real(2, 3, 4, seed=3))]),
    case("AccumulateNV2", [_X, Fed(real(2, 3, 4, seed=2))], shape=[2, 3, 4]),
    case("BiasAdd", Fed(real(1, 3, 4, 5)), real(5)),
    case("BiasAdd", Fed(real(1, 3, 4, 5)), real(3), data_format="NCHW"),
    case("BiasAddV1", Fed(real(3, 5)), real(5)),
    case("Select", Fed(truth(2)), _X, Fed(real(2, 3, 4, seed=4))),
    case("Select", Fed(truth(2, 3, 4)), _X, Fed(real(2, 3, 4, seed=4))),
    case("SelectV2", Fed(truth(3, 1)), _X, Fed(real(4, seed=4))),
]

_IMAGE, _COLUMNS = Fed(real(1, 7, 9, 3)), Fed(real(2, 8, 6, 4))
_VOLUME = Fed(real(1, 5, 6, 7, 2))
_PADS = [0, 0, 1, 2, 0, 1, 0, 0]
CONVOLUTIONS = [
    case("Conv2D", _IMAGE, real(3, 3, 3, 5), strides=_ONE, padding="VALID"),
    case("Conv2D", _IMAGE, real(3, 2, 3, 5), strides=_TWO, padding="SAME"),
    case("Conv2D", _IMAGE, real(3, 3, 3, 5), strides=_ONE, padding="SAME", dilations=_TWO),
    case("Conv2D", _IMAGE, real(3, 3, 3, 5), strides=_TWO, padding="EXPLICIT", explicit_paddings=_PADS),
    case("Conv2D", _COLUMNS, real(1, 1, 2, 6), strides=_ONE, padding="VALID"),
    case("Conv2D", _IMAGE, real(3, 3, 3, 5), channels_first=True, strides=_TWO, padding="SAME"),
    case("DepthwiseConv2dNative", _IMAGE, real(3, 3, 3, 2), strides=_TWO, padding="SAME"),
    case("DepthwiseConv2dNative", _COLUMNS, real(3, 3, 4, 1), strides=_ONE, padding="VALID"),
    case("DepthwiseConv2dNative", _IMAGE, real(3, 3, 3, 2), channels_first=True, strides=_ONE, padding="SAME"),
    case(
        "Conv2DBackpropInput", ints(1, 9, 11, 4), real(3, 3, 4, 2), Fed(real(1, 4, 5, 2)), strides=_TWO, padding="VALID"
    ),
    case(
        "Conv2DBackpropInput", ints(1, 8, 9, 4), real(3, 3, 4, 2), Fed(real(1, 4, 5, 2)), strides=_TWO, padding="SAME"
    ),
    case(
        "Conv2DBackpropInput",
        ints(1, 10, 12, 4),
        real(3, 3, 4, 2),
        Fed(real(1, 4, 5, 2)),
        strides=_TWO,
        padding="VALID",
    ),
    case("Conv3D", _VOLUME, real(3, 2, 3, 2, 4), strides=(1, 1, 1, 1, 1), padding="SAME"),
    case("Conv3D", _VOLUME, real(2, 2, 2, 2, 3), strides=(1, 2, 1, 2, 1), padding="VALID"),
    case(
        "Conv3DBackpropInputV2",
        ints(1, 9, 11, 13, 3),
        real(2, 3, 2, 3, 2),
        _VOLUME,
        strides=(1, 2, 2, 2, 1),
        padding="SAME",
    ),
]

_KSIZE = (1, 2, 3, 1)
POOLS = [
    case("MaxPool", _COLUMNS, ksize=_KSIZE, strides=_TWO, padding="SAME"),
    case("MaxPool", _COLUMNS, ksize=_KSIZE, strides=_ONE, padding="VALID"),
    case(
        "MaxPool", _COLUMNS, ksize=_KSIZE, strides=_TWO, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 1, 2, 0, 0]
    ),
    case("MaxPool", _COLUMNS, channels_first=True, ksize=_KSIZE, strides=_TWO, padding="SAME"),
    case("MaxPoolV2", _COLUMNS, ints(*_KSIZE), ints(*_TWO), padding="SAME"),
    case("MaxPoolWithArgmax", Fed(real(1, 6, 5, 3)), ksize=_KSIZE, strides=_TWO, padding="SAME"),
    case("AvgPool", _COLUMNS, ksize=_KSIZE, strides=_TWO, padding="SAME"),
    case("AvgPool", _COLUMNS, channels_first=True, ksize=_KSIZE, strides=_ONE, padding="VALID"),
    case("MaxPool3D", _VOLUME, ksize=(1, 2, 3, 2, 1), strides=(1, 2, 2, 1, 1), padding="SAME"),
    case("AvgPool3D", _VOLUME, ksize=(1, 2, 2, 3, 1), strides=(1, 2, 2, 2, 1), padding="SAME"),
    case("ExtractImagePatches", Fed(real(1, 6, 7, 2)), ksizes=_KSIZE, strides=_TWO, rates=_ONE, padding="VALID"),
    case("ExtractImagePatches", Fed(real(1, 6, 7, 2)), ksizes=(1, 3, 3, 1), strides=_ONE, rates=_TWO, padding="SAME"),
]

_STATISTICS = (real(3), real(3, seed=1), real(3, seed=2), real(3, seed=3, low=0.2, high=2.0))
NORMS = [
    *(
        case(f"FusedBatchNorm{version}", _IMAGE, *_STATISTICS, is_training=False, epsilon=1e-3)
        for version in ("", "V2", "V3")
    ),
    case("FusedBatchNormV3", _IMAGE, *_STATISTICS, channels_first=True, is_training=False, epsilon=1e-3),
    case("LRN", Fed(real(1, 3, 4, 7)), depth_radius=2, bias=1.5, alpha=0.3, beta=0.75),
]

_BATCH = Fed(real(2, 3, 4, 5))
PRODUCTS = [
    case("MatMul", Fed(real(3, 4)), real(4, 5)),
    case("MatMul", Fed(real(4, 3)), real(5, 4), transpose_a=True, transpose_b=True),
    case("MatMul", Fed(whole(3, 4)), Fed(whole(4, 5))),
    case("BatchMatMul", Fed(real(2, 3, 4)), Fed(real(2, 4, 5)), adj_x=False, adj_y=False),
    case("BatchMatMulV2", _BATCH, Fed(real(3, 6, 5)), adj_x=False, adj_y=True),
    case("BatchMatMulV3", Fed(real(2, 4, 3)), Fed(real(1, 4, 5)), Tout="float32", adj_x=True),
    case("Einsum", [_BATCH, Fed(real(5, 2, 3))], equation="abcd,def->abcef"),
    case("Einsum", [_BATCH, Fed(real(2, 6, 4, 5))], equation="btnh,bsnh->bnts"),
]

_AXES = [ints(1), ints(-1, 0), number(2, "int32")]
REDUCTIONS = [
    *(case(op, _X, axes) for op in ("Max", "Mean", "Min", "Prod", "Sum", "EuclideanNorm") for axes in _AXES[:2]),
    case("Mean", Fed(real(1, 4, 5, 3)), ints(1, 2), keep_dims=True),
    case("Sum", Fed(whole(2, 3, 4)), ints(2)),
    case("Any", Fed(truth(3, 4)), ints(1)),
    case("All", Fed(truth(3, 4)), ints(0), keep_dims=True),
    case("Cumsum", _X, number(1, "int32")),
    case("Cumsum", _X, number(2, "int32"), exclusive=True, reverse=True),
    case("Cumprod", _X, number(-1, "int32"), reverse=True),
    case("ArgMax", _X, number(-1, "int32")),
    case("ArgMax", _X, number(1, "int32"), output_type="int32"),
    case("ArgMin", _X, number(0, "int32")),
    case("TopKV2", _X, number(2, "int32")),
]

MOVES = [
    case("Reshape", _X, ints(4, -1)),
    case("Squeeze", Fed(real(1, 3, 1, 2))),
    case("Squeeze", Fed(real(1, 3, 1, 2)), axis=[2]),
    case("ExpandDims", _X, number(-1, "int32")),
    case("Transpose", _X, ints(2, 0, 1)),
    case("ConcatV2", [_X, Fed(real(2, 1, 4))], number(1, "int32")),
    case("Concat", number(2, "int32"), [_X, Fed(real(2, 3, 2))]),
    case("Pack", [_X, Fed(real(2, 3, 4, seed=5))], axis=1),
    case("Unpack", _X, num=3, axis=1),
    case("Split", number(2, "int32"), _X, num_split=2),
    case("SplitV", _X, ints(1, -1), number(2, "int32"), num_split=2),
    case("Tile", _X, ints(1, 2, 3)),
    case("BroadcastTo", Fed(real(3, 1)), ints(2, 3, 4)),
    case("ReverseV2", _X, ints(0, -1)),
    case("ReverseSequence", _X, Fed(ints(2, 3)), seq_dim=1, batch_dim=0),
    case("Roll", _X, ints(1, -2), ints(1, 2)),
    case("SpaceToDepth", Fed(real(1, 4, 6, 3)), block_size=2),
    case("DepthToSpace", Fed(real(1, 2, 3, 8)), block_size=2),
    case("DepthToSpace", Fed(real(1, 2, 3, 8)), channels_first=True, block_size=2),
    case("SpaceToBatchND", Fed(real(1, 5, 7, 2)), ints(2, 3), np.array([[1, 0], [1, 1]], np.int32)),
    case("BatchToSpaceND", Fed(real(6, 3, 3, 2)), ints(2, 3), np.array([[1, 0], [1, 1]], np.int32)),
    case("SpaceToBatch", Fed(real(1, 4, 6, 2)), np.array([[0, 0], [0, 0]], np.int32), block_size=2),
    case("BatchToSpace", Fed(real(4, 2, 3, 2)), np.array([[0, 1], [0, 0]], np.int32), block_size=2),
    case("Pad", _X, np.array([[0, 1], [2, 0], [0, 0]], np.int32)),
    case("PadV2", _X, np.array([[0, 1], [2, 0], [0, 0]], np.int32), number(1.5)),
    case("MirrorPad", _X, np.array([[0, 1], [2, 0], [0, 3]], np.int32), mode="REFLECT"),
    case("MirrorPad", _X, np.array([[0, 1], [2, 0], [0, 3]], np.int32), mode="SYMMETRIC"),
]

_BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [1, 1, 0, 0.1], [0, 2.1, 1, 3]], np.float32)
_SCORES = np.array([0.9, 0.8, 0.3, 0.95, 0.7], np.float32)
_MOST, _OVERLAP, _LEAST = number(4, "int32"), number(0.5), number(0.4)
PICKS = [
    case("Slice", _X, ints(0, 1, 2), ints(2, -1, 1)),
    case("StridedSlice", _X, ints(0, -1, 1), ints(2, 0, 4), ints(1, -1, 2)),
    case("StridedSlice", _X, ints(1, 0), ints(2, 0), ints(1, 1), shrink_axis_mask=1, end_mask=2),
    case("StridedSlice", _X, ints(0, 0, 1), ints(0, 0, 2), ints(1, 1, 1), ellipsis_mask=1, new_axis_mask=2),
    case("Gather", _X, Fed(ints(1, 0, 1))),
    case("GatherV2", _X, Fed(ints(3, 0)), number(-1, "int32")),
    case("GatherV2", _X, Fed(whole(2, 5, low=0, high=2)), number(1, "int32"), batch_dims=1),
    case("GatherNd", _X, Fed(np.array([[0, 1], [1, 2]], np.int32))),
    case("ScatterNd", Fed(np.array([[1], [3], [1]], np.int32)), Fed(real(3, 2)), ints(5, 2)),
    case("TensorScatterUpdate", Fed(real(5, 2)), Fed(np.array([[1], [3]], np.int32)), Fed(real(2, 2))),
    case("TensorScatterAdd", Fed(real(5, 2)), Fed(np.array([[1], [1]], np.int32)), Fed(real(2, 2))),
    case("TensorScatterMax", Fed(real(5, 2)), Fed(np.array([[1], [3]], np.int32)), Fed(real(2, 2))),
    case("TensorScatterMin", Fed(real(5, 2)), Fed(np.array([[1], [3]], np.int32)), Fed(real(2, 2))),
    case("OneHot", Fed(ints(0, 2, -1, 5)), number(4, "int32"), number(2.0), number(-1.0)),
    case("OneHot", Fed(whole(2, 3, low=0, high=3)), number(4, "int32"), number(1, "int32"), number(0, "int32"), axis=0),
    case("Where", Fed(truth(3, 4))),
    case("NonMaxSuppression", Fed(_BOXES), Fed(_SCORES), _MOST, iou_threshold=0.5),
    case("NonMaxSuppressionV2", Fed(_BOXES), Fed(_SCORES), _MOST, _OVERLAP),
    case("NonMaxSuppressionV3", Fed(_BOXES), Fed(_SCORES), _MOST, _OVERLAP, _LEAST),
    case("NonMaxSuppressionV4", Fed(_BOXES), Fed(_SCORES), _MOST, _OVERLAP, _LEAST, pad_to_max_output_size=True),
    case("NonMaxSuppressionV5", Fed(_BOXES), Fed(_SCORES), _MOST, _OVERLAP, _LEAST, number(0.0)),
]

_PICTURE = Fed(real(1, 5, 6, 2))
RESIZES = [
    *(
        case(op, _PICTURE, ints(*size), **how)
        for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic")
        for size, how in (
            ((8, 9), {}),
            ((3, 11), {"align_corners": True}),
            ((10, 4), {"half_pixel_centers": True}),
        )
    ),
    case("ResizeBilinear", Fed(whole(1, 4, 5, 2, dtype="uint8", low=0)), ints(6, 7)),
    case("ResizeNearestNeighbor", Fed(whole(1, 4, 5, 2, dtype="uint8", low=0)), ints(6, 7)),
]

SIZES = [
    case("Shape", _X),
    case("Shape", _X, out_type="int64"),
    case("ShapeN", [_X, _Y]),
    case("Size", _X),
    case("Rank", _X),
    case("Fill", ints(2, 3), Fed(number(1.5))),
    case("Range", number(2, "int32"), number(11, "int32"), number(3, "int32")),
    case("LinSpace", number(0.5), number(2.0), number(4, "int32")),
    case("BroadcastArgs", ints(2, 1, 4), ints(3, 1)),
    case("Const", value=real(2, 3), dtype="float32"),
]

_SHARED, _OWN = (Fed(real(2, 12, boxes, 4, low=0.0, high=1.2)) for boxes in (1, 3))
_LIMITS = number(4, "int32"), number(7, "int32"), number(0.3), number(0.4)
DETECTION = [
    case("CombinedNonMaxSuppression", boxes, Fed(real(2, 12, 3, low=0.0, high=1.0)), *limits, **how)
    for boxes, limits, how in (
        (_SHARED, _LIMITS, {}),
        (_OWN, _LIMITS, {"clip_boxes": False}),
        (_SHARED, (number(2, "int32"), number(30, "int32"), *_LIMITS[2:]), {"pad_per_class": True}),
        (_OWN, (number(12, "int32"), number(50, "int32"), *_LIMITS[2:]), {}),
    )
]

_CROWD = np.random.default_rng(11).uniform(0.0, 1.0, (30, 4)).astype(np.float32)
_CROWD_SCORES = np.random.default_rng(12).uniform(0.0, 1.0, 30).astype(np.float32)
SOFT = [
    case("NonMaxSuppressionV5", Fed(_CROWD), Fed(_CROWD_SCORES), *limits, **how)
    for limits, how in (
        ((number(12, "int32"), number(0.3), number(0.1), number(0.5)), {}),
        ((number(50, "int32"), number(1.0), number(0.25), number(0.1)), {}),
        ((number(9, "int32"), number(0.5), number(0.6), number(1.0)), {"pad_to_max_output_size": True}),
    )
]

CASES = [
    *UNARY,
    *CASTS,
    *BINARY,
    *CONVOLUTIONS,
    *POOLS,
    *NORMS,
    *PRODUCTS,
    *REDUCTIONS,
    *MOVES,
    *PICKS,
    *RESIZES,
    *SIZES,
    *DETECTION,
    *SOFT,
]
