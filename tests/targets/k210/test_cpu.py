"""The simulator of the CPU's layers against loops over single numbers."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from buildtool.targets.k210.format import cpu_layers as layers
from buildtool.targets.k210.format.kmodel import Kmodel, Output
from buildtool.targets.k210.format.kpu_layers import RemovePadding
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.simulation import cpu
from buildtool.targets.k210.simulation.simulator import Simulator

f32 = np.float32


def run(layer: Layer, memory: dict[int, np.ndarray], out: int, size: int) -> bytes:
    """One layer over a main memory that holds these arrays."""
    simulator = Simulator(Kmodel(1, 8192, (Output(out, size),), (layer,)))
    for start, values in memory.items():
        simulator.main.put(start, values)
    simulator.step(layer)
    return simulator.main.u8(out, size).tobytes()


def floats(data: bytes) -> list[float]:
    return [value for (value,) in struct.iter_unpack("<f", data)]


def drawn_floats(count: int, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).normal(0, 3, count)).astype(f32)


def drawn_bytes(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


def nearest_float(value: Fraction) -> np.float32:
    """The float nearest to a fraction, halves to even: by looking at its neighbours."""
    guess = f32(float(value))
    candidates = [guess, np.nextafter(guess, f32(-np.inf)), np.nextafter(guess, f32(np.inf))]
    finite = [one for one in candidates if np.isfinite(one)]
    return min(finite, key=lambda one: (abs(Fraction(float(one)) - value), int(one.view(np.uint32)) & 1))


def test_fused_multiply_add_rounds_once() -> None:
    rng = np.random.default_rng(1)
    a, b = ((rng.normal(0, 1, 3000) * 2.0 ** rng.integers(-15, 15, 3000)).astype(f32) for _ in range(2))
    product = a.astype(np.float64) * b
    c = (product * 2.0 ** rng.integers(-30, 60, 3000)).astype(f32)
    c[:1000] = -product[:1000].astype(f32)  # cancels all but the last bits
    a[1000:1010] = f32(1e-30)
    b[1000:1010] = np.linspace(-1e-9, 1e-9, 10).astype(f32)
    c[1000:1010] = f32(1e-44)  # below the normal numbers
    # Next to halfway between two floats, by less than a double can tell beside the sum.
    a[1010:1500] = f32(1 + 2.0**-23)
    b[1010:1500] = f32(1 - 2.0**-23) * (2.0**-24 * rng.choice([-1, 1], 490)).astype(f32)
    c[1010:1500] = (1 + rng.integers(0, 1 << 23, 490) * 2.0**-23).astype(f32)
    got = cpu.fused_multiply_add(a, b, c)
    twice = (a.astype(np.float64) * b + c).astype(f32)
    for index in range(len(a)):
        exact = Fraction(float(a[index])) * Fraction(float(b[index])) + Fraction(float(c[index]))
        assert got[index] == nearest_float(exact), (a[index], b[index], c[index])
    assert (twice != got).sum() > 100, "the case must hold sums that a double rounds wrongly"


def test_fused_multiply_add_of_infinities() -> None:
    with np.errstate(all="ignore"):
        got = cpu.fused_multiply_add(
            np.array([np.inf, 3e38, np.inf, 0], f32), f32(2), np.array([1, 0, -np.inf, 0], f32)
        )
    assert got[0] == np.inf and got[1] == np.inf and np.isnan(got[2]) and got[3] == 0


@pytest.mark.parametrize("act", [0, 1, 2])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (8, 3), (37, 11)])
def test_fully_connected(inputs: int, outputs: int, act: int) -> None:
    x, bias = drawn_floats(inputs), drawn_floats(outputs, 1)
    weights = drawn_floats(inputs * outputs, 2).reshape(outputs, inputs)
    layer = layers.FullyConnected(1, 0, 1024, inputs, outputs, act, weights.tobytes(), bias.tobytes())
    expected = []
    for row, last in zip(weights, bias, strict=True):
        total = f32(0)
        for value, weight in zip(x, row, strict=True):
            total = nearest_float(Fraction(float(value)) * Fraction(float(weight)) + Fraction(float(total)))
        total = total + last
        expected.append(
            float(total if act == 0 else max(total, f32(0)) if act == 1 else min(max(total, f32(0)), f32(6)))
        )
    assert floats(run(layer, {0: x}, 1024, outputs * 4)) == expected


def slow_carry_shift(value: int, shift: int) -> int:
    if shift == 0:
        return value
    value = value // (1 << (shift - 1))
    if value % 2 == 0:
        return value // 2
    return value // 2 - 1 if value < 0 else value // 2 + 1


@pytest.mark.parametrize(
    "numbers",
    [
        (-10, 901, 4, -200, 333, 4, 31, 700, 14),
        (-128, 77, 3, -128, -901, 5, 128, 901, 9),
        (-255, 3, 0, -255, 5, 0, 255, 1, 3),
        (0, 1, 0, 0, 1, 0, 0, 1, 0),
        (-(1 << 31), (1 << 31) - 1, 31, 5, 1, 63, -3, 1, 63),
    ],
)
def test_quantised_addition_in_blocks_of_eight(numbers: tuple[int, ...]) -> None:
    a, b = drawn_bytes(64), drawn_bytes(64, 1)
    layer = layers.QAdd(1, 0, 64, 128, 53, *numbers)
    off_a, mul_a, sh_a, off_b, mul_b, sh_b, off, mul, sh = numbers
    expected = []
    for one, two in zip(a.tolist()[:56], b.tolist()[:56], strict=True):  # 53 are 7 blocks
        left, right = (one + off_a) * mul_a, (two + off_b) * mul_b
        total = (left + right) // (1 << sh_a) if sh_a == sh_b else left // (1 << sh_a) + right // (1 << sh_b)
        expected.append(max(0, min(255, slow_carry_shift(total * mul, sh) + off)))
    got = run(layer, {0: a, 64: b, 128: np.full(64, 99, np.uint8)}, 128, 64)
    assert list(got) == [*expected, *[99] * 8]


def test_addition_ends_with_the_memory() -> None:
    simulator = Simulator(Kmodel(1, 24, (), ()))
    simulator.main.put(0, np.arange(24, dtype=np.uint8))
    simulator.step(layers.QAdd(1, 4, 4, 17, 7, 0, 1, 0, 0, 1, 0, 0, 1, 0))
    assert simulator.main.u8(16, 8).tolist() == [16, *(2 * value for value in range(4, 11))]


POOLS = [
    # w, h, c; out w, h, c; kernel w, h; stride w, h; padding w, h
    (7, 6, 5, 4, 3, 5, 3, 2, 2, 2, 1, 0),
    (7, 6, 5, 7, 8, 4, 3, 5, 1, 1, 1, 3),
    (1, 1, 2, 1, 1, 2, 1, 1, 1, 1, 0, 0),
    (9, 4, 1, 2, 2, 1, 4, 3, 7, 3, 2, 1),
    (3, 3, 2, 1, 1, 2, 9, 9, 5, 5, 4, 4),
]


def windows(shape: Sequence[int], channel: int, y: int, x: int) -> list[int]:
    """Where the elements of a window inside the input lie, row by row."""
    w, h, _, _, _, _, kw, kh, sw, sh, pw, ph = shape
    return [
        (channel * h + row) * w + column
        for row in range(y * sh - ph, y * sh - ph + kh)
        for column in range(x * sw - pw, x * sw - pw + kw)
        if 0 <= row < h and 0 <= column < w
    ]


@pytest.mark.parametrize("shape", POOLS)
def test_pools(shape: tuple[int, ...]) -> None:
    w, h, c, ow, oh, oc = shape[:6]
    places = [windows(shape, channel, y, x) for channel in range(oc) for y in range(oh) for x in range(ow)]
    data = drawn_bytes(w * h * c)
    assert list(run(layers.QMaxPool(1, 0, 4096, *shape), {0: data}, 4096, oc * ow * oh)) == [
        max(int(data[place]) for place in window) for window in places
    ]
    values = drawn_floats(w * h * c)
    for act in range(3):
        expected = []
        for window in places:
            total = f32(0)
            for place in window:
                total = total + values[place]
            mean = total / f32(len(window))
            expected.append(
                float(mean if act == 0 else max(mean, f32(0)) if act == 1 else min(max(mean, f32(0)), f32(6)))
            )
        assert floats(run(layers.AvgPool(1, 0, 4096, *shape, act), {0: values}, 4096, oc * ow * oh * 4)) == expected  # type: ignore[call-arg]


def test_global_means_go_from_the_first_to_the_last() -> None:
    values = np.array([1e8, 1, -1e8, 1, 3, 5, 7, -0.0], f32)
    assert floats(run(layers.Gap(1, 0, 64, 4, 2), {0: values}, 64, 8)) == [0.25, 3.75]
    values = drawn_floats(700)
    expected = []
    for channel in range(7):
        total = f32(0)
        for value in values[channel * 100 : channel * 100 + 100]:
            total = total + value
        expected.append(float(total / f32(100)))
    assert floats(run(layers.Gap(1, 0, 4096, 100, 7), {0: values}, 4096, 28)) == expected


def test_quantise_rounds_halves_away_from_zero() -> None:
    values = np.array(
        [-1, -0.5, -0.49, 0.5, 0.49999997, 1.5, 2.5, 254.4, 254.5, 255.6, 1e30, -1e30, np.inf, -np.inf, np.nan], f32
    )
    got = run(layers.Quantize(1, 0, 64, 15, 1.0, 0.0), {0: values}, 64, 15)
    assert list(got) == [0, 0, 0, 1, 0, 2, 3, 254, 255, 255, 255, 0, 255, 0, 0]
    values, scale, bias = drawn_floats(200), f32(0.0371), f32(-3.3)
    factor = f32(1) / scale
    expected = [max(0, min(255, math.floor(float((value - bias) * factor) + 0.5))) for value in values]
    assert list(run(layers.Quantize(1, 0, 1024, 200, float(scale), float(bias)), {0: values}, 1024, 200)) == expected


def test_dequantise() -> None:
    data, scale, bias = drawn_bytes(60), f32(0.0371), f32(-3.3)
    expected = [float(f32(int(value)) * scale + bias) for value in data]
    assert floats(run(layers.Dequantize(1, 0, 64, 60, float(scale), float(bias)), {0: data}, 64, 240)) == expected
    params = tuple((float(drawn_floats(1, seed)[0]), float(drawn_floats(1, seed + 9)[0])) for seed in range(3))
    expected = [
        float(f32(int(data[index])) * f32(params[index // 20][0]) + f32(params[index // 20][1])) for index in range(60)
    ]
    assert floats(run(layers.ChannelwiseDequant(1, 0, 64, 3, 20, params), {0: data}, 64, 240)) == expected


def test_requantise() -> None:
    data, table = drawn_bytes(50), drawn_bytes(256, 5)
    got = run(layers.Requantize(1, 0, 64, 50, table.tobytes()), {0: data}, 64, 50)
    assert list(got) == [table[value] for value in data]


def test_l2_norm() -> None:
    values = drawn_floats(50)
    total = f32(0)
    for value in values:
        total = total + value * value
    factor = f32(1) / np.sqrt(total)
    assert floats(run(layers.L2Norm(1, 0, 256, 50), {0: values}, 256, 200)) == [
        float(value * factor) for value in values
    ]
    tiny = np.array([1e-8, 0], f32)
    assert floats(run(layers.L2Norm(1, 0, 64, 2), {0: tiny}, 64, 8)) == [
        float(tiny[0] * (f32(1) / np.sqrt(f32(1e-10)))),
        0,
    ]


def test_softmax_and_logistic() -> None:
    for values in (drawn_floats(40), drawn_floats(40) - f32(90), np.array([-200, -300], f32), np.array([5], f32)):
        powers = [f32(math.exp(float(value - max(values)))) for value in values]
        total = f32(0)
        for power in powers:
            total = total + power
        got = floats(run(layers.Softmax(1, 0, 256, len(values)), {0: values}, 256, 4 * len(values)))
        assert got == [float(power / total) for power in powers]
    values = np.concatenate([drawn_floats(40), np.array([-100, 100, 0, -0.0], f32)])
    with np.errstate(over="ignore"):
        expected = [float(f32(1) / (f32(1) + f32(math.exp(-float(value))))) for value in values]
    assert floats(run(layers.Logistic(1, 0, 256, 44), {0: values}, 256, 176)) == expected
    assert run(layers.Softmax(1, 0, 256, 0), {}, 256, 4) == bytes(4)


@pytest.mark.parametrize("wide", [False, True])
def test_flatten_and_resize_move_every_element_to_its_place(wide: bool) -> None:
    flatten, resize = (layers.Flatten, layers.ResizeNn) if wide else (layers.QFlatten, layers.QResizeNn)
    data = drawn_floats(60) if wide else drawn_bytes(60)
    size = 4 if wide else 1
    w, h, c = 5, 4, 3
    expected = [data[(channel * h + y) * w + x] for y in range(h) for x in range(w) for channel in range(c)]
    assert run(flatten(1, 0, 512, w, h, c), {0: data}, 512, 60 * size) == np.array(expected).tobytes()
    for ow, oh in ((10, 8), (3, 7), (1, 1), (5, 4), (49, 1)):
        rows = [min(math.floor(f32(y) * (f32(h) / f32(oh))), h - 1) for y in range(oh)]
        columns = [min(math.floor(f32(x) * (f32(w) / f32(ow))), w - 1) for x in range(ow)]
        picked = [data[(channel * h + row) * w + column] for channel in range(c) for row in rows for column in columns]
        layer = resize(1, 0, 512, w, h, c, ow, oh, 1)
        assert run(layer, {0: data}, 512, len(picked) * size) == np.array(picked).tobytes()


def test_resize_scales_in_floats() -> None:
    """7 * (3 / 7) is below 3 in exact numbers of 32 bits, or not: as the rounding of the scale has it."""
    for size in range(1, 40):
        for out in range(1, 60):
            scale = f32(size) / f32(out)
            expected = [min(math.floor(float(f32(index) * scale)), size - 1) for index in range(out)]
            assert cpu.nearest_sources(size, out).tolist() == expected


def test_concat_and_paddings() -> None:
    data = drawn_bytes(100)
    parts = ((3, 50), (0, 0), (90, 10))
    expected = data[3:53].tobytes() + data[90:100].tobytes()
    assert run(layers.Concat(1, 200, 3, parts), {0: data}, 200, 60) == expected
    assert run(layers.QConcat(1, 200, 3, parts), {0: data}, 200, 60) == expected
    assert run(RemovePadding(1, 0, 200, 6), {0: data}, 200, 6) == data[0:96:16].tobytes()


def test_sum() -> None:
    a, b = drawn_floats(20), drawn_floats(20, 1)
    expected = [float(one + two) for one, two in zip(a, b, strict=True)]
    assert floats(run(layers.Add(1, 0, 80, 160, 20), {0: a, 80: b}, 160, 80)) == expected
