"""The interpreter of kmodels against the simulator, to the last bit, and against files that somebody has damaged."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.k210.format.arguments import ConvShape, ZeroPoints
from buildtool.targets.k210.format.kmodel import EIGHT_BIT_WEIGHTS, Kmodel, Output, write
from buildtool.targets.k210.simulation.simulator import simulate
from tests.native_builds import build, command
from tests.targets.k210.samples import SHIFTED, ZERO_POINTS, Drawn, Sample, draw, input_for, samples
from tests.targets.kpu.builds import ROOM, objects, program

MUTATIONS = 500


@pytest.fixture(scope="module")
def all_samples() -> list[Sample]:
    return list(samples())


@pytest.fixture(scope="module")
def runner() -> Path:
    """Runs kmodels under sanitizers."""
    return build("lathe_kpu_run", variant="asan", source=ROOM) / "lathe_kpu_run"


def run(runner: Path, folder: Path, sample: Sample, threads: int = 1) -> list[bytes]:
    """The outputs of a sample."""
    name, model, data, wanted = sample
    (folder / f"{name}.kmodel").write_bytes(model)
    (folder / f"{name}.in").write_bytes(data)
    command([runner, folder / f"{name}.kmodel", folder / f"{name}.in", folder / f"{name}.out", str(threads)])
    return [(folder / f"{name}.out{index}").read_bytes() for index in range(len(wanted))]


@pytest.mark.slow
def test_every_layer_and_pool_gives_the_bytes_of_the_simulator(
    runner: Path, all_samples: list[Sample], tmp_path: Path
) -> None:
    different = [sample[0] for sample in all_samples if run(runner, tmp_path, sample) != sample[3]]
    assert len(all_samples) >= 100
    assert not different


def drawn_convolutions(rng: np.random.Generator) -> Iterator[Sample]:
    """Convolutions whose shapes fall on all edges of tiles: wide and narrow, many channels, each pool and kernel."""
    widths = (4, 5, 7, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 112, 255, 512)
    for index in range(40):
        pool, kernel, wide = index % 10, 1 + 2 * int(rng.integers(0, 2)), bool(rng.integers(0, 3) == 0)
        width, height = int(rng.choice(widths)), int(rng.choice((4, 5, 6, 9, 15, 28, 33)))
        most = max(1, min(90, 8000 // width))
        channels, outputs = (int(count) for count in rng.integers(1, most + 1, 2))
        depthwise = bool(rng.integers(0, 4) == 0)
        shape = ConvShape((channels, height, width), channels if depthwise else outputs, kernel, depthwise, pool)
        zero_points = (ZERO_POINTS, SHIFTED, ZeroPoints())[int(rng.integers(0, 3))]
        layer = draw(Drawn(shape, wide, int(rng.integers(0, 256)), zero_points), rng)
        memory = -(-layer.out_bytes // 8) * 8
        model = Kmodel(0 if wide else EIGHT_BIT_WEIGHTS, memory, (Output(0, layer.out_bytes),), (layer,))
        data = input_for(model, rng)
        yield f"{index}_{shape}", write(model), data, simulate(model, data)


@pytest.mark.slow
def test_drawn_convolutions_give_the_bytes_of_the_simulator(runner: Path, tmp_path: Path) -> None:
    for index, sample in enumerate(drawn_convolutions(np.random.default_rng(33))):
        short = (f"{index}", *sample[1:])
        assert run(runner, tmp_path, short) == sample[3], sample[0]


@pytest.fixture(scope="module")
def portable_runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without vector units, and without the flags that CMakeLists.txt sets."""
    return linked("gcc", tmp_path_factory.mktemp("portable"), "-O2", "-std=gnu11", "-DLATHE_KPU_PORTABLE")


@pytest.fixture(scope="module")
def fused_runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by a compiler that may fuse products and sums, if nobody forbids it."""
    if "fma" not in Path("/proc/cpuinfo").read_text().split():
        pytest.skip("this processor does not fuse products and sums")
    return linked("gcc", tmp_path_factory.mktemp("fused"), "-O3", "-std=gnu11", "-mfma", "-ffp-contract=fast")


def linked(compiler: str, folder: Path, *flags: str) -> Path:
    made = folder / "lathe_kpu_run"
    sources = [*sorted(ROOM.glob("*.c")), ROOM / "tools" / "lathe_kpu_run.c"]
    command([compiler, "-D_POSIX_C_SOURCE=200809L", *flags, "-I", ROOM, *sources, "-o", made, "-lm", "-pthread"])
    return made


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["portable_runner", "fused_runner"])
def test_other_ways_to_compile_it_give_the_same_bytes(
    kind: str, all_samples: list[Sample], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    other = request.getfixturevalue(kind)
    drawn = ((f"{index}", *sample[1:]) for index, sample in enumerate(drawn_convolutions(np.random.default_rng(34))))
    different = [sample[0] for sample in (*all_samples, *drawn) if run(other, tmp_path, sample) != sample[3]]
    assert not different


@pytest.mark.slow
@pytest.mark.arm
def test_neon_gives_the_bytes_of_the_simulator(all_samples: list[Sample], tmp_path: Path) -> None:
    made = linked("aarch64-linux-gnu-gcc", tmp_path, "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-static")
    starter = tmp_path / "run"
    starter.write_text(f'#!/bin/sh\nexec qemu-aarch64 {made} "$@"\n')
    starter.chmod(0o755)
    drawn = ((f"{index}", *sample[1:]) for index, sample in enumerate(drawn_convolutions(np.random.default_rng(35))))
    convolutions = [sample for sample in all_samples if sample[0].startswith(("conv", "pool", "soft", "q_add"))]
    different = [sample[0] for sample in (*convolutions, *drawn) if run(starter, tmp_path, sample) != sample[3]]
    assert not different


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_it_is_c99_without_a_warning(compiler: str, tmp_path: Path) -> None:
    assert len(objects(compiler, tmp_path, "-O2")) == len(list(ROOM.glob("*.c"))) > 0


@pytest.mark.slow
def test_threads_change_nothing(all_samples: list[Sample], tmp_path: Path) -> None:
    runner = build("lathe_kpu_run", variant="tsan", source=ROOM) / "lathe_kpu_run"
    chosen = [sample for sample in all_samples if "loads" in sample[0] or sample[0] == "planes_between_memories"]
    assert len(chosen) > 4
    for sample in chosen:
        assert run(runner, tmp_path, sample, threads=3) == sample[3], sample[0]


def test_a_file_may_end_within_the_padding_of_its_last_body(
    runner: Path, all_samples: list[Sample], tmp_path: Path
) -> None:
    name, model, data, wanted = next(sample for sample in all_samples if sample[0] == "softmax")
    assert struct.unpack_from("<I", model, 12)[0] == 2
    shortened = bytearray(model)
    size_at = 28 + 8 + 8 + 4  # behind the header, one output, a layer, and the type of the second
    (size,) = struct.unpack_from("<I", shortened, size_at)
    struct.pack_into("<I", shortened, size_at, size + 7)
    assert run(runner, tmp_path, (name, bytes(shortened), data, wanted)) == wanted
    struct.pack_into("<I", shortened, size_at, size + 8)
    (tmp_path / "longer.kmodel").write_bytes(shortened)
    assert "the file ends" in command([runner, "--check", tmp_path / "longer.kmodel"])


@pytest.mark.slow
def test_the_face_in_cpp_needs_no_cpp_library(all_samples: list[Sample], tmp_path: Path) -> None:
    name, model, data, wanted = next(sample for sample in all_samples if sample[0] == "conv3x3_w8_33wide")
    made = program("face.cc", tmp_path)
    for suffix, content in (("kmodel", model), ("in", data), ("out", wanted[0])):
        (tmp_path / f"{name}.{suffix}").write_bytes(content)
    command([made, *(tmp_path / f"{name}.{suffix}" for suffix in ("kmodel", "in", "out"))])


# -- damaged files ---------------------------------------------------------------------------------------------------
def mutate(model: bytes, rng: np.random.Generator) -> bytes:
    """A file with some bytes, words or bits changed, or with its end cut off."""
    data = bytearray(model)
    for _ in range(int(rng.integers(1, 4))):
        kind = int(rng.integers(0, 5))
        # Half of the changes hit the tables and the first bodies, which say most.
        end = len(data) if rng.integers(0, 2) else min(len(data), 400)
        at = int(rng.integers(0, end))
        if kind == 0:
            data[at] = int(rng.integers(0, 256))
        elif kind == 1:
            data[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 2:
            word = int(rng.choice([0, 1, 7, 8, 63, 255, 1024, 65535, 1 << 31, (1 << 32) - 8, (1 << 32) - 1]))
            data[at & ~3 : (at & ~3) + 4] = struct.pack("<I", word)
        elif kind == 3:
            word = struct.unpack_from("<I", data, min(at & ~3, len(data) - 4))[0]
            data[at & ~3 : (at & ~3) + 4] = struct.pack("<I", (word + int(rng.integers(-9, 10))) & 0xFFFFFFFF)
        elif len(data) > 64 and rng.integers(0, 4) == 0:
            del data[int(rng.integers(1, len(data))) :]
        if not data:
            return b"\x03"
    return bytes(data)


def damaged(all_samples: list[Sample]) -> Iterator[bytes]:
    rng = np.random.default_rng(90)
    small = [model for _, model, _, _ in all_samples if len(model) < 20000]
    for index in range(MUTATIONS):
        yield mutate(small[index % len(small)], rng)


@pytest.mark.slow
def test_damaged_files_end_in_a_status(runner: Path, all_samples: list[Sample], tmp_path: Path) -> None:
    paths = []
    for index, data in enumerate(damaged(all_samples)):
        paths.append(tmp_path / f"{index}.kmodel")
        paths[-1].write_bytes(data)
    answers = command([runner, "--check", *paths]).splitlines()
    statuses = [re.sub(r"^[^:]*: | \(layer \d+\)$", "", answer) for answer in answers]
    assert len(answers) == MUTATIONS
    assert "not a status" not in statuses
    assert len(set(statuses)) > 8  # not all for the same reason
    assert 0.1 < statuses.count("ok") / MUTATIONS < 0.9


def test_other_versions_are_named(runner: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.kmodel"
    for head, word in (
        (b"LDMK\x05\0\0\0", "version 4 or 5"),
        (b"KMDL\x05\0\0\0", "version 4 or 5"),
        (b"\x04\0\0\0\0\0\0\0", "version 4 or 5"),
        (b"no model", "not a kmodel"),
        (b"\x03", "not a kmodel"),
        (b"\x03\0\0\0", "the file ends"),
    ):
        path.write_bytes(head)
        assert word in command([runner, "--check", path])
