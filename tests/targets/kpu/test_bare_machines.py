"""The interpreter on machines without an operating system, in emulators: the same bytes as everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.native_builds import command
from tests.targets.k210.samples import Sample, samples
from tests.targets.kpu.builds import C99, CORTEX_M7, HERE, RISCV, ROOM, objects

MOST_TEXT = 20 * 1024  # bytes of the whole interpreter for RISC-V, both devices included
FLASH, RAM, EACH = 0x80000000, 0x81000000, 0x01000000


def embed(chosen: list[Sample], folder: Path, word: str) -> Path:
    """Assembler of the table that image.c reads. `word` is how it writes an address."""
    rows, parts = [], []
    for index, (name, model, data, wanted) in enumerate(chosen):
        for suffix, content in (("kmodel", model), ("in", data), ("out", b"".join(wanted))):
            path = folder / f"{index}.{suffix}"
            path.write_bytes(content)
            parts.append(f'.balign 256\n{suffix}{index}: .incbin "{path}"\n{suffix}{index}_end:\n')
        parts.append(f'name{index}: .asciz "{name}"\n')
        labels = [f"name{index}"]
        labels += [f"{suffix}{index}{end}" for suffix in ("kmodel", "in", "out") for end in ("", "_end")]
        rows.append(f"{word} {', '.join(labels)}\n")
    table = ".balign 8\n.globl samples\nsamples:\n" + "".join(rows) + f"{word} 0, 0, 0, 0, 0, 0, 0\n"
    made = folder / "samples.S"
    made.write_text(".section .rodata\n" + table + "".join(parts))
    return made


def image(chosen: list[Sample], folder: Path) -> Path:
    """A program for a RISC-V machine with the samples inside."""
    made = folder / "image.elf"
    parts = objects("riscv64-unknown-elf-gcc", folder, *RISCV, "-Os")
    places = {"__flash": FLASH, "__flash_size": EACH, "__ram": RAM, "__ram_size": EACH, "__stack_size": 0x8000}
    command([
        "riscv64-unknown-elf-gcc", *RISCV, "-Os", "-std=c11", *C99[1:], "-I", ROOM,
        "--crt0=semihost", "--oslib=semihost", "-Wl,--gc-sections",
        *(f"-Wl,--defsym={name}={value:#x}" for name, value in places.items()),
        HERE / "image.c", embed(chosen, folder, ".dword"), *parts, "-lm", "-o", made,
    ])  # fmt: skip
    return made


def cortex_m7_image(chosen: list[Sample], folder: Path) -> Path:
    """The same for a Cortex-M7."""
    made = folder / "image.elf"
    parts = objects("arm-none-eabi-gcc", folder, *CORTEX_M7, "-Os")
    command([
        "arm-none-eabi-gcc", *CORTEX_M7, "-Os", "-std=c11", *C99[1:], "-I", ROOM, "--specs=rdimon.specs",
        "-Wl,--gc-sections", "-T", HERE / "cortex_m7.ld", HERE / "cortex_m7_start.c", HERE / "image.c",
        embed(chosen, folder, ".word"), *parts, "-lm", "-o", made,
    ])  # fmt: skip
    return made


def run_image(emulator: str, machine: list[str], made: Path) -> list[str]:
    """The lines of its output."""
    quiet = ["-nographic", "-monitor", "none", "-serial", "none"]
    semihosting = ["-semihosting-config", "enable=on,target=native"]
    return command(["timeout", "120", emulator, *machine, *quiet, *semihosting, "-kernel", made]).splitlines()


@pytest.mark.slow
def test_riscv_gives_the_bytes_of_the_simulator(tmp_path: Path) -> None:
    chosen = list(samples())
    machine = ["-M", "virt", "-cpu", "rv64", "-m", "128M", "-bios", "none"]
    lines = run_image("qemu-system-riscv64", machine, image(chosen, tmp_path))
    assert lines == [*(f"{sample[0]}: ok" for sample in chosen), "end"]


@pytest.mark.slow
@pytest.mark.arm
def test_a_cortex_m7_gives_the_bytes_of_the_simulator(tmp_path: Path) -> None:
    chosen = list(samples())
    lines = run_image("qemu-system-arm", ["-M", "mps2-an500"], cortex_m7_image(chosen, tmp_path))
    assert lines == [*(f"{sample[0]}: ok" for sample in chosen), "end"]


@pytest.mark.slow
def test_the_interpreter_is_small(tmp_path: Path) -> None:
    parts = objects("riscv64-unknown-elf-gcc", tmp_path, *RISCV, "-Os")
    sizes = command(["riscv64-unknown-elf-size", "-t", *parts])
    total = re.search(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s.*TOTALS", sizes, re.MULTILINE)
    assert total is not None
    text, data, bss = map(int, total.groups())
    assert 4096 < text < MOST_TEXT
    assert data == bss == 0  # no state of its own
    for part in parts:
        symbols = command(["riscv64-unknown-elf-nm", part])
        wanted = set(re.findall(r"^\s+U (?!kpu_|lathe_kpu_)(\w+)$", symbols, re.MULTILINE))
        decodes = "T lathe_kpu_boxes" in symbols  # linked into programs that call it only
        assert wanted <= {"memcpy", "memset", "memmove"} | ({"expf"} if decodes else set())
