"""Images: every function against its definition, on this machine and in emulators of ARM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.native_builds import QEMU
from tests.vision import cases as c
from tests.vision import definitions as d

# Of drawn sizes, of each function: the first ones, and all.
COUNTS = (40, pytest.param(200, marks=pytest.mark.sweep))
PIXELS = ("rgb", "bgr", "rgba", "bgra", "gray", "nv12", "nv21", "i420", "yuyv")

GROUPS: dict[str, Callable[[np.random.Generator, int], c.Case]] = {
    "convert": lambda random, i: c.conversion(random, i % 9 + 1, (i + i // 9) % 9 + 1),
    "nearest": lambda random, i: c.resizing(random, d.NEAREST),
    "bilinear": lambda random, i: c.resizing(random, d.BILINEAR),
    "area": lambda random, i: c.resizing(random, d.AREA),
    "rotate": lambda random, i: c.turn(random, (90, 180, 270)[i % 3], 0),
    "flip": lambda random, i: c.turn(random, 0, i % 3 + 1),
    "warp_nearest": lambda random, i: c.warping(random, d.NEAREST),
    "warp": lambda random, i: c.warping(random, d.BILINEAR),
    "tensor_f32": lambda random, i: c.tensor(random, i % 9 + 1, d.F32),
    "tensor_f16": lambda random, i: c.tensor(random, i % 9 + 1, d.F16),
    "tensor_s8": lambda random, i: c.tensor(random, i % 9 + 1, d.S8),
    "tensor_u8": lambda random, i: c.tensor(random, i % 9 + 1, d.U8),
}


@cache
def drawn(count: int) -> list[c.Case]:
    """Of all groups."""
    made = []
    for seed, case in enumerate(GROUPS.values()):
        random = np.random.default_rng(seed)
        made += [case(random, i) for i in range(count)]
    return made


def judge(program: Path, emulator: Sequence[str], folder: Path, count: int) -> None:
    """All groups in one run of a program."""
    calls = drawn(count)
    for case, answer in zip(calls, c.run(program, emulator, calls, folder), strict=True):
        case.judge(answer)


@pytest.mark.parametrize("filter_", [d.NEAREST, d.BILINEAR, d.AREA])
def test_borders_are_defined_as_if_they_were_in_the_image(filter_: int) -> None:
    """What the definitions mix is what a resize of a larger image gives."""
    random = np.random.default_rng(filter_)
    for i in range(60):
        width, height = (int(random.integers(1, 30)) for _ in range(2))
        out = (int(random.integers(1, 30)), int(random.integers(1, 30)))
        image, fill = random.integers(0, 256, (height, width, 3), np.uint8), (20, 120, 220, 0)
        fit = (d.PAD, d.PAD_CORNER)[i % 2] + int(random.choice([0, d.DOWN, d.UP]))
        view = d.View(0, 0, width, height, filter_, int(random.choice([0, 90, 180, 270])), i % 4, fit, fill)
        left, top, across, down = d.padded(view, out[0], out[1])
        whole = np.empty((down, across, 3))
        whole[:] = fill[:3]
        whole[-top : height - top, -left : width - left] = image
        size = out[::-1] if view.rotation % 180 else out
        larger = d.resampled(whole, d.Axis(0, across, size[0]), d.Axis(0, down, size[1]), filter_)
        made = d.tensor_bytes(d.RGB, [image], (width, height), d.FULL, view, *out, d.RGB)
        assert np.abs(made - d.turned(larger, view.rotation, view.flip)).max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("count", COUNTS)
def test_on_this_machine(count: int, tmp_path: Path) -> None:
    for program in ("vision_cases", "vision_cases_portable"):
        judge(c.built(program), [], tmp_path, count)


@pytest.mark.slow
@pytest.mark.parametrize("count", COUNTS)
def test_nothing_beside_the_images_is_read_or_written(count: int, tmp_path: Path) -> None:
    judge(c.built("vision_cases", variant="asan"), [], tmp_path, count)


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_in_an_emulator(abi: str, count: int, tmp_path: Path) -> None:
    judge(c.built("vision_cases", abi), QEMU[abi], tmp_path, count)
