"""Programs for emulated boards: compiled, linked, run and counted."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from buildtool.builders.objects import ObjectCache
from buildtool.builders.qemu_plugin import mark_plugin
from buildtool.targets.micro.emitting import emulated
from buildtool.targets.micro.processors import Processor

ROOT = Path(__file__).resolve().parents[3]
EMULATOR = ROOT / emulated.FOLDER
_SEMIHOSTING = ("-nographic", "-monitor", "none", "-serial", "none", "-semihosting-config", "enable=on,target=native")


@dataclass(frozen=True)
class Ran:
    """A run: what the program wrote, behind the stack that it used."""

    output: bytes
    stack: int
    instructions: int


def compile_all(jobs: Sequence[tuple[Path, Sequence[str]]], processor: Processor, folder: Path) -> list[Path]:
    """Objects of sources, each with its flags; those that are there already stay."""
    folder.mkdir(parents=True, exist_ok=True)

    def made(job: tuple[Path, Sequence[str]]) -> Path:
        source, flags = job
        out = folder / f"{'-'.join(source.parts[-3:])}.o"
        if not out.is_file() or out.stat().st_mtime < source.stat().st_mtime:
            tool = "g++" if source.suffix in (".cc", ".cpp") else "gcc"
            subprocess.run([f"{processor.prefix}{tool}", *processor.flags, *flags, "-c", source, "-o", out], check=True)
        return out

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(made, jobs))


def link(objects: Sequence[Path], processor: Processor, program: Path, *more: str) -> None:
    flags = [word.replace(emulated.FOLDER, str(EMULATOR)) for word in emulated.link_flags(processor)]
    command: list[str | Path] = [f"{processor.prefix}gcc", *processor.flags, *objects, *flags, *more, "-o", program]
    subprocess.run(command, check=True)


def run(program: Path, processor: Processor, data: bytes) -> Ran:
    folder = program.parent
    (folder / "input.bin").write_bytes(data)
    plugin = mark_plugin(ObjectCache())
    board = processor.emulated
    words = [board.emulator, *board.machine, *_SEMIHOSTING, "-plugin", f"{plugin},out=counts", "-kernel", program.name]
    subprocess.run(words, cwd=folder, check=True, timeout=600)
    output = (folder / "output.bin").read_bytes()
    marks = [int(line.split()[1]) for line in (folder / "counts").read_text().splitlines()]
    return Ran(output[4:], int.from_bytes(output[:4], "little"), marks[1] - marks[0] - 1)


def sizes(program: Path) -> tuple[int, int]:
    """Bytes of flash and of RAM."""
    flash = ram = 0
    with program.open("rb") as stream:
        for section in ELFFile(stream).iter_sections():
            if section.name in (".text", ".ARM.exidx", ".data"):
                flash += int(section["sh_size"])
            if section.name in (".data", ".bss"):
                ram += int(section["sh_size"])
    return flash, ram


def board_sources(processor: Processor) -> list[Path]:
    startup = "startup_arm.c" if processor.is_arm else "startup_riscv.c"
    return [EMULATOR / name for name in ("main.c", "semihosting.c", startup)]
