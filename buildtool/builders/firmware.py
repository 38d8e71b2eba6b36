"""Turns a generated source tree into programs for bare chips: one compiler, one linker, no C++ runtime."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from buildtool.builders.built import BuiltArchive, BuiltFirmware, BuiltImage
from buildtool.builders.disks import writing_to
from buildtool.builders.library import work_folder
from buildtool.builders.objects import ObjectCache, locked
from buildtool.builders.process import Processes
from buildtool.codegen.source_tree import Archive, Limited, SourceTree
from buildtool.errors import ToolchainError
from buildtool.targets.protocol import CrossCompiler, FirmwareProgram

_Job: TypeAlias = tuple[str, tuple[str, ...]]  # a source, and the flags for it


@dataclass(frozen=True)
class Tools:
    """A cross compiler that was found."""

    gcc: Path
    objcopy: Path
    version: str


def find(compiler: CrossCompiler, abi: str) -> Tools:
    """ToolchainError names the program or the C library that is missing, and how to get it."""
    if compiler.sources_only:
        return Tools(Path(), Path(), "none: sources only")
    return _find(compiler, abi, os.environ.get("PATH", ""))


@functools.cache
def _find(compiler: CrossCompiler, abi: str, _path: str) -> Tools:
    packages = " ".join(compiler.packages)
    remedy = f"install it with: lathe doctor --install, or: apt-get install {packages}"
    found = {}
    for tool in ("gcc", "objcopy"):
        program = f"{compiler.prefix}{tool}"
        path = shutil.which(program)
        if path is None:
            raise ToolchainError(
                f"'{program}' is missing: this machine cannot build for {abi}",
                rule=f"firmware for {abi} is built with the GNU tools",
                remedy=remedy,
            )
        found[tool] = Path(path)
    run = functools.partial(Processes().run, error=ToolchainError)
    version = run([found["gcc"], "--version"], doing=f"asking {found['gcc']} for its version").splitlines()[0]
    with tempfile.NamedTemporaryFile(suffix=".c", mode="w") as source:
        source.write("#include <string.h>\n")
        source.flush()
        try:
            run([found["gcc"], *compiler.check, "-E", source.name], doing="locating the C library")
        except ToolchainError as problem:
            raise ToolchainError(
                f"the C library of '{compiler.prefix}gcc' is missing: this machine cannot build for {abi}",
                rule=problem.problems[0].rule,
                remedy=remedy,
            ) from problem
    return Tools(found["gcc"], found["objcopy"], version)


def build_all(
    programs: Sequence[FirmwareProgram], tree: SourceTree, tools: Sequence[Tools], *, cache: ObjectCache, owner: str
) -> tuple[BuiltFirmware, ...]:
    """Compile and link the images of all chips, with the tools of each; nothing in a dry run.

    The work happens in a folder of the cache that belongs to `owner`.
    """
    cache.use()
    folder = work_folder(cache, owner, programs[0].library.name)
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "lock"):
            tree.write(folder / "tree")
            return tuple(
                built
                for program, tool in zip(programs, tools, strict=True)
                if (built := _build(program.abi, tree, tool, folder, cache.processes)) is not None
            )


def _build(abi: str, tree: SourceTree, tools: Tools, folder: Path, processes: Processes) -> BuiltFirmware | None:
    started = time.monotonic()
    place = folder / abi
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    images, archives = tree.images.get(abi, ()), tree.archives.get(abi, ())
    jobs: dict[_Job, Path] = {}  # what images have in common is compiled once
    units = [(source, each.compile_flags) for each in images for source in each.sources]
    units += [(source, each.compile_flags) for each in archives for source in each.sources]
    for source, flags in units:
        jobs.setdefault((source, flags), place / f"{len(jobs)}-{Path(source).stem}.o")

    def compiled(job: tuple[_Job, Path]) -> None:
        (source, flags), made = job
        command: list[str | Path] = [tools.gcc, *flags, "-c", source, "-o", made]
        processes.run(command, doing=f"compiling {source} for {abi}", cwd=folder / "tree")

    with ThreadPoolExecutor(1 if processes.dry_run else len(os.sched_getaffinity(0))) as threads:
        list(threads.map(compiled, jobs.items()))
    made = []
    for image in images:
        objects = [jobs[source, image.compile_flags] for source in image.sources]
        elf, binary = place / f"{image.name}.elf", place / f"{image.name}.bin"
        link: list[str | Path] = [tools.gcc, *image.compile_flags, *objects, *image.link_flags, "-o", elf]
        processes.run(link, doing=f"linking {image.name}.elf", cwd=folder / "tree")
        processes.run([tools.objcopy, "-O", "binary", elf, binary], doing=f"making {image.name}.bin")
        if not processes.dry_run:
            made.append(BuiltImage(image.name, elf.read_bytes(), binary.read_bytes(), _memory(elf)))
    packed = []
    for archive in archives:
        objects = [jobs[source, archive.compile_flags] for source in archive.sources]
        file = place / f"lib{archive.name}.a"
        command: list[str | Path] = [tools.gcc.with_name(f"{tools.gcc.name}-ar"), "rcsD", file, *objects]
        processes.run(command, doing=f"packing {file.name}")
        if not processes.dry_run:
            linked = {each.model: _linked(archive, each, objects, tools, place, processes) for each in archive.limits}
            packed.append(BuiltArchive(archive.name, file.read_bytes(), *_sections(objects), linked))
    if processes.dry_run:
        return None
    seconds = time.monotonic() - started
    return BuiltFirmware(tree.library, abi, tuple(made), tools.version, seconds, tuple(packed))


def _linked(
    archive: Archive, limited: Limited, objects: Sequence[Path], tools: Tools, place: Path, processes: Processes
) -> int:
    """Bytes of flash that a program takes for a model: what its functions reach, without the C library."""
    made = place / "linked.o"
    kept = [f"-Wl,-u,{name}" for name in limited.functions]
    flags = [flag for flag in archive.compile_flags if not flag.startswith(("-I", "--specs"))]
    words: list[str | Path] = [tools.gcc, *flags, "-r", "-nostdlib", "-Wl,--gc-sections", *kept, *objects, "-o", made]
    processes.run(words, doing=f"linking what {limited.model} needs")
    with made.open("rb") as stream:
        return sum(
            int(section["sh_size"])
            for section in ELFFile(stream).iter_sections()
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section["sh_type"] == "SHT_PROGBITS"
        )


def _sections(objects: Sequence[Path]) -> tuple[int, int]:
    """Bytes of code and of constants."""
    code = constants = 0
    for file in objects:
        with file.open("rb") as stream:
            for section in ELFFile(stream).iter_sections():
                if section.name.startswith(".text"):
                    code += int(section["sh_size"])
                elif section.name.startswith((".rodata", ".srodata")):
                    constants += int(section["sh_size"])
    return code, constants


def _memory(elf: Path) -> int:
    """What all that is loaded takes up."""
    with elf.open("rb") as stream:
        loaded = [segment for segment in ELFFile(stream).iter_segments() if segment["p_type"] == "PT_LOAD"]
        return sum(int(segment["p_memsz"]) for segment in loaded)
