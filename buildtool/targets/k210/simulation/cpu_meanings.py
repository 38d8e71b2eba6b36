"""What the layers of the CPU compute, as nodes of a graph: lists of numbers become a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from buildtool.ir.graph import Value
from buildtool.ir.types import DType
from buildtool.targets.k210.format import cpu_layers as cpu
from buildtool.targets.k210.format.kpu_layers import RemovePadding
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.generation.rules import shape_of
from buildtool.targets.k210.simulation.cpu import nearest_sources
from buildtool.targets.k210.simulation.extents import Nodes

_LAST_BYTE = 255.0
_PITCH = 16  # of pixels that stand alone
_LEAST_SQUARES = 1e-10
_LINEAR, _RELU = 0, 1


def reads(layer: Layer, element_at: Callable[[int], int]) -> Iterator[tuple[int, int, int]]:
    """Where the lists begin that a layer reads, how many numbers they have, and bytes of each."""
    for part in layer.reads():
        element = element_at(part.start) if isinstance(layer, cpu.Concat) else part.element
        yield part.start, part.bytes // element, element


def make(nodes: Nodes, layer: Layer, sources: Sequence[Value]) -> Value:
    """The list that a layer makes of others."""
    return _MEANINGS[type(layer)](nodes, layer, *sources)


def _q_add(nodes: Nodes, layer: cpu.QAdd, a: Value, b: Value) -> Value:
    one = nodes("mul", nodes("add", a, float(layer.a_offset)), float(layer.a_mul))
    two = nodes("mul", nodes("add", b, float(layer.b_offset)), float(layer.b_mul))
    if layer.a_shift == layer.b_shift:
        total = _shifted(nodes, nodes("add", one, two), layer.a_shift)
    else:
        total = nodes("add", _shifted(nodes, one, layer.a_shift), _shifted(nodes, two, layer.b_shift))
    scaled = nodes("mul", total, float(layer.out_mul))
    if layer.out_shift:
        halves = _shifted(nodes, scaled, layer.out_shift - 1)
        whole = _shifted(nodes, halves, 1)
        odd = nodes("sub", halves, nodes("mul", whole, 2.0))
        # Below zero the chip's software subtracts what it should add.
        scaled = nodes("where", nodes("less", halves, 0.0), nodes("sub", whole, odd), nodes("add", whole, odd))
    return _clipped(nodes, nodes("add", scaled, float(layer.out_offset)))


def _shifted(nodes: Nodes, x: Value, bits: int) -> Value:
    return nodes("floor", nodes("mul", x, 2.0**-bits)) if bits else x


def _clipped(nodes: Nodes, x: Value) -> Value:
    return nodes("clip", x, low=0.0, high=_LAST_BYTE)


def _add(nodes: Nodes, layer: cpu.Add, a: Value, b: Value) -> Value:
    return nodes("add", a, b)


def _gap(nodes: Nodes, layer: cpu.Gap, x: Value) -> Value:
    rows = nodes.reshaped(x, layer.channels, layer.kernel_size)
    return nodes("reduce_mean", rows, axes=(1,), keepdims=False)


# -- pools -------------------------------------------------------------------------------------------------------------
def _pool(nodes: Nodes, layer: cpu.QMaxPool | cpu.AvgPool, x: Value) -> Value:
    planes = nodes.reshaped(x, 1, layer.in_c, layer.in_h, layer.in_w)
    planes = nodes.turned(nodes.part(planes, [0] * 4, [1, layer.out_c, layer.in_h, layer.in_w]), 0, 2, 3, 1)
    kernel = (min(layer.kh, layer.in_h + layer.ph), min(layer.kw, layer.in_w + layer.pw))
    behind = [
        max(0, (out - 1) * stride + size - length - before)
        for out, stride, size, length, before in (
            (layer.out_h, layer.sh, kernel[0], layer.in_h, layer.ph),
            (layer.out_w, layer.sw, kernel[1], layer.in_w, layer.pw),
        )
    ]
    window: dict[str, Any] = {
        "kernel": kernel, "strides": (layer.sh, layer.sw), "pads": (layer.ph, layer.pw, *behind),
    }  # fmt: skip
    kind = "max_pool2d" if isinstance(layer, cpu.QMaxPool) else "avg_pool2d"
    pooled = nodes.part(nodes(kind, planes, **window), [0] * 4, [1, layer.out_h, layer.out_w, layer.out_c])
    made = nodes.reshaped(nodes.turned(pooled, 0, 3, 1, 2), layer.out_c * layer.out_h * layer.out_w)
    return made if isinstance(layer, cpu.QMaxPool) else _activated(nodes, made, layer.act)


def _activated(nodes: Nodes, x: Value, act: int) -> Value:
    if act == _LINEAR:
        return x
    return nodes("relu", x) if act == _RELU else nodes("clip", x, low=0.0, high=6.0)


# -- bytes and floats --------------------------------------------------------------------------------------------------
def _quantize(nodes: Nodes, layer: cpu.Quantize, x: Value) -> Value:
    factor = float(np.float32(1) / np.float32(layer.scale))
    scaled = nodes("mul", nodes("sub", x, layer.bias), factor)
    return _clipped(nodes, nodes("floor", nodes("add", scaled, 0.5)))


def _dequantize(nodes: Nodes, layer: cpu.Dequantize, x: Value) -> Value:
    return nodes("add", nodes("mul", x, layer.scale), layer.bias)


def _channelwise(nodes: Nodes, layer: cpu.ChannelwiseDequant, x: Value) -> Value:
    scale, bias = np.array(layer.params, np.float64).reshape(-1, 2, 1).transpose(1, 0, 2)
    rows = nodes.reshaped(x, layer.channels, layer.channel_size)
    made = nodes("add", nodes("mul", rows, scale), bias)
    return nodes.reshaped(made, layer.channels * layer.channel_size)


def _requantize(nodes: Nodes, layer: cpu.Requantize, x: Value) -> Value:
    table = np.frombuffer(layer.table, np.uint8).astype(np.float64)
    return nodes("gather", nodes.constant(table), nodes.cast(x, DType.S32), axis=0)


# -- floats ------------------------------------------------------------------------------------------------------------
def _l2_norm(nodes: Nodes, layer: cpu.L2Norm, x: Value) -> Value:
    squares = nodes("reduce_sum", nodes("mul", x, x), axes=(0,), keepdims=True)
    return nodes("div", x, nodes("sqrt", nodes("maximum", squares, _LEAST_SQUARES)))


def _softmax(nodes: Nodes, layer: cpu.Softmax, x: Value) -> Value:
    return nodes("softmax", x, axis=0)


def _logistic(nodes: Nodes, layer: cpu.Logistic, x: Value) -> Value:
    return nodes("sigmoid", x)


def _fully_connected(nodes: Nodes, layer: cpu.FullyConnected, x: Value) -> Value:
    weights = np.frombuffer(layer.weights, "<f4").reshape(layer.oc, layer.ic)
    row = nodes("fully_connected", nodes.reshaped(x, 1, layer.ic), weights, np.frombuffer(layer.bias, "<f4"))
    return _activated(nodes, nodes.reshaped(row, layer.oc), layer.act)


# -- what moves numbers ------------------------------------------------------------------------------------------------
def _concat(nodes: Nodes, layer: cpu.Concat, *parts: Value) -> Value:
    return nodes.joined(parts, 0)


def _flatten(nodes: Nodes, layer: cpu.Flatten, x: Value) -> Value:
    planes = nodes.reshaped(x, layer.c, layer.h, layer.w)
    return nodes.reshaped(nodes.turned(planes, 1, 2, 0), *shape_of(x))


def _resize(nodes: Nodes, layer: cpu.ResizeNn, x: Value) -> Value:
    planes = nodes.reshaped(x, layer.in_c, layer.in_h, layer.in_w)
    for axis, size, out in ((1, layer.in_h, layer.oh), (2, layer.in_w, layer.ow)):
        places = nodes.graph.new_constant("places", nearest_sources(size, out))
        planes = nodes("gather", planes, places, axis=axis)
    return nodes.reshaped(planes, layer.in_c * layer.oh * layer.ow)


def _remove_padding(nodes: Nodes, layer: RemovePadding, x: Value) -> Value:
    return nodes.part(x, [0], [layer.channels], [_PITCH])


_MEANINGS: Mapping[type[Layer], Callable[..., Value]] = {
    cpu.QAdd: _q_add,
    cpu.Add: _add,
    cpu.Gap: _gap,
    cpu.QMaxPool: _pool,
    cpu.AvgPool: _pool,
    cpu.Quantize: _quantize,
    cpu.Dequantize: _dequantize,
    cpu.ChannelwiseDequant: _channelwise,
    cpu.Requantize: _requantize,
    cpu.L2Norm: _l2_norm,
    cpu.Softmax: _softmax,
    cpu.Logistic: _logistic,
    cpu.FullyConnected: _fully_connected,
    cpu.Concat: _concat,
    cpu.QConcat: _concat,
    cpu.Flatten: _flatten,
    cpu.QFlatten: _flatten,
    cpu.ResizeNn: _resize,
    cpu.QResizeNn: _resize,
    RemovePadding: _remove_padding,
}
