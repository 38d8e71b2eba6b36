"""Small kmodels of every layer type and pool type, with an input and what the simulator makes of it.

The simulator is tested elsewhere; other software that runs kmodels is compared with these. All bytes are the same on
each call. `python -m tests.targets.k210.samples FOLDER` writes NAME.kmodel, NAME.in and NAME.out0, NAME.out1, ...
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from buildtool.targets.k210.format import cpu_layers as cpu
from buildtool.targets.k210.format.arguments import ConvShape, ZeroPoints, layer_argument
from buildtool.targets.k210.format.kmodel import EIGHT_BIT_WEIGHTS, Kmodel, Output, write
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, RemovePadding, Upload, conv
from buildtool.targets.k210.format.layer import MAIN_MEMORY_OUTPUT as TO_MAIN
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.format.layout import Bytes
from buildtool.targets.k210.format.tables import FIRST_START, Activation, BatchNorm, Segment
from buildtool.targets.k210.simulation import kpu
from buildtool.targets.k210.simulation.simulator import simulate

Sample = tuple[str, bytes, bytes, list[bytes]]
HALF_RAM = 16384  # in units of 64 bytes


def samples() -> Iterator[Sample]:
    """Name, file, input, expected outputs."""
    for index, (name, model) in enumerate(models()):
        data = input_for(model, np.random.default_rng(1000 + index))
        yield name, write(model), data, simulate(model, data)


def models() -> Iterator[tuple[str, Kmodel]]:
    """Names and models."""
    yield from convolutions()
    yield from layers_of_bytes()
    yield from layers_of_floats()
    yield "planes_between_memories", planes_between_memories()
    yield from at_the_edges()


def input_for(model: Kmodel, rng: np.random.Generator) -> bytes:
    """Random bytes, or floats of both signs where the first layer takes floats."""
    if isinstance(model.layers[0], Conv):
        return rng.integers(0, 256, model.input_bytes, np.uint8).tobytes()
    return rng.normal(0, 2, model.input_bytes // 4).astype("<f4").tobytes()


# -- convolutions ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Drawn:
    """How a random convolution is drawn."""

    shape: ConvShape
    wide: bool = False
    pad_value: int = 0
    zero_points: ZeroPoints = field(default_factory=ZeroPoints)
    channels_per_load: int = 0
    src: int = 0
    dst: int = HALF_RAM
    main_out: int | None = 0


def ramp(low: int, high: int) -> Activation:
    """Sixteen segments between two values of the batch norm that reach all bytes, with signed factors."""
    starts = [FIRST_START, *np.linspace(low, high, 15).astype(np.int64).tolist()]
    step = max(1, (high - low) // 14)
    shift = max(0, step.bit_length() + 6)
    mul = [((17 if index % 5 else -9) << shift) // step for index in range(16)]
    segments = [
        Segment(start, 0 if index == 0 else max(-32768, min(32767, mul[index])), shift, (index * 17) & 255)
        for index, start in enumerate(starts)
    ]
    return Activation(tuple(segments))


def draw(drawn: Drawn, rng: np.random.Generator, planes: Bytes | None = None) -> Conv:
    """A convolution whose batch norm brings what it makes of planes, or of random ones, to 0 .. 2^17, where its
    activation changes most."""
    argument = layer_argument(
        drawn.shape, src=drawn.src, dst=drawn.dst, wide=drawn.wide, pad_value=drawn.pad_value,
        zero_points=drawn.zero_points, channels_per_load=drawn.channels_per_load,
    )  # fmt: skip
    count = argument.out_channels * argument.kernel_elements
    weights = rng.integers(0, 65536, count).astype("<u2") if drawn.wide else rng.integers(0, 256, count).astype("u1")
    layer = conv(argument, weights.tobytes(), (), ramp(1 << 13, 15 << 13), drawn.main_out)
    planes = rng.integers(0, 256, layer.in_shape, np.uint8) if planes is None else planes
    values = kpu.accumulate(argument, planes, kpu.kernels(layer, wide_weights=drawn.wide))
    low, high = values.min(axis=(1, 2)), values.max(axis=(1, 2))
    mul = np.clip((1 << 32) // np.maximum(high - low, 1), 1, (1 << 23) - 1)
    add = np.clip(-(low * mul >> 15), -(1 << 31), (1 << 31) - 1)
    norms = tuple(BatchNorm(int(one), int(other), 15) for one, other in zip(mul, add, strict=True))
    return dataclasses.replace(layer, batch_norm=norms)


def one_convolution(drawn: Drawn, seed: int) -> Kmodel:
    """A model of one layer, whose result is the output."""
    layer = draw(drawn, np.random.default_rng(seed))
    memory = -(-layer.out_bytes // 8) * 8
    return Kmodel(0 if drawn.wide else EIGHT_BIT_WEIGHTS, memory, (Output(0, layer.out_bytes),), (layer,))


ZERO_POINTS = ZeroPoints(arg_x=-131, arg_w=-77, arg_add=131 * 77)
SHIFTED = ZeroPoints(arg_x=-33333, shr_x=8, arg_w=-7777777, shr_w=15, arg_add=-12345)


def drawn_convolutions() -> Iterator[tuple[str, Drawn]]:
    """Kernels, weights of 8 and 16 bits, depthwise, the three layouts, zero points, all pools, several loads."""
    for wide in (False, True):
        bits = 16 if wide else 8
        for kernel in (1, 3):
            for width in (7, 16, 23, 32, 33, 70):
                shape = ConvShape((5, 6, width), 7, kernel)
                yield f"conv{kernel}x{kernel}_w{bits}_{width}wide", Drawn(shape, wide, 9, ZERO_POINTS)
            shape = ConvShape((6, 9, 13), 6, kernel, depthwise=True)
            yield f"dwconv{kernel}x{kernel}_w{bits}", Drawn(shape, wide, 200, ZERO_POINTS)
            yield f"dwconv{kernel}x{kernel}_w{bits}_shifted", Drawn(shape, wide, 3, SHIFTED)
            shape = ConvShape((5, 8, 11), 9, kernel)
            yield f"conv{kernel}x{kernel}_w{bits}_shifted", Drawn(shape, wide, 5, SHIFTED)
            loads = Drawn(ConvShape((3, 5, 6), 10, kernel), wide, 1, ZERO_POINTS, channels_per_load=3)
            yield f"conv{kernel}x{kernel}_w{bits}_four_loads", loads
        shape = ConvShape((40, 5, 9), 200, 3)
        yield f"conv3x3_w{bits}_loads_by_size", Drawn(shape, wide, 1, ZERO_POINTS)
    for pool in range(10):
        for height, width in ((8, 16), (9, 37)):
            shape = ConvShape((3, height, width), 5, 3, pool=pool)
            yield f"pool{pool}_{height}x{width}", Drawn(shape, False, 128, ZERO_POINTS)


def convolutions() -> Iterator[tuple[str, Kmodel]]:
    for seed, (name, drawn) in enumerate(drawn_convolutions()):
        yield name, one_convolution(drawn, seed)


# -- layers of the CPU -----------------------------------------------------------------------------------------------
def after_convolution(out_channels: int, height: int, width: int) -> Conv:
    """A 1x1 convolution whose planes lie at the start of main memory."""
    shape = ConvShape((3, height, width), out_channels)
    return draw(Drawn(shape, zero_points=ZERO_POINTS), np.random.default_rng(height * 100 + width))


def on_bytes(layers: Sequence[Layer], out: int, size: int, planes: tuple[int, int, int] = (5, 6, 7)) -> Kmodel:
    """Planes of bytes at 0, then layers, then an output."""
    first = after_convolution(*planes)
    return Kmodel(EIGHT_BIT_WEIGHTS, -(-(out + size) // 8) * 8, (Output(out, size),), (first, *layers))


def layers_of_bytes() -> Iterator[tuple[str, Kmodel]]:
    """Planes of 5x6x7 lie at 0; results lie at 256 and behind."""
    rng = np.random.default_rng(7)
    flag, count = TO_MAIN, 5 * 6 * 7
    same = cpu.QAdd(flag, 0, 8, 256, 200, -13, 901, 4, -200, 333, 4, 31, 700, 14)
    yield "q_add_same_shifts", on_bytes([same], 256, 200)
    other = cpu.QAdd(flag, 0, 3, 256, 197, -100, 1201, 7, 5, -900, 5, 128, 3001, 15)
    yield "q_add_other_shifts_below_zero", on_bytes([other], 256, 197)
    flat = cpu.QAdd(flag, 0, 3, 256, 192, 0, 1, 0, -20, 1, 0, 2, 1, 0)
    yield "q_add_no_shift", on_bytes([flat], 256, 192)
    pool = cpu.QMaxPool(flag, 0, 256, 7, 6, 5, 4, 3, 5, 3, 2, 2, 2, 1, 0)
    yield "q_max_pool", on_bytes([pool], 256, 60)
    border = cpu.QMaxPool(flag, 0, 256, 7, 6, 5, 7, 8, 4, 3, 5, 1, 1, 1, 3)
    yield "q_max_pool_over_borders", on_bytes([border], 256, 224)
    table = rng.integers(0, 256, 256, np.uint8).tobytes()
    yield "requantize", on_bytes([cpu.Requantize(flag, 0, 256, count, table)], 256, count)
    yield "dequantize", on_bytes([cpu.Dequantize(flag, 1, 256, count, 0.0173, -1.913)], 256, count * 4)
    params = tuple((float(np.float32(scale)), float(np.float32(bias))) for scale, bias in rng.normal(0, 1, (5, 2)))
    channelwise = cpu.ChannelwiseDequant(flag, 0, 256, 5, 42, params)
    yield "channelwise_dequant", on_bytes([channelwise], 256, count * 4)
    yield "q_concat", on_bytes([cpu.QConcat(flag, 256, 3, ((3, 50), (0, 7), (100, 110)))], 256, 167)
    yield "q_flatten", on_bytes([cpu.QFlatten(flag, 0, 256, 7, 6, 5)], 256, count)
    for width, height in ((14, 12), (5, 4), (11, 17)):
        size = 5 * width * height
        resize = cpu.QResizeNn(flag, 0, 256, 7, 6, 5, width, height, 1)
        yield f"q_resize_nn_{width}x{height}", on_bytes([resize], 256, size)
    yield "quantize_again", on_bytes(
        [cpu.Dequantize(flag, 0, 256, count, 0.037, -3.3), cpu.Quantize(flag, 256, 1100, count, 0.031, -2.9)],
        1100, count,
    )  # fmt: skip
    padding = cpu_padding()
    yield "add_and_remove_padding", padding


def cpu_padding() -> Kmodel:
    """Bytes become pixel (0, 0) of 4x4 planes; a 1x1 convolution later, they are taken out again."""
    channels = 11
    first = after_convolution(channels, 4, 4)
    shape = ConvShape((channels, 4, 4), 6)
    second = draw(Drawn(shape, src=100, dst=HALF_RAM + 500, main_out=512), np.random.default_rng(5))
    layers = (first, RemovePadding(TO_MAIN, 0, 256, channels), AddPadding(0, 256, 100, channels), second,
              RemovePadding(TO_MAIN, 512, 640, 6))  # fmt: skip
    return Kmodel(EIGHT_BIT_WEIGHTS, 648, (Output(256, channels), Output(640, 6)), layers)


def planes_between_memories() -> Kmodel:
    """Convolutions that stay in the KPU's RAM, an upload, and three outputs."""
    rng = np.random.default_rng(11)
    layers: list[Layer] = [
        draw(Drawn(ConvShape((3, 20, 36), 8, 3, pool=1), dst=20000, main_out=None, pad_value=7), rng),
        draw(Drawn(ConvShape((8, 10, 18), 8, 3, depthwise=True), src=20000, dst=500, main_out=0), rng),
        draw(Drawn(ConvShape((8, 10, 18), 5), src=500, dst=20000, main_out=1440), rng),
        Upload(0, 0, 3000, 18, 10, 8),
        draw(Drawn(ConvShape((8, 10, 18), 4, 3, pool=5), src=3000, dst=9, main_out=2344), rng),
    ]
    outputs = (Output(0, 1440), Output(1440, 900), Output(2344, 4 * 5 * 9))
    return Kmodel(EIGHT_BIT_WEIGHTS, 2528, outputs, tuple(layers))


def fully_connected(inputs: int, outputs: int, act: int, out: int, seed: int = 3) -> cpu.FullyConnected:
    rng = np.random.default_rng(seed)
    weights = (rng.normal(0, 1, (outputs, inputs)) * 2.0 ** rng.integers(-12, 0, (outputs, inputs))).astype("<f4")
    bias = rng.normal(0, 1, outputs).astype("<f4")
    return cpu.FullyConnected(TO_MAIN, 0, out, inputs, outputs, act, weights.tobytes(), bias.tobytes())


def on_floats(layers: Sequence[Layer], out: int, size: int, count: int = 60) -> Kmodel:
    """`count` floats at 64, made of 16 floats at 0, then layers, then an output."""
    first = fully_connected(16, count, 0, 64)
    memory = -(-max(out + size, 64 + count * 4) // 8) * 8
    return Kmodel(EIGHT_BIT_WEIGHTS, memory, (Output(out, size),), (first, *layers))


def layers_of_floats() -> Iterator[tuple[str, Kmodel]]:
    """60 floats lie at 64; results lie at 320 and behind."""
    flag = TO_MAIN
    for act, name in enumerate(("linear", "relu", "relu6")):
        for inputs in (1, 16, 37):
            layer = fully_connected(inputs, 13, act, 152)
            yield f"fc_{name}_{inputs}", Kmodel(1, 152 + 56, (Output(152, 52),), (layer,))
    yield "add", on_floats([cpu.Add(flag, 64, 68, 320, 59)], 320, 59 * 4)
    yield "gap", on_floats([cpu.Gap(flag, 64, 320, 7, 8)], 320, 32)
    for act in range(3):
        pool = cpu.AvgPool(flag, 64, 320, 5, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 1, act)
        yield f"avg_pool_act{act}", on_floats([pool], 320, 18 * 4)
    yield "quantize", on_floats([cpu.Quantize(flag, 64, 320, 60, 0.119, -11.7)], 320, 60)
    yield "quantize_of_one_sign", on_floats([cpu.Quantize(flag, 64, 320, 60, -0.05, 1.25)], 320, 60)
    yield "l2_norm", on_floats([cpu.L2Norm(flag, 64, 320, 51)], 320, 51 * 4)
    yield "softmax", on_floats([cpu.Softmax(flag, 64, 320, 60)], 320, 240)
    below = cpu.AvgPool(flag, 64, 320, 60, 1, 1, 60, 1, 1, 1, 1, 1, 1, 0, 0, 2)
    yield "logistic", on_floats([cpu.Logistic(flag, 64, 320, 60)], 320, 240)
    yield "logistic_of_relu6", on_floats([below, cpu.Logistic(flag, 320, 560, 60)], 560, 240)
    yield "concat", on_floats([cpu.Concat(flag, 320, 2, ((68, 100), (64, 40)))], 320, 140)
    yield "flatten", on_floats([cpu.Flatten(flag, 64, 320, 5, 4, 3)], 320, 240)
    for width, height in ((10, 8), (3, 7)):
        size = 3 * width * height * 4
        resize = cpu.ResizeNn(flag, 64, 320, 5, 4, 3, width, height, 0)
        yield f"resize_nn_{width}x{height}", on_floats([resize], 320, size)


def at_the_edges() -> Iterator[tuple[str, Kmodel]]:
    """Where the chip's software does something unexpected."""
    add = cpu.QAdd(TO_MAIN, 0, 3, 256, 197, -100, 1201, 7, 5, -900, 5, 128, 3001, 15)
    yield "q_add_ends_with_the_memory", dataclasses.replace(on_bytes([add], 256, 197), main_memory=453)
    below = [cpu.Quantize(TO_MAIN, 64, 320, 60, 0.119, -11.7), cpu.Dequantize(TO_MAIN, 320, 384, 60, 0.05, -150)]
    yield "softmax_far_below_zero", on_floats([*below, cpu.Softmax(TO_MAIN, 384, 624, 60)], 624, 240)


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, model, data, outputs in samples():
        (folder / f"{name}.kmodel").write_bytes(model)
        (folder / f"{name}.in").write_bytes(data)
        for index, output in enumerate(outputs):
            (folder / f"{name}.out{index}").write_bytes(output)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
