"""What the CPU computes for a kmodel, to the last bit: each layer as the software of the chip does it.

Floats have 32 bits. Products and sums round after each step, in the order written here; only the fully connected
layer fuses them. `exp` is the double precision function rounded once, so that no library of floats matters.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from buildtool.targets.k210.format import cpu_layers as layers
from buildtool.targets.k210.format.layout import Bytes

Floats = npt.NDArray[np.float32]
_L2_FLOOR = np.float32(1e-10)
_ADD_BLOCK = 8


class MainMemory(Protocol):
    """The bytes that layers share."""

    def u8(self, start: int, count: int) -> Bytes: ...
    def f32(self, start: int, count: int) -> Floats: ...
    def put(self, start: int, values: Bytes | Floats) -> None: ...


def add(layer: layers.Add, main: MainMemory) -> None:
    main.put(layer.out, main.f32(layer.a, layer.count) + main.f32(layer.b, layer.count))


def q_add(layer: layers.QAdd, main: MainMemory) -> None:
    """In blocks of eight: it reads and writes up to seven bytes behind the last, where main memory has them."""
    count = -(-layer.count // _ADD_BLOCK) * _ADD_BLOCK
    one, two = (main.u8(start, count).astype(np.int64) for start in (layer.a, layer.b))
    count = min(len(one), len(two))
    one = (one[:count] + layer.a_offset) * layer.a_mul
    two = (two[:count] + layer.b_offset) * layer.b_mul
    if layer.a_shift == layer.b_shift:
        total = one + two >> layer.a_shift
    else:
        total = (one >> layer.a_shift) + (two >> layer.b_shift)
    values = carry_shift(total * layer.out_mul, layer.out_shift) + layer.out_offset
    main.put(layer.out, np.clip(values, 0, 255).astype(np.uint8))


def carry_shift(values: npt.NDArray[np.int64], shift: int) -> npt.NDArray[np.int64]:
    """A shift that adds the last bit shifted out; below zero the chip's software subtracts it instead."""
    if shift == 0:
        return values
    halves = values >> (shift - 1)
    carried: npt.NDArray[np.int64] = (halves >> 1) + np.where(halves < 0, -1, 1) * (halves & 1)
    return carried


def gap(layer: layers.Gap, main: MainMemory) -> None:
    values = main.f32(layer.in_, layer.kernel_size * layer.channels).reshape(layer.channels, layer.kernel_size)
    main.put(layer.out, in_order(values) / np.float32(layer.kernel_size))


def in_order(values: Floats) -> Floats:
    """Sums along the last axis, from the first element to the last, each rounded; NumPy's own sum goes in pairs."""
    start = np.zeros((*values.shape[:-1], 1), np.float32)  # 0 + -0 is 0
    total: Floats = np.add.accumulate(np.concatenate([start, values], -1), axis=-1, dtype=np.float32)[..., -1]
    return total


def q_max_pool(layer: layers.QMaxPool, main: MainMemory) -> None:
    planes = main.u8(layer.in_, layer.in_c * layer.in_h * layer.in_w)
    planes = planes.reshape(layer.in_c, layer.in_h, layer.in_w)[: layer.out_c]
    result = np.zeros((layer.out_c, layer.out_h, layer.out_w), np.uint8)
    for rows, row_from in _taps(layer.in_h, layer.out_h, layer.kh, layer.sh, layer.ph):
        for columns, column_from in _taps(layer.in_w, layer.out_w, layer.kw, layer.sw, layer.pw):
            part = result[:, rows][:, :, columns]
            np.maximum(part, planes[:, row_from][:, :, column_from], out=part)
    main.put(layer.out, result)


def average_pool(layer: layers.AvgPool, main: MainMemory) -> None:
    planes = main.f32(layer.in_, layer.in_c * layer.in_h * layer.in_w)
    planes = planes.reshape(layer.in_c, layer.in_h, layer.in_w)[: layer.out_c]
    total = np.zeros((layer.out_c, layer.out_h, layer.out_w), np.float32)
    count = np.zeros((layer.out_h, layer.out_w), np.float32)
    for rows, row_from in _taps(layer.in_h, layer.out_h, layer.kh, layer.sh, layer.ph):
        for columns, column_from in _taps(layer.in_w, layer.out_w, layer.kw, layer.sw, layer.pw):
            total[:, rows, columns] += planes[:, row_from, column_from]
            count[rows, columns] += 1
    main.put(layer.out, activate(total / count, layer.act))


def _taps(size: int, out: int, kernel: int, stride: int, padding: int) -> list[tuple[slice, slice]]:
    """For each position in the kernel: which outputs have it inside the input, and where it lies for them."""
    taps = []
    for tap in range(max(0, padding - (out - 1) * stride), min(kernel, size + padding)):
        first = max(0, -(-(padding - tap) // stride))
        end = min(out, (size - 1 + padding - tap) // stride + 1)
        if first < end:
            start = first * stride + tap - padding
            taps.append((slice(first, end), slice(start, start + (end - first - 1) * stride + 1, stride)))
    return taps


def activate(values: Floats, act: int) -> Floats:
    """relu and relu6. What is no number becomes 0 and 0, as comparisons with it fail."""
    if act == 0:
        return values
    values = np.where(values > 0, values, np.float32(0))
    return values if act == 1 else np.where(values < 6, values, np.float32(6))


def quantize(layer: layers.Quantize, main: MainMemory) -> None:
    factor = np.float32(1) / np.float32(layer.scale)
    scaled = ((main.f32(layer.in_, layer.count) - np.float32(layer.bias)) * factor).astype(np.float64)
    away_from_zero = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
    main.put(layer.out, np.clip(np.nan_to_num(away_from_zero, nan=0.0), 0, 255).astype(np.uint8))


def dequantize(layer: layers.Dequantize, main: MainMemory) -> None:
    values = main.u8(layer.in_, layer.count).astype(np.float32)
    main.put(layer.out, values * np.float32(layer.scale) + np.float32(layer.bias))


def channelwise_dequantize(layer: layers.ChannelwiseDequant, main: MainMemory) -> None:
    values = main.u8(layer.in_, layer.channels * layer.channel_size).astype(np.float32)
    scale, bias = np.array(layer.params, np.float32).reshape(-1, 2, 1).transpose(1, 0, 2)
    main.put(layer.out, values.reshape(layer.channels, layer.channel_size) * scale + bias)


def requantize(layer: layers.Requantize, main: MainMemory) -> None:
    main.put(layer.out, np.frombuffer(layer.table, np.uint8)[main.u8(layer.in_, layer.count)])


def l2_norm(layer: layers.L2Norm, main: MainMemory) -> None:
    values = main.f32(layer.in_, layer.channels)
    total = in_order(values * values)
    factor = np.float32(1) / np.sqrt(np.where(total < _L2_FLOOR, _L2_FLOOR, total))
    main.put(layer.out, values * factor)


def softmax(layer: layers.Softmax, main: MainMemory) -> None:
    values = main.f32(layer.in_, layer.channels)
    powers = exp(values - np.fmax.reduce(values, initial=-np.inf))
    main.put(layer.out, powers / in_order(powers))


def logistic(layer: layers.Logistic, main: MainMemory) -> None:
    main.put(layer.out, np.float32(1) / (np.float32(1) + exp(-main.f32(layer.in_, layer.channels))))


def exp(values: Floats) -> Floats:
    powers: Floats = np.exp(values.astype(np.float64)).astype(np.float32)
    return powers


def concat(layer: layers.Concat, main: MainMemory) -> None:
    out = layer.out
    for start, size in layer.inputs:
        main.put(out, main.u8(start, size))
        out += size


def fully_connected(layer: layers.FullyConnected, main: MainMemory) -> None:
    if not layer.oc:
        return
    weights = np.frombuffer(layer.weights, "<f4").reshape(layer.oc, layer.ic)
    total = np.zeros(layer.oc, np.float32)
    for column, value in zip(np.ascontiguousarray(weights.T), main.f32(layer.in_, layer.ic), strict=True):
        total = fused_multiply_add(column, value, total)
    main.put(layer.out, activate(total + np.frombuffer(layer.bias, "<f4"), layer.act))


def fused_multiply_add(a: Floats, b: Floats | np.float32, c: Floats) -> Floats:
    """`a * b + c`, rounded once.

    The product of two 24-bit numbers is exact in double precision. The sum is rounded to odd: its error, which is
    exact too, decides whether the last bit must be set. Double precision has more than two bits to spare, so that
    rounding such a sum again gives what rounding the exact sum would give.
    """
    product = a.astype(np.float64) * np.float64(b)
    addend = c.astype(np.float64)
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    towards_zero = np.signbit(error) != np.signbit(total)
    odd = np.where(inexact, bits + np.where(towards_zero, -1, 1), bits)
    rounded: Floats = odd.view(np.float64).astype(np.float32)
    return rounded


def flatten(layer: layers.Flatten, main: MainMemory) -> None:
    main.put(layer.out, _values(layer, main).reshape(layer.c, layer.h, layer.w).transpose(1, 2, 0))


def _values(layer: layers.Flatten, main: MainMemory) -> Bytes | Floats:
    count = layer.c * layer.h * layer.w
    return main.u8(layer.in_, count) if layer.ELEMENT == 1 else main.f32(layer.in_, count)


def resize(layer: layers.ResizeNn, main: MainMemory) -> None:
    count = layer.in_c * layer.in_h * layer.in_w
    values: Bytes | Floats = main.u8(layer.in_, count) if layer.ELEMENT == 1 else main.f32(layer.in_, count)
    rows, columns = nearest_sources(layer.in_h, layer.oh), nearest_sources(layer.in_w, layer.ow)
    main.put(layer.out, values.reshape(layer.in_c, layer.in_h, layer.in_w)[:, rows][:, :, columns])


def nearest_sources(size: int, out: int) -> npt.NDArray[np.int64]:
    """Where each output is taken from. The scale is a 32-bit float, with its rounding."""
    scale = np.float32(size) / np.float32(out)
    places = np.floor(np.arange(out, dtype=np.float32) * scale)
    sources: npt.NDArray[np.int64] = np.minimum(places, size - 1).astype(np.int64)
    return sources


def remove_padding(start: int, out: int, channels: int, main: MainMemory) -> None:
    main.put(out, main.u8(start, max(0, channels * 16 - 15))[::16])
