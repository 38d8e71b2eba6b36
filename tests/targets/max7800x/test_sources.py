"""Generated programs, compiled for both cores of the chips without warnings, and run on the model of the chips."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ConfigError
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.firmware import data_memory, program, sources
from buildtool.targets.max7800x.firmware.program import Program
from buildtool.targets.max7800x.network import UNPLACED, Kernel, Layer, Network, Pool, Size
from buildtool.targets.max7800x.options import Options
from buildtool.targets.max7800x.planning import planner
from buildtool.targets.max7800x.simulation import simulate
from tests.native_builds import ROOT, build, command

NATIVE = ROOT / "native" / "max7800x"
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-O1")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
CORES = {
    "arm": ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    "riscv": ("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32", "--specs=picolibc.specs"),
}


def kernel(rng: np.random.Generator, *shape: int, bits: int = 8, biased: bool = True, pad: Size = (1, 1)) -> Kernel:
    half = 1 << bits - 1
    weights = rng.integers(-half, half, shape).astype(np.int8)
    bias = rng.integers(-128, 128, shape[0]).astype(np.int8) if biased else None
    return Kernel(weights, bits, bias, size=(shape[2], shape[3]), pad=pad)


def layer(index: int, channels: int, size: Size, out: tuple[int, int, int], **what: object) -> Layer:
    given = {"name": f"layer {index}", "operation": "conv2d", "sources": (index - 1,), "processors": 0}
    places = {"in_offset": UNPLACED, "output_processors": 0, "out_offset": UNPLACED}
    told = {"index": index, "in_channels": channels, "in_size": size, "out_channels": out[0], "out_size": out[1:]}
    return Layer(**{**given, **places, **told, **what})  # type: ignore[arg-type]


def classifier(device: Device = MAX78000, *, fifo: bool = False) -> Network:
    """Two convolutions, and one number for each of five classes."""
    rng = np.random.default_rng(1)
    layers = (
        layer(0, 3, (8, 8), (6, 8, 8), kernel=kernel(rng, 6, 3, 3, 3, biased=False), output_shift=-4, streaming=fifo),
        layer(
            1, 6, (8, 8), (7, 4, 4), kernel=kernel(rng, 7, 6, 3, 3, bits=4), output_shift=-3,
            pool=Pool("max", (2, 2), (2, 2)), activation="relu",
        ),
        layer(
            2, 7, (4, 4), (5, 1, 1), operation="linear", flatten=True, output_width=32,
            kernel=kernel(rng, 5, 112, 1, 1, pad=(0, 0)),
        ),
    )  # fmt: skip
    return planner.place(Network("classes", device, layers, 3, (8, 8), fifo=fifo))


def picture(device: Device = MAX78000) -> Network:
    """Bytes of more channels than there are processors, and of an odd number of pixels."""
    rng = np.random.default_rng(2)
    layers = (
        layer(0, 2, (5, 3), (70, 5, 3), kernel=kernel(rng, 70, 2, 3, 3), output_shift=-3),
        layer(1, 70, (5, 3), (66, 5, 3), kernel=kernel(rng, 66, 70, 1, 1, bits=2, pad=(0, 0)), output_shift=-7),
    )
    return planner.place(Network("a picture", device, layers, 2, (5, 3)))


def sums(device: Device = MAX78000) -> Network:
    """Operands that are added, without kernels; 32 bits of several pixels."""
    added = layer(0, 4, (3, 4), (4, 3, 4), operation="none", operands=2, eltwise="add", output_width=32)
    return planner.place(Network("sums", device, (added,), 8, (3, 4)))


NETWORKS = {"classifier": classifier, "picture": picture, "sums": sums}


def sample(network: Network) -> np.ndarray:
    shape = (network.input_channels, *network.input_size)
    return np.random.default_rng(3).integers(-128, 128, shape)


def made(network: Network, **options: object) -> Program:
    return program.make(network, sample(network), Options(**options))  # type: ignore[arg-type]


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@functools.cache
def machine() -> Path:
    folder = build("lathe_max7800x_machine", variant="asan", source=NATIVE)
    return folder / "liblathe_max7800x_machine.a"


def run(folder: Path, device: Device, *more: Path, success: bool = True) -> str:
    """Compile a project with the model of its chip, run it, and give back what it printed."""
    made = folder / "program"
    files = [
        path for path in sorted(folder.glob("*.c")) if path.name != "driver.c" and not (more and path.stem == "main")
    ]
    command(
        [
            os.environ.get("CC", "cc"), *WARNINGS, *SANITIZERS, "-g1", f"-DTARGET_NUM={device.part[3:]}",
            "-I", NATIVE / "headers", "-I", NATIVE, "-I", folder, *files, *more, NATIVE / "chip.c", machine(),
            "-lm", "-o", made,
        ]
    )  # fmt: skip
    done = subprocess.run([made], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode == 0) == success, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
@pytest.mark.parametrize("compact", [True, False], ids=["compact", "expanded"])
@pytest.mark.parametrize("name", NETWORKS)
def test_programs_pass_on_the_model_of_the_chip(name: str, compact: bool, device: Device, tmp_path: Path) -> None:
    found = made(NETWORKS[name](device), compact_weights=compact, softmax=name == "classifier")
    assert "*** PASS ***" in run(write(tmp_path, sources.emit(found)), device)


@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
def test_input_through_the_fifo(device: Device, tmp_path: Path) -> None:
    found = made(classifier(device, fifo=True))
    assert all(block.fifo is not None for block in found.inputs)
    assert "*** PASS ***" in run(write(tmp_path, sources.emit(found)), device)


DRIVER = """
#define main generated_main
#include "main.c"
#undef main
int main(void) {
  const int result = generated_main();
  for (uint32_t at = 0; at < CNN_NUM_OUTPUTS; at++)
    printf("value %ld\\n", CNN_OUTPUT_BITS == 8 ? (long)((const int8_t*)ml_data)[at] : (long)(int32_t)ml_data[at]);
  return result;
}
"""


@pytest.mark.parametrize("name", NETWORKS)
def test_the_unloaded_data_are_the_simulated_output_in_its_order(name: str, tmp_path: Path) -> None:
    network = NETWORKS[name]()
    folder = write(tmp_path, sources.emit(made(network)))
    driver = folder / "driver.c"
    driver.write_text(DRIVER)
    printed = run(folder, MAX78000, driver)
    values = [int(word) for word in re.findall(r"^value (-?\d+)$", printed, re.MULTILINE)]
    assert values == simulate.run(network, sample(network)).result.reshape(-1).tolist()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_wrong_result_is_told_with_its_channel_row_and_column(name: str, tmp_path: Path) -> None:
    network = NETWORKS[name]()
    result = simulate.run(network, sample(network)).result
    channel, row, column = (size - 1 for size in result.shape)
    good = made(network)
    wrong = result.copy()
    wrong[channel, row, column] ^= 1
    output = data_memory.stored(good.placed.layers[-1].layer)
    spoilt = replace(good, expected=data_memory.expected(network.device, [(output, wrong)]))
    printed = run(write(tmp_path, sources.emit(spoilt)), MAX78000, success=False)
    assert f"(channel {channel}, row {row}, column {column})" in printed
    assert "*** FAIL" in printed and "PASS" not in printed


SOFTMAX_DRIVER = """
#include <stdio.h>
#include "cnn.h"
int main(void) {
  q31_t values[64];
  q15_t shares[64];
  int count, shift;
  while (scanf("%d %d", &count, &shift) == 2) {
    for (int at = 0; at < count; at++) if (scanf("%d", &values[at]) != 1) return 1;
    softmax_shift_q17p14_q15(values, (uint16_t)count, (uint8_t)shift, shares);
    for (int at = 0; at < count; at++) printf("%d ", shares[at]);
    printf("\\n");
  }
  return 0;
}
"""


def test_softmax_is_within_two_steps_of_the_true_one(tmp_path: Path) -> None:
    folder = write(tmp_path, sources.emit(made(classifier(), softmax=True)))
    driver = folder / "driver.c"
    driver.write_text(SOFTMAX_DRIVER)
    command([
        os.environ.get("CC", "cc"), *WARNINGS, *SANITIZERS, "-I", NATIVE / "headers", "-I", folder,
        folder / "softmax.c", driver, "-o", folder / "softmax",
    ])  # fmt: skip
    rng = np.random.default_rng(4)
    spreads, sizes = (10, 3e4, 3e5, 3e8), (1, 2, 10, 64)
    cases = [(rng.normal(0, spread, size).astype(int), 0) for spread in spreads for size in sizes]
    cases += [(np.array([2**31 - 1, -(2**31), 0]), 0), (np.array([5, 5, 5]), 4), (np.array([2**30, -(2**30)]), 7)]
    given = "\n".join(f"{len(values)} {shift} {' '.join(map(str, values))}" for values, shift in cases)
    printed = subprocess.run([folder / "softmax"], input=given, capture_output=True, text=True, check=True).stdout
    for (values, shift), line in zip(cases, printed.splitlines(), strict=True):
        shifted = np.clip(values.astype(float) * 2**shift, -(2.0**31), 2.0**31 - 1)
        powers = np.exp2((shifted - shifted.max()) / 2**14)
        true = np.minimum(powers / powers.sum() * 2**15, 2**15 - 1)
        assert np.abs(np.array(line.split(), int) - true).max() <= 2, (values, line)


VARIANTS = {
    "arm": {},
    "arm, everything": {"softmax": True, "boost": (2, 5), "timer": 3, "clear_tram": True, "clear_memories": True},
    "arm, nothing": {"timer": None, "unload": False, "known_answer": False, "sleep": False, "compact_weights": False},
    "riscv": {"processor": "riscv", "softmax": True},
    "riscv, deep sleep": {"processor": "riscv", "deep_sleep": True, "power_down": True, "timer": None},
}


@pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
@pytest.mark.parametrize("variant", VARIANTS)
def test_both_cores_compile_it_without_warnings(variant: str, device: Device, tmp_path: Path) -> None:
    folder = write(tmp_path, sources.emit(made(classifier(device), **VARIANTS[variant])))  # type: ignore[arg-type]
    inner = folder / "riscv"
    if variant.startswith("riscv"):
        compile_all("arm", folder)
        compile_all("riscv", inner)
        assert "RISCV_APP = riscv" in (folder / "project.mk").read_text()
    else:
        assert not inner.exists()
        compile_all("arm", folder)
        compile_all("riscv", folder)


def compile_all(core: str, folder: Path) -> None:
    files = sorted(folder.glob("*.c"))
    listed = re.findall(r"^SRCS = (.*)$", (folder / "Makefile").read_text(), re.MULTILINE)
    assert [file.name for file in files] == listed[0].split()
    for file in files:
        command([*CORES[core], *WARNINGS, "-I", NATIVE / "headers", "-c", file, "-o", file.with_suffix(".o")])


def test_the_fast_fifo_wants_the_riscv_core(tmp_path: Path) -> None:
    network = replace(classifier(fifo=True), fast_fifo=True)
    with pytest.raises(ConfigError, match="fast FIFO cannot be reached from the Arm core"):
        made(network)
    files = sources.emit(made(network, processor="riscv"))
    assert b"0x400c0410" in files["riscv/main.c"]
    compile_all("riscv", write(tmp_path, files) / "riscv")


def test_options_that_do_not_go_together_are_told_all_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        made(classifier(), pll=True, timer=9, boost=(4, 0), clock_divider=3, deep_sleep=True)
    assert len(caught.value.problems) == 5


def test_names_cannot_break_out_of_comments_and_strings(tmp_path: Path) -> None:
    network = replace(classifier(), name='*/ "%n \\ ?? naïve')
    folder = write(tmp_path, sources.emit(made(network)))
    printed = run(folder, MAX78000)
    assert '* / "%n \\ ? ? na?ve' in printed
    assert re.search(r"^PROJECT \?= [A-Za-z0-9_]+$", (folder / "Makefile").read_text(), re.MULTILINE)
