"""Quantised operators. LiteRT computes with fixed-point numbers: results may differ by one step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.ir.operator import Array
from tests.importers.tflite.cases import conv, pool
from tests.importers.tflite.harness import Case, ints, random, whole
from tests.importers.tflite.writer import Quantisation

_S8, _U8 = "int8", "uint8"


def _of(scale: float, zero: int = 0) -> Quantisation:
    return Quantisation([scale], [zero])


def _rows(count: int, axis: int) -> Quantisation:
    return Quantisation([0.01 * (1 + index) for index in range(count)], [0] * count, axis)


def _bias(x: float, rows: Sequence[float]) -> Quantisation:
    return Quantisation([x * scale for scale in rows], [0] * len(rows), 0)


def _small(count: int) -> Array:
    return whole(count, dtype="int32", low=-2000, high=2000)


def _layer(op: str, options: str, filters: Array, axis: int, values: dict[str, int], shape: Sequence[int]) -> Case:
    """A convolution of int8 with a scale for each output."""
    count = filters.shape[axis]
    rows = _rows(count, axis)
    return Case(
        op,
        (whole(*shape), filters, _small(count)),
        options,
        values,
        (1, 2),
        (_S8,),
        version=3,
        quantised={0: _of(0.02, 3), 1: rows, 2: _bias(0.02, rows.scales), -1: _of(0.11, -5)},
        steps=1,
    )


def _same(op: str, inputs: Sequence[Array], options: str = "", dtype: str = _S8, **values: object) -> Case:
    """An operator that keeps the quantisation of its input 0; the others are weights."""
    held = tuple(range(1, len(inputs)))
    version = 1 if op == "RESHAPE" else 2
    quantised = {0: _of(0.05, 7), -1: _of(0.05, 7)}
    return Case(op, inputs, options, values, held, (dtype,), version=version, quantised=quantised)


def _unary(op: str, options: str = "", out: Quantisation | None = None, **values: object) -> Case:
    out = out or _of(0.03, -4)
    version = 1 if op == "HARD_SWISH" else 2
    quantised = {0: _of(0.04, 3), -1: out}
    return Case(op, (whole(2, 3, 5),), options, values, (), (_S8,), version=version, quantised=quantised, steps=1)


def _binary(op: str, options: str, dtype: str = _S8, **values: object) -> Case:
    quantised = {0: _of(0.04, 3), 1: _of(0.07, 10), -1: _of(0.09, 5)}
    inputs = whole(2, 3, 4, dtype=dtype), whole(2, 3, 4, dtype=dtype, seed=1)
    return Case(op, inputs, options, values, (), (dtype,), version=2, quantised=quantised, steps=1)


QUANTISED = [
    _layer("CONV_2D", "Conv2DOptions", whole(5, 3, 3, 3), 0, conv(), (1, 7, 9, 3)),
    _layer("CONV_2D", "Conv2DOptions", whole(4, 3, 2, 3), 0, conv(2, 1, 1, 1), (2, 8, 6, 3)),
    _layer(
        "DEPTHWISE_CONV_2D",
        "DepthwiseConv2DOptions",
        whole(1, 3, 3, 6),
        3,
        conv(1, 0, 1, 3, DepthMultiplier=2),
        (1, 7, 8, 3),
    ),
    Case(
        "CONV_2D",
        (whole(1, 6, 6, 3, dtype=_U8), whole(4, 3, 3, 3, dtype=_U8), _small(4)),
        "Conv2DOptions",
        conv(),
        (1, 2),
        (_U8,),
        quantised={0: _of(0.02, 120), 1: _of(0.01, 140), 2: _of(0.0002), -1: _of(0.3, 128)},
        steps=1,
    ),
    Case(
        "FULLY_CONNECTED",
        (whole(3, 8), whole(5, 8), _small(5)),
        "FullyConnectedOptions",
        {"FusedActivationFunction": 1},
        (1, 2),
        (_S8,),
        version=4,
        quantised={0: _of(0.02, 3), 1: _of(0.01), 2: _of(0.0002), -1: _of(0.05, -100)},
        steps=1,
    ),
    Case(  # weights of bytes, computed with floats
        "FULLY_CONNECTED",
        (random(3, 8), whole(5, 8), random(5)),
        "FullyConnectedOptions",
        {},
        (1, 2),
        version=3,
        quantised={1: _of(0.01)},
        rtol=0.02,
        atol=0.1,  # LiteRT quantises the input on the fly
    ),
    Case(
        "CONV_2D",
        (
            whole(1, 6, 6, 3, dtype="int16", low=-9999, high=9999),
            whole(4, 3, 3, 3),
            whole(4, dtype="int64", low=-99, high=99),
        ),
        "Conv2DOptions",
        conv(),
        (1, 2),
        ("int16",),
        version=4,
        quantised={0: _of(0.001), 1: _rows(4, 0), 2: _bias(0.001, _rows(4, 0).scales), -1: _of(0.01)},
        steps=1,
    ),
    Case(
        "BATCH_MATMUL",
        (whole(2, 3, 4), whole(2, 4, 5)),
        "BatchMatMulOptions",
        {},
        (),
        (_S8,),
        version=2,
        quantised={0: _of(0.02, 3), 1: _of(0.03, -7), -1: _of(0.2, 4)},
        steps=1,
    ),
    _same("MAX_POOL_2D", (whole(1, 7, 8, 3),), "Pool2DOptions", **pool(2, 2, 0)),  # type: ignore[arg-type]
    Case(
        "AVERAGE_POOL_2D",
        (whole(1, 7, 8, 3),),
        "Pool2DOptions",
        pool(2, 2, 1),
        (),
        (_S8,),
        version=2,
        quantised={0: _of(0.05, 7), -1: _of(0.05, 7)},
        steps=1,
    ),
    _same("PAD", (whole(2, 3, 4), ints([[0, 0], [1, 2], [0, 3]])), "PadOptions"),
    _same("RESHAPE", (whole(2, 3, 4), ints(6, 4)), "ReshapeOptions"),
    _same("TRANSPOSE", (whole(2, 3, 4), ints(2, 0, 1)), "TransposeOptions"),
    _same("SLICE", (whole(2, 3, 4), ints(0, 1, 0), ints(2, 2, 3)), "SliceOptions"),
    _same("RESIZE_NEAREST_NEIGHBOR", (whole(1, 3, 4, 2), ints(6, 8)), "ResizeNearestNeighborOptions"),
    Case(
        "RESIZE_BILINEAR",
        (whole(1, 3, 4, 2), ints(6, 8)),
        "ResizeBilinearOptions",
        {"HalfPixelCenters": 1},
        (1,),
        (_S8,),
        version=3,
        quantised={0: _of(0.05, 7), -1: _of(0.05, 7)},
        steps=1,
    ),
    Case(
        "CONCATENATION",
        (whole(2, 3), whole(2, 4)),
        "ConcatenationOptions",
        {"Axis": 1},
        (),
        (_S8,),
        version=2,
        quantised={0: _of(0.05, 7), 1: _of(0.05, 7), -1: _of(0.05, 7)},
    ),
    _binary("ADD", "AddOptions"),
    _binary("ADD", "AddOptions", FusedActivationFunction=1),
    _binary("SUB", "SubOptions"),
    _binary("MUL", "MulOptions"),
    _binary("MUL", "MulOptions", FusedActivationFunction=3),
    _unary("RELU"),
    _unary("RELU6"),
    _unary("LEAKY_RELU", "LeakyReluOptions", Alpha=0.2),
    _unary("LOGISTIC", out=_of(1 / 256, -128)),
    _unary("TANH", out=_of(1 / 128, 0)),
    _unary("SOFTMAX", "SoftmaxOptions", out=_of(1 / 256, -128), Beta=1.0),
    _unary("HARD_SWISH", "HardSwishOptions"),
    _unary("QUANTIZE", "QuantizeOptions"),
    Case("QUANTIZE", (random(3, 7),), "QuantizeOptions", outputs=(_S8,), quantised={-1: _of(0.02, 5)}, steps=1),
    Case("DEQUANTIZE", (whole(3, 7),), "DequantizeOptions", version=2, quantised={0: _of(0.02, 5)}),
    Case(
        "MEAN",
        (whole(1, 5, 6, 3), ints(1, 2)),
        "ReducerOptions",
        {"KeepDims": 1},
        (1,),
        (_S8,),
        version=2,
        quantised={0: _of(0.05, 7), -1: _of(0.02, 3)},
        steps=1,
    ),
    Case(
        "ARG_MAX",
        (whole(2, 9), np.int32(1)),
        "ArgMaxOptions",
        {"OutputType": 4},
        (1,),
        ("int64",),
        version=2,
        quantised={0: _of(0.05, 7)},
    ),
]
