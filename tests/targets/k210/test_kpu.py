"""The simulator of the KPU against loops that share no code with it."""

from __future__ import annotations

import dataclasses
import struct

import numpy as np
import pytest

from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.arguments import ConvShape, ZeroPoints
from buildtool.targets.k210.format.kmodel import EIGHT_BIT_WEIGHTS, Kmodel, Output, read, write
from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.format.tables import FIRST_START, Activation, BatchNorm, Segment
from buildtool.targets.k210.simulation import arithmetic, kpu
from buildtool.targets.k210.simulation.simulator import Simulator, simulate
from tests.targets.k210.samples import Drawn, draw, drawn_convolutions, input_for, one_convolution
from tests.targets.k210.slow_kpu import SlowConvolution, byte_place

CASES = dict(drawn_convolutions())


@pytest.mark.parametrize("name", [name for name in CASES if "loads_by_size" not in name])
def test_every_kernel_pool_layout_and_width_of_weights(name: str) -> None:
    model = one_convolution(CASES[name], seed=len(name))
    data = input_for(model, np.random.default_rng(len(name)))
    file = write(model)
    (got,) = simulate(read(file), data)
    assert got == SlowConvolution(file, read(file).places[0][0]).run(data)
    assert len(set(got)) > 20, "the case must tell something"


@pytest.mark.slow
@pytest.mark.parametrize("bits", [8, 16])
def test_loads_that_the_size_of_the_weights_asks_for(bits: int) -> None:
    model = one_convolution(CASES[f"conv3x3_w{bits}_loads_by_size"], seed=bits)
    data = input_for(model, np.random.default_rng(bits))
    file = write(model)
    slow = SlowConvolution(file, read(file).places[0][0])
    assert slow.loads > 1
    assert simulate(model, data) == [slow.run(data)]


def test_loads_may_lie_apart() -> None:
    """Each load begins `para_size` bytes behind the one before."""
    model = one_convolution(CASES["conv3x3_w8_four_loads"], 3)
    layer = model.layers[0]
    assert isinstance(layer, Conv)
    load = layer.argument.para_size
    weights = b"".join(
        layer.weights[start : start + load] + b"\xff" * 19 for start in range(0, len(layer.weights), load)
    )
    argument = dataclasses.replace(layer.argument, para_size=load + 19)
    apart = dataclasses.replace(layer, argument=argument, weights=weights[:-19])
    file = write(dataclasses.replace(model, layers=(apart,)))
    data = input_for(model, np.random.default_rng(3))
    assert simulate(read(file), data) == simulate(model, data)
    assert simulate(read(file), data) == [SlowConvolution(file, read(file).places[0][0]).run(data)]


@pytest.mark.parametrize("depthwise", [False, True])
def test_shifts_are_floors_for_each_input_channel(depthwise: bool) -> None:
    """One channel with three odd terms below zero: the floor of each is one less than the floor of their sum allows."""
    shape = ConvShape((3, 4, 4), 3, depthwise=depthwise)
    drawn = Drawn(shape, zero_points=ZeroPoints(arg_x=-1, shr_x=1, arg_w=-1, shr_w=2))
    layer = draw(drawn, np.random.default_rng(0))
    layer = dataclasses.replace(layer, weights=bytes([1] * len(layer.weights)))
    planes = np.full((3, 4, 4), 3, np.uint8)
    values = kpu.accumulate(layer.argument, planes, kpu.kernels(layer, wide_weights=False))
    # -3 >> 1 is -2, and -1 >> 2 is -1; over three channels of 3 * 1 each
    assert np.unique(values).tolist() == [3 - 2 - 1 if depthwise else 9 - 6 - 3]
    file = write(Kmodel(EIGHT_BIT_WEIGHTS, 48, (Output(0, 48),), (layer,)))
    slow = SlowConvolution(file, read(file).places[0][0])
    assert slow.accumulate([[[3] * 4] * 4] * 3, 0, 1, 1) == values[0, 1, 1]


def segments_of(*chosen: Segment) -> Activation:
    """These, then segments that no value reaches."""
    rest = 16 - len(chosen)
    return Activation((*chosen, *(Segment((1 << 35) - rest + index, 1, 0, 77) for index in range(rest))))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (FIRST_START, 5),  # the very start of the first segment
        (FIRST_START + 1, 5),
        (-1, 5),
        (0, 10),  # a segment begins with its start
        (1, 11),  # half a step goes up
        (2, 11),
        (3, 12),
        (99, 60),
        (100, 200),  # the next one falls
        (101, 200),  # -0.25
        (102, 200),  # -0.5 goes up
        (103, 199),
        (900, 0),  # kept within a byte
        (1000, 250),
        (1006, 255),
        ((1 << 35) - 14, 255),
        ((1 << 35) - 1, 77),  # the last segment
        (1 << 40, 255),
    ],
)
def test_edges_of_the_activation(value: int, expected: int) -> None:
    activation = segments_of(
        Segment(FIRST_START, 0, 0, 5), Segment(0, 1, 1, 10), Segment(100, -1, 2, 200), Segment(1000, 1, 0, 250)
    )
    assert kpu.activate(activation, np.array([value])).tolist() == [expected]
    slow = SlowConvolution.__new__(SlowConvolution)
    encoded = activation.encode()
    slow.segments, slow.biases = struct.unpack_from("<16Q", encoded), encoded[128:]
    assert slow.activate(value) == expected


def test_shifts_up_to_their_limit() -> None:
    values = np.array([-(1 << 62), -1, 0, 1, (1 << 62)])
    for shift, expected in ((0, values.tolist()), (63, [0, 0, 0, 0, 1]), (64, [0] * 5), (255, [0] * 5)):
        assert arithmetic.nearest(values, np.full(5, shift)).tolist() == expected


def test_batch_norm_shifts_down() -> None:
    shape = ConvShape((1, 4, 4), 2)
    layer = dataclasses.replace(
        draw(Drawn(shape), np.random.default_rng(1)),
        weights=b"\x01\x01",
        batch_norm=(BatchNorm(-1, 100, 1), BatchNorm(3, -1, 2)),
        activation=segments_of(Segment(FIRST_START), Segment(0, 1, 0, 0)),
    )
    planes = np.arange(16, dtype=np.uint8).reshape(1, 4, 4)
    result = kpu.run(layer, planes, wide_weights=False)
    assert result[0].reshape(-1).tolist() == [100 + (-x // 2) for x in range(16)]
    assert result[1].reshape(-1).tolist() == [max(0, (3 * x) // 4 - 1) for x in range(16)]


@pytest.mark.parametrize("width", [4, 16, 17, 32, 33, 64, 65, 130])
def test_planes_lie_as_the_chip_lays_them(width: int) -> None:
    rng = np.random.default_rng(width)
    planes = rng.integers(0, 256, (5, 3, width), np.uint8)
    ram = np.full(layout.RAM_BYTES, 170, np.uint8)
    layout.upload(ram, 7, planes)
    expected = np.full(layout.RAM_BYTES, 170, np.uint8)
    for (channel, y, x), value in np.ndenumerate(planes):
        expected[byte_place(7, width, 3, channel, y, x)] = value
    assert np.array_equal(ram, expected)
    assert np.array_equal(layout.download(ram, 7, 5, 3, width), planes)
    assert (7 + layout.units(width, 3, 5)) * 64 > byte_place(7, width, 3, 4, 2, width - 1)


def test_a_result_that_goes_to_main_memory_stays_in_the_ram_too() -> None:
    model = one_convolution(CASES["conv3x3_w8_23wide"], seed=4)
    data = input_for(model, np.random.default_rng(4))
    simulator = Simulator(model)
    (result,) = simulator.run(data)
    argument = read(write(model)).layers[0].argument  # type: ignore[attr-defined]
    planes = layout.download(simulator.ram, argument.dst, argument.out_channels, argument.out_h, argument.out_w)
    assert planes.tobytes() == result


@pytest.mark.slow
def test_random_layers() -> None:
    """Shapes, zero points and pools of all kinds."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        channels = int(rng.integers(1, 7))
        depthwise = bool(rng.integers(0, 2))
        shape = ConvShape(
            (channels, int(rng.integers(4, 10)), int(rng.integers(4, 40))),
            channels if depthwise else int(rng.integers(1, 9)),
            int(rng.choice([1, 3])), depthwise, int(rng.integers(0, 10)),
        )  # fmt: skip
        points = ZeroPoints(
            int(rng.integers(-(1 << 23), 1 << 23)), int(rng.integers(0, 16)),
            int(rng.integers(-(1 << 23), 1 << 23)), int(rng.integers(0, 16)), int(rng.integers(-(1 << 30), 1 << 30)),
        )  # fmt: skip
        drawn = Drawn(
            shape, bool(rng.integers(0, 2)), int(rng.integers(0, 256)), points, int(rng.integers(1, 4)),
            int(rng.integers(0, 1000)), int(rng.integers(16000, 17000)),
        )  # fmt: skip
        model = one_convolution(drawn, seed)
        data = input_for(model, rng)
        file = write(model)
        assert simulate(model, data) == [SlowConvolution(file, read(file).places[0][0]).run(data)], drawn
