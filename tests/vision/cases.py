"""Calls of native/tests/vision_cases.cc: what is drawn, what it has to give, and how both are compared."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.native_builds import build
from tests.vision import definitions as d
from tests.vision.definitions import Array

FUNCTIONS = {
    **{name: number for number, name in enumerate(("convert", "resize", "rotate", "flip", "warp", "to_tensor"))},
    **{name: 10 + number for number, name in enumerate(("softmax", "top_k", "yolo", "ssd", "nms", "boxes_back"))},
    **{name: 16 + number for number, name in enumerate(("keypoints", "ctc_greedy", "ctc_beam", "mask_to_alpha"))},
}


@dataclass(frozen=True)
class Answer:
    code: int
    buffers: list[bytes]


@dataclass(frozen=True)
class Case:
    """A call, and what judges its answer: it asserts."""

    function: str
    ints: Sequence[int]
    floats: Sequence[float]
    buffers: Sequence[bytes]
    judge: Callable[[Answer], None]

    def record(self) -> bytes:
        head = struct.pack("<4I", FUNCTIONS[self.function], len(self.ints), len(self.floats), len(self.buffers))
        numbers = struct.pack(f"<{len(self.ints)}i{len(self.floats)}f", *self.ints, *self.floats)
        return head + numbers + b"".join(struct.pack("<I", len(buffer)) + buffer for buffer in self.buffers)


def built(program: str, abi: str = "host", variant: str = "vision") -> Path:
    """A program of native/tests, without compiling any kernel."""
    folder = build(program, abi=abi, variant=variant, options=["-DLATHE_BUILD_TESTS=ON"])
    return folder / "tests" / program


def run(program: Path, emulator: Sequence[str], cases: Sequence[Case], folder: Path) -> list[Answer]:
    """The answers of a program."""
    calls, answers = folder / "calls", folder / "answers"
    calls.write_bytes(struct.pack("<I", len(cases)) + b"".join(case.record() for case in cases))
    done = subprocess.run([*emulator, program, calls, answers], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    data, at, made = answers.read_bytes(), 0, []
    for _ in cases:
        code, count = struct.unpack_from("<iI", data, at)
        at, buffers = at + 8, []
        for _ in range(count):
            (size,) = struct.unpack_from("<I", data, at)
            buffers.append(data[at + 4 : at + 4 + size])
            at += 4 + size
        made.append(Answer(code, buffers))
    assert at == len(data)
    return made


@dataclass
class Drawn:
    """An image in one buffer, with gaps behind its rows and between its planes."""

    pixels: int
    meaning: int
    width: int
    height: int
    strides: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    memory: Array = field(default_factory=lambda: np.zeros(0, np.uint8))

    @staticmethod
    def of(random: np.random.Generator, pixels: int, width: int, height: int, meaning: int = d.FULL) -> Drawn:
        made = Drawn(pixels, meaning, width, height)
        at = 0
        for rows, elements, size in d.plane_shapes(pixels, width, height):
            stride = elements * size + int(random.choice([0, 0, 1, 5, 16]))
            made.offsets.append(at)
            made.strides.append(stride)
            at += (rows - 1) * stride + elements * size  # the last row ends the memory
        made.memory = random.integers(0, 256, at, np.uint8)
        if random.integers(4) == 0:  # extremes, where sums overflow
            made.memory = random.choice(np.array([0, 255], np.uint8), at)
        return made

    def ints(self) -> list[int]:
        strides = [*self.strides, 0, 0, 0][:3]
        offsets = [*self.offsets, -1, -1, -1][:3]
        return [self.pixels, self.meaning, self.width, self.height, *strides, *offsets]

    def views(self, memory: Array) -> list[Array]:
        shapes = d.plane_shapes(self.pixels, self.width, self.height)
        return [
            np.lib.stride_tricks.as_strided(memory[at:], shape, (stride, shape[2], 1))
            for shape, stride, at in zip(shapes, self.strides, self.offsets, strict=True)
        ]

    def planes(self) -> list[Array]:
        return self.views(self.memory)

    def judge(self, answer: Answer, expected: Sequence[Array], most: float) -> None:
        """The planes are within `most` steps, and nothing else was written."""
        assert answer.code == 0
        memory = np.frombuffer(answer.buffers[0], np.uint8).copy()
        assert memory.size == self.memory.size
        touched = np.zeros_like(memory)
        for plane, wanted, mark in zip(self.views(memory), expected, self.views(touched), strict=True):
            assert plane.shape == wanted.shape
            difference = np.abs(plane.astype(float) - wanted)
            assert difference.max() <= most, (
                self,
                difference.max(),
                np.unravel_index(difference.argmax(), plane.shape),
            )
            mark[:] = 1
        assert np.array_equal(memory[touched == 0], self.memory[touched == 0])


def side(random: np.random.Generator, most: int = 70) -> int:
    """A length: small ones, primes and those beside the widths of vectors are as likely as others."""
    return int(
        random.choice([random.integers(1, 6), random.choice([7, 8, 15, 16, 17, 31, 32, 33]), random.integers(1, most)])
    )


def image_case(
    function: str, source: Drawn, target: Drawn, extra: Sequence[int], expected: Sequence[Array], most: float
) -> Case:
    return Case(
        function,
        [*source.ints(), *target.ints(), *extra],
        [],
        [source.memory.tobytes(), target.memory.tobytes()],
        lambda answer: target.judge(answer, expected, most),
    )


def conversion(random: np.random.Generator, pixels: int, to: int) -> Case:
    width, height = side(random), side(random, 9)
    if random.integers(8) == 0:
        width = int(random.integers(250, 530))  # several tiles
    meaning = int(random.integers(3))
    source = Drawn.of(random, pixels, width, height, meaning)
    target = Drawn.of(random, to, width, height, meaning)
    expected = d.convert(pixels, source.planes(), width, height, meaning, to, meaning)
    # Weights of brightness have seven bits. Within a step of the standards; RGB of Y, U and V is exact.
    exact = to not in d.YUV_FORMATS
    return image_case("convert", source, target, [], expected, 0 if exact else 1)


def resizing(random: np.random.Generator, filter_: int) -> Case:
    pixels = int(random.choice([1, 2, 3, 4, 5, 6, 7, 8]))
    source = Drawn.of(random, pixels, side(random), side(random))
    target = Drawn.of(random, pixels, side(random, 300), side(random))
    expected = d.resize(source.planes(), target.planes(), filter_)
    return image_case("resize", source, target, [filter_], expected, 0 if filter_ == d.NEAREST else 1)


def turn(random: np.random.Generator, rotation: int, flip: int) -> Case:
    pixels = int(random.integers(1, 9))
    width, height = side(random), side(random)
    source = Drawn.of(random, pixels, width, height)
    target = Drawn.of(random, pixels, *((height, width) if rotation % 180 else (width, height)))
    expected = [d.turned(plane, rotation, flip) for plane in source.planes()]
    function, extra = ("rotate", rotation) if rotation else ("flip", flip)
    return image_case(function, source, target, [extra], expected, 0)


def warping(random: np.random.Generator, filter_: int) -> Case:
    pixels = int(random.integers(1, 6))
    source = Drawn.of(random, pixels, side(random), side(random))
    target = Drawn.of(random, pixels, side(random), side(random))
    angle, scale = random.uniform(0, 6.28), random.uniform(0.3, 3)
    turn_x, turn_y = np.cos(angle) * scale, np.sin(angle) * scale
    shift = random.uniform(-20, 40, 2)
    matrix = np.array([turn_x, -turn_y, shift[0], turn_y, turn_x, shift[1]], np.float32)
    fill = np.array([10, 20, 30, 40])
    expected = d.warp(source.planes()[0], target.width, target.height, matrix.astype(float), filter_, fill)
    case = image_case("warp", source, target, [filter_], [expected], 1)
    return Case(case.function, case.ints, [float(x) for x in matrix], case.buffers, case.judge)


_TYPES = {d.F32: np.float32, d.F16: np.float16, d.S8: np.int8, d.U8: np.uint8}


def tensor(random: np.random.Generator, pixels: int, dtype: int) -> Case:
    width, height = side(random), side(random)
    meaning = int(random.integers(3))
    source = Drawn.of(random, pixels, width, height, meaning)
    left, top = int(random.integers(width)), int(random.integers(height))
    part_width, part_height = int(random.integers(1, width - left + 1)), int(random.integers(1, height - top + 1))
    whole = random.integers(3) == 0
    out = (side(random, 300), side(random, 40))
    if random.integers(4) == 0:
        out = (width, height) if whole else (part_width, part_height)
    fill = tuple(int(x) for x in random.integers(0, 256, 4))
    filter_, fit = int(random.integers(3)), int(random.integers(5))
    fit += int(random.choice([0, d.DOWN, d.UP])) if fit else 0
    turns = int(random.choice([0, 90, 180, 270])), int(random.integers(4))
    size = (0, 0, width, height) if whole else (left, top, part_width, part_height)
    view = d.View(*size, filter_, *turns, fit, (fill[0], fill[1], fill[2], fill[3]))
    order, planes = int(random.integers(1, 6)), int(random.integers(2))
    channels = d.CHANNELS[order]
    mean, scale = random.uniform(0, 255, 4).astype(np.float32), random.uniform(-0.1, 0.1, 4).astype(np.float32)
    is_byte = dtype in (d.S8, d.U8)
    quantum, zero = (np.float32(0.04), int(random.integers(100))) if is_byte else (np.float32(0), 0)
    pixels_of = d.tensor_bytes(pixels, source.planes(), (width, height), meaning, view, *out, order)
    exact = (pixels_of - mean[:channels].astype(float)) * scale[:channels].astype(float)
    step = np.abs(scale[:channels].astype(float))
    if is_byte:
        exact, step = exact / float(quantum) + zero, step / float(quantum) + 1
        exact = np.clip(exact, *((-128, 127) if dtype == d.S8 else (0, 255)))
    bytes_ = exact.size * np.dtype(_TYPES[dtype]).itemsize

    def judge(answer: Answer) -> None:
        assert answer.code == 0
        made = np.frombuffer(answer.buffers[0], _TYPES[dtype]).astype(float)
        shape = (channels, out[1], out[0]) if planes else (out[1], out[0], channels)
        made = made.reshape(shape)
        made = made.transpose(1, 2, 0) if planes else made
        difference = np.abs(made - exact) / (step * 1.001 + np.abs(exact) * 1e-3 + 1e-4)
        assert difference.max() <= 1, (source, view, out, order, dtype, planes, difference.max())

    ints = [*source.ints(), *((0, 0, 0, 0) if whole else size), filter_, *turns, fit, *fill]
    ints += [dtype, order, planes, zero, *out, bytes_]
    return Case("to_tensor", ints, [*mean, *scale, quantum], [source.memory.tobytes()], judge)
