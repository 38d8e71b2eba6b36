"""Images: every function against its definition, on this machine and in emulators of ARM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.native_builds import QEMU
from tests.vision import cases as c
from tests.vision import definitions as d

COUNT = 200  # of drawn sizes, of each function
PIXELS = ("rgb", "bgr", "rgba", "bgra", "gray", "nv12", "nv21", "i420", "yuyv")

GROUPS: dict[str, Callable[[np.random.Generator, int], c.Case]] = {
    "convert": lambda random, i: c.conversion(random, i % 9 + 1, i // 9 % 9 + 1),
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


def drawn(name: str, count: int) -> list[c.Case]:
    random = np.random.default_rng(list(GROUPS).index(name))
    return [GROUPS[name](random, i) for i in range(count)]


def judge(program: Path, emulator: Sequence[str], folder: Path, count: int) -> None:
    """All groups in one run of a program."""
    calls = [case for name in GROUPS for case in drawn(name, count)]
    for case, answer in zip(calls, c.run(program, emulator, calls, folder), strict=True):
        case.judge(answer)


@pytest.mark.parametrize("program", ["vision_cases", "vision_cases_portable"])
def test_on_this_machine(program: str, tmp_path: Path) -> None:
    judge(c.built(program), [], tmp_path, COUNT)


@pytest.mark.slow
def test_nothing_beside_the_images_is_read_or_written(tmp_path: Path) -> None:
    judge(c.built("vision_cases", variant="asan"), [], tmp_path, COUNT)


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_in_an_emulator(abi: str, tmp_path: Path) -> None:
    judge(c.built("vision_cases", abi), QEMU[abi], tmp_path, COUNT)
