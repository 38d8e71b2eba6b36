"""Boxes of YOLO v2: the C beside the interpreter against NumPy, on drawn outputs and as part of a program."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import buildtool
from buildtool.errors import ConfigError
from buildtool.ir.operator import Array
from buildtool.targets.k210.boxes import Box, Regions, box_of, boxes, regions
from buildtool.targets.k210.format.kmodel import read
from buildtool.targets.k210.simulation.simulator import simulate
from buildtool.workflow import build
from tests.native_builds import command
from tests.targets.k210.building import as_file, described, on_riscv
from tests.targets.k210.generating import Net
from tests.targets.kpu.builds import program

WHERE = 2e-6  # of the picture
Case = tuple[Regions, Array, int]


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return program("find_boxes.c", tmp_path_factory.mktemp("finder"), ["-fsanitize=address,undefined"])


def found_by(finder: Path, cases: Sequence[Case], file: Path) -> list[list[Box]]:
    """What the C finds in each."""
    data = b""
    for one, output, room in cases:
        head = (one.rows, one.columns, one.classes, len(one.sizes), one.threshold, one.overlap, room)
        data += struct.pack("<4I2fI", *head) + np.array(one.sizes, "<f4").tobytes() + output.astype("<f4").tobytes()
    file.write_bytes(data)
    parts = command([finder, file]).split("end\n")[:-1]
    assert len(parts) == len(cases)
    listed = []
    for part in parts:
        status, *lines = part.splitlines()
        assert status == "ok"
        rows = [[float(word) for word in line.split()] for line in lines]
        listed.append([box_of([*row[2:], row[1], row[0]]) for row in rows])
    return listed


def drawn(rng: np.random.Generator) -> Case:
    """Regions of any size; objects are rare or everywhere, boxes large, so that many overlap."""
    rows, columns, classes, anchors = (int(rng.integers(1, most)) for most in (13, 13, 21, 6))
    sizes = tuple((float(side), float(other)) for side, other in rng.uniform(0.3, 6, (anchors, 2)).astype(np.float32))
    threshold, overlap = (float(np.float32(rng.uniform(low, high))) for low, high in ((0.02, 0.6), (0.1, 0.7)))
    output = rng.normal(0, 1.5, (anchors, 5 + classes, rows, columns)).astype(np.float32)
    output[:, 4] += rng.choice([-3.0, 0.0, 2.0])
    output[:, 5:] *= 2
    output[:, 2:4] /= 3
    one = Regions(rows, columns, classes, sizes, threshold, overlap)
    return one, output.reshape(-1, rows, columns), rows * columns * anchors


def assert_near(got: Sequence[Box], wanted: Sequence[Box]) -> None:
    assert [box.label for box in got] == [box.label for box in wanted]
    assert np.allclose([box.probability for box in got], [box.probability for box in wanted], rtol=1e-5, atol=0)
    for name in ("left", "top", "right", "bottom"):
        assert np.allclose([getattr(box, name) for box in got], [getattr(box, name) for box in wanted], atol=WHERE)


@pytest.mark.slow
def test_drawn_outputs_as_in_numpy(finder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(26)
    cases = [drawn(rng) for _ in range(60)]
    counts, dropped = [], 0
    for (one, output, _), got in zip(cases, found_by(finder, cases, tmp_path / "cases"), strict=True):
        wanted = boxes(one, output)
        assert_near(got, wanted)
        counts.append(len(wanted))
        dropped += len(boxes(replace(one, overlap=1.0), output)) - len(wanted)
    assert min(counts) == 0
    assert max(counts) > 50
    assert dropped > 200, "few boxes overlap"


@pytest.mark.slow
def test_little_room_keeps_the_most_probable_ones(finder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    cases = [replace_room(drawn(rng), room) for room in (0, 1, 2, 7, 30) for _ in range(4)]
    for (one, output, room), got in zip(cases, found_by(finder, cases, tmp_path / "cases"), strict=True):
        every = boxes(replace(one, overlap=1.0), output)[:room]
        assert len(got) <= room
        wanted = {round(box.probability, 4) for box in every}
        assert {round(box.probability, 4) for box in got} <= wanted
        assert not every or round(got[0].probability, 4) == round(every[0].probability, 4)


def replace_room(case: Case, room: int) -> Case:
    return case[0], case[1], room


def test_equal_boxes_of_one_class_are_one(finder: Path, tmp_path: Path) -> None:
    """Two anchors of one size that give the same numbers; another class in the same place stays."""
    output = np.zeros((2, 7, 1, 1), np.float32)
    output[:, 4], output[:, 5] = 4, 9
    one = Regions(1, 1, 2, ((0.5, 0.25), (0.5, 0.25)))
    other = output.copy()
    other[1, 5:] = np.array([0, 9]).reshape(2, 1, 1)
    found, both = found_by(finder, [(one, output, 2), (one, other, 2)], tmp_path / "cases")
    assert [(box.left, box.top, box.right, box.bottom, box.label) for box in found] == [(0.25, 0.375, 0.75, 0.625, 0)]
    assert [box.label for box in both] == [0, 1]


def test_any_numbers_end_well(finder: Path, tmp_path: Path) -> None:
    """Not numbers, infinities and the largest floats: under sanitizers, edges stay within the picture."""
    rng = np.random.default_rng(8)
    cases = []
    for _ in range(40):
        one, output, room = drawn(rng)
        wild = rng.choice([np.nan, np.inf, -np.inf, 3e38, -3e38, 88.8, 0.0], output.shape).astype(np.float32)
        cases.append((one, np.where(rng.uniform(size=output.shape) < 0.3, wild, output), room))
    for found in found_by(finder, cases, tmp_path / "cases"):
        for box in found:
            assert 0 < box.probability <= 1
            assert all(0 <= edge <= 1 for edge in (box.left, box.top, box.right, box.bottom))


DETECTOR = "anchors: [0.6, 0.8, 1.5, 1.0, 2.5, 3.0], box_threshold: 0.15, box_overlap: 0.35"


@pytest.mark.slow
def test_the_program_tells_the_boxes(tmp_path: Path) -> None:
    net = Net(11)
    x = net.pool(net.layer(net.input(1, 32, 48, 3), 12))
    x = net.layer(net.pool(net.layer(x, 24)), 32)
    file = as_file(net.finish(net.layer(x, 3 * 9, 1, act="")), tmp_path / "net.onnx")
    deployment = described({"net": file}, tmp_path)
    text = deployment.read_text()
    deployment.write_text(text.replace("    runtime: kpu\n", f"    runtime: kpu\n    kpu: {{{DETECTOR}}}\n"))
    folder = build(deployment, options=buildtool.Options(tmp_path / "build")).folder
    model = read((folder / "lib" / "k210" / "net.kmodel").read_bytes())
    (output,) = simulate(model, (folder / "lib" / "k210" / "sdk" / "net.sample").read_bytes())
    planes = np.frombuffer(output, "<f4").reshape(27, 8, 12)
    one = Regions(8, 12, 4, ((0.6, 0.8), (1.5, 1.0), (2.5, 3.0)), 0.15, 0.35)
    wanted = boxes(one, planes)
    assert len(wanted) > 3
    said, _ = on_riscv(folder / "lib" / "k210" / "net.elf", tmp_path)
    rows = [[float(number) for number in re.findall(r"-?\d+\.?\d*", line)]
            for line in said.splitlines() if line.startswith("box ")]  # fmt: skip
    assert [row[0] for row in rows] == list(range(len(wanted)))
    assert_near([box_of([*row[3:], row[2], row[1]]) for row in rows], wanted)
    header = (folder / "include" / "nets" / "net.h").read_text()
    user = tmp_path / "user.c"
    user.write_text(
        f'#include "lathe_kpu.h"\n{header}\nstatic const float sizes[] = LATHE_NET_ANCHOR_SIZES;\n'
        "const lathe_kpu_regions regions = LATHE_NET_REGIONS(sizes);\n"
        '_Static_assert(sizeof(sizes) / sizeof(sizes[0]) == 6, "width and height of three anchors");\n'
    )
    command(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", user, "-I", folder / "include", "-o",
             tmp_path / "user.o"])  # fmt: skip


@pytest.mark.parametrize(
    ("anchors", "shape", "what"),
    [([1.0, 2.0, 3.0], (14, 7, 7), "`anchors` has 3 numbers"),
     ([1.0, 2.0], (5, 7, 7), "an output of 5 x 7 x 7 is none of a YOLO v2 with 1 anchor"),
     ([1.0, 2.0, 3.0, 4.0], (13, 7, 7), "an output of 13 x 7 x 7 is none of a YOLO v2 with 2 anchors"),
     ([1.0, 2.0], (10,), "an output of 10 is none of a YOLO v2 with 1 anchor")],
)  # fmt: skip
def test_outputs_that_are_none_of_a_yolo(anchors: list[float], shape: tuple[int, ...], what: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(what)) as caught:
        regions({"anchors": anchors}, shape, "net")
    assert caught.value.problems[0].rule


def test_settings_that_are_left_out_have_their_documented_values() -> None:
    assert regions({"box_threshold": 0.2}, (18, 7, 7), "net") is None
    assert regions({"anchors": [1.0, 2.0, 3.0, 4.0]}, (18, 7, 9), "net") == Regions(7, 9, 4, ((1, 2), (3, 4)), 0.5, 0.3)
