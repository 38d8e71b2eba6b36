"""What counting instructions needs: the plugin of qemu, and reading what it wrote."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCES = Path(__file__).parent
FOLDER = ROOT / "build" / "bench-arm"
LANES = {"fp32": 4, "fp16": 8, "int8": 16}  # products of an instruction; of int8 with dotprod: i8mm has twice as many
#: The processors that are pretended where nobody asks for another one.
CPUS = {
    "aarch64-linux-gnu": "neoverse-n1",
    "arm-linux-gnueabihf": "cortex-a7",
    "riscv64-linux-gnu": "rv64,v=true,vext_spec=v1.0,vlen=128",
}
#: What is computed in where.
DTYPES = {
    "fp32": ("aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu"),
    "fp16": ("aarch64-linux-gnu",),
    "int8": ("aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu"),
}


@dataclass(frozen=True)
class Count:
    """What was executed between two markers."""

    instructions: int
    accesses: int


class CountingError(Exception):
    """A program that is needed is missing or failed."""


def command(arguments: Sequence[str | Path]) -> str:
    """The output of a program; CountingError with the end of what it said where it fails."""
    line = [str(argument) for argument in arguments]
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False)
    except FileNotFoundError as problem:
        raise CountingError(f"{line[0]} is missing: run make setup") from problem
    if done.returncode:
        raise CountingError(f"{' '.join(line)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def is_older(result: Path, *sources: Path) -> bool:
    return not result.exists() or any(source.stat().st_mtime > result.stat().st_mtime for source in sources)


def plugin() -> Path:
    source, result = ROOT / "native" / "tools" / "qemu" / "count_plugin.c", FOLDER / "count_plugin.so"
    if is_older(result, source):
        FOLDER.mkdir(parents=True, exist_ok=True)
        command(["gcc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden", source, "-o", result])
    return result


def read_markers(text: str) -> list[tuple[int, Count]]:
    """What the plugin wrote: the number of each marker with the counts up to it."""
    lines = [[int(word) for word in line.split()] for line in text.splitlines()]
    return [(number, Count(instructions, accesses)) for number, instructions, accesses in lines]


def difference(later: Count, earlier: Count) -> Count:
    return Count(later.instructions - earlier.instructions, later.accesses - earlier.accesses)
