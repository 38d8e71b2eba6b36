"""What the interpreter writes to the registers of the chip: told by a register file that remembers.

The words are put together here, field by field, from the description of the KPU, and by nothing of Lathe.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.k210.format.arguments import ConvShape, ZeroPoints
from buildtool.targets.k210.format.kmodel import EIGHT_BIT_WEIGHTS, Kmodel, Output, write
from tests.native_builds import command
from tests.targets.k210.samples import Drawn, draw
from tests.targets.kpu.builds import program

SEEN_BY_DEVICES = 0x40000000  # how far below a cached address the KPU sees the same byte
CLEAR, MASK, THRESHOLD, EIGHT_BITS = "kpu 4", "kpu 3", "kpu 5", "kpu 8"


@pytest.fixture(scope="module")
def tracer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return program("register_trace.c", tmp_path_factory.mktemp("tracer"), ["-fsanitize=address,undefined"])


def two_layers() -> Kmodel:
    """A 3x3 convolution with a pool that stays with the KPU, and a depthwise one of it that goes to main memory."""
    rng = np.random.default_rng(21)
    zero_points = ZeroPoints(arg_x=-131, shr_x=3, arg_w=-77, shr_w=5, arg_add=-(1 << 37))
    shape = ConvShape((3, 20, 36), 10, 3, pool=1)
    first = Drawn(shape, pad_value=7, zero_points=zero_points, channels_per_load=4, src=5, dst=20000, main_out=None)
    shape = ConvShape((10, 10, 18), 10, 3, depthwise=True)
    second = Drawn(shape, pad_value=200, zero_points=ZeroPoints(arg_x=1), src=20000, dst=1000, main_out=16)
    return Kmodel(EIGHT_BIT_WEIGHTS, 1816, (Output(16, 1800),), (draw(first, rng), draw(second, rng)))


def trace(tracer: Path, folder: Path, how: str) -> tuple[list[str], dict[str, list[int]], str, bytes]:
    """The accesses, where things lie, the status, and the memory of the KPU in the end."""
    (folder / "model").write_bytes(write(two_layers()))
    (folder / "input").write_bytes(bytes(index % 251 for index in range(3 * 20 * 36)))
    lines = command([tracer, folder / "model", folder / "input", folder / "ram", how]).splitlines()
    accesses = [line for line in lines if line.startswith(("kpu", "dma"))]
    status = next(line for line in lines if line.startswith("status")).removeprefix("status ")
    named = [line.split() for line in lines if line not in accesses and not line.startswith("status")]
    places = {words[0]: [int(word, 16) for word in words[1:]] for words in named}
    return accesses, places, status, (folder / "ram").read_bytes()


def word(*fields: tuple[int, int, int]) -> int:
    """Lowest bit, number of bits, value."""
    made = 0
    for low, count, value in fields:
        assert -(1 << count) < value < 1 << count
        made |= (value & (1 << count) - 1) << low
    return made


def bus(place: int) -> int:
    """What 32 bits of a register hold of an address."""
    return (place - SEEN_BY_DEVICES) & 0xFFFFFFFF


def body(model: bytes, layer: int) -> tuple[int, ...]:
    """The six fields of a convolution's body, of a file with one output and two such layers."""
    return struct.unpack_from("<6I", model, 28 + 8 + 2 * 8 + layer * struct.unpack_from("<I", model, 28 + 8 + 4)[0])


def first_argument(file: int) -> list[int]:
    _, _, _, weights, norm, activation = body(write(two_layers()), 0)
    return [
        word((0, 1, 1), (3, 1, 0)),  # an interrupt in the end, no depthwise
        word((0, 15, 5), (32, 15, 20000)),
        word((0, 10, 3 - 1), (32, 10, 10 - 1), (48, 10, 4 - 1)),
        word((0, 10, 36 - 1), (10, 9, 20 - 1), (32, 10, 18 - 1), (42, 9, 10 - 1)),
        word((0, 3, 1), (4, 4, 1), (10, 1, 1), (16, 8, 15), (24, 8, 7), (32, 32, bus(file + norm))),
        word((0, 1, 1), (1, 6, 3 - 1), (15, 17, 4 * 3 * 9), (32, 32, bus(file + weights))),
        0,
        word((0, 15, 20), (16, 4, 1), (28, 3, 1), (31, 1, 1), (32, 32, bus(file + activation))),
        word((0, 15, 10), (16, 4, 1), (20, 3, 2)),
        word((0, 4, 5), (4, 4, 3), (8, 24, -77), (32, 24, -131)),
        word((0, 40, -(1 << 37))),
        word((0, 1, 0), (16, 16, 180 - 1), (32, 32, 1800 - 1)),  # nothing is sent out
    ]


def second_argument(file: int) -> list[int]:
    _, _, _, weights, norm, activation = body(write(two_layers()), 1)
    return [
        word((3, 1, 1)),  # depthwise; the DMA says when it is done
        word((0, 15, 20000), (32, 15, 1000)),
        word((0, 10, 10 - 1), (32, 10, 10 - 1), (48, 10, 10 - 1)),
        word((0, 10, 18 - 1), (10, 9, 10 - 1), (32, 10, 18 - 1), (42, 9, 10 - 1)),
        word((0, 3, 1), (10, 1, 1), (16, 8, 15), (24, 8, 200), (32, 32, bus(file + norm))),
        word((0, 1, 1), (15, 17, 10 * 9), (32, 32, bus(file + weights))),
        0,
        word((0, 15, 10), (16, 4, 1), (28, 3, 2), (31, 1, 1), (32, 32, bus(file + activation))),
        word((0, 15, 10), (16, 4, 1), (20, 3, 2)),
        word((32, 24, 1)),
        0,
        word((0, 1, 1), (16, 16, 180 - 1), (32, 32, 1800 - 1)),
    ]


@pytest.mark.slow
def test_registers_get_the_layers_word_for_word(tracer: Path, tmp_path: Path) -> None:
    accesses, places, status, _ = trace(tracer, tmp_path, "status")
    file, main, fifo = (places[name][0] for name in ("file", "main", "fifo"))
    channel = 32 + 5 * 32
    dma = [
        f"dma 2 {1:x}",  # the controller is on
        f"dma {channel + 19} {0xFFFFFFFF:x}",
        f"dma {channel} {fifo - SEEN_BY_DEVICES:x}",
        f"dma {channel + 1} {main + 16 - SEEN_BY_DEVICES:x}",
        f"dma {channel + 2} {1800 // 8 - 1:x}",
        # The target's bus, a source that stays, 64 bits each, eight at a time.
        f"dma {channel + 3} {word((2, 1, 1), (4, 1, 1), (8, 3, 3), (11, 3, 3), (14, 4, 2), (18, 4, 2)):x}",
        # From a device to memory, which asks for nothing; the line of channel 5.
        f"dma {channel + 4} {word((32, 3, 2), (36, 1, 1), (39, 4, 5)):x}",
        f"dma 3 {0x101 << 5:x}",
    ]
    assert status == "ok"
    assert accesses == [
        f"{CLEAR} 7", f"{MASK} 7", f"{THRESHOLD} {word((0, 4, 10), (4, 4, 1)):x}", f"{EIGHT_BITS} 1",
        f"{CLEAR} 7", f"{MASK} 6", *(f"kpu 0 {value:x}" for value in first_argument(file)), f"{CLEAR} 7", f"{MASK} 7",
        f"{CLEAR} 7", f"{MASK} 7", *dma, *(f"kpu 0 {value:x}" for value in second_argument(file)),
        f"{CLEAR} 7", f"{MASK} 7",
    ]  # fmt: skip
    assert places["select"] == [0, 22]  # channel 5 is the first of the second word


@pytest.mark.slow
def test_the_addresses_are_those_of_the_chip(tracer: Path, tmp_path: Path) -> None:
    _, places, _, _ = trace(tracer, tmp_path, "status")
    assert places["k210"] == [0x40800000, 0x40600000, 0x50000000, 0x50440064, 5]


def test_the_input_is_uploaded_row_by_row(tracer: Path, tmp_path: Path) -> None:
    *_, ram = trace(tracer, tmp_path, "status")
    rows = np.frombuffer(ram, np.uint8)[5 * 64 : 5 * 64 + 3 * 20 * 64].reshape(60, 64)
    image = np.array([index % 251 for index in range(3 * 20 * 36)], np.uint8).reshape(60, 36)
    assert np.array_equal(rows[:, :36], image)
    assert not rows[:, 36:].any()
    assert not any(ram[: 5 * 64])


def test_an_interrupt_ends_a_layer_too(tracer: Path, tmp_path: Path) -> None:
    accesses, _, status, _ = trace(tracer, tmp_path, "interrupt")
    assert status == "ok"
    assert len([access for access in accesses if access.startswith("kpu 0")]) == 24


def test_a_chip_that_does_not_answer_is_a_status(tracer: Path, tmp_path: Path) -> None:
    accesses, _, status, _ = trace(tracer, tmp_path, "never")
    assert status == "the KPU did not become ready"
    assert len([access for access in accesses if access.startswith("kpu 0")]) == 12
