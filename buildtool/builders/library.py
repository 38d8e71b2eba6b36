"""Turns a generated source tree into a library: cached objects in, a shared and a static file out, promises checked."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from buildtool.builders import android, elf, entries, macho, parallel, size, wasm
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.disks import writing_to
from buildtool.builders.objects import ObjectCache, Objects, Unit, UnitKind, configure_and_build, locked
from buildtool.builders.toolchain import Toolchain, probe
from buildtool.builders.toolchain_file import examine
from buildtool.codegen.native_sources import NativeSources
from buildtool.codegen.source_tree import SourceTree
from buildtool.targets.protocol import TargetProgram

DEFAULT_GLIBC_FLOOR = "2.17"


def build(
    program: TargetProgram,
    tree: SourceTree,
    *,
    cache: ObjectCache,
    glibc_floor: str = DEFAULT_GLIBC_FLOOR,
    owner: str = "",
) -> BuiltLibrary | None:
    """Build the library of one ABI; None in a dry run."""
    built = build_all([program], tree, cache=cache, glibc_floor=glibc_floor, owner=owner)
    return built[0] if built else None


def build_all(
    programs: Sequence[TargetProgram],
    tree: SourceTree,
    *,
    cache: ObjectCache,
    glibc_floor: str = DEFAULT_GLIBC_FLOOR,
    owner: str = "",
    toolchain_files: Mapping[str, Path] = MappingProxyType({}),
    android_api: int = android.DEFAULT_API,
    debuggable: bool = False,
) -> tuple[BuiltLibrary, ...]:
    """Build a library for all of its ABIs at the same time; nothing in a dry run.

    The work happens in a folder of the cache that belongs to `owner` (say, the output folder), so that a rebuild starts
    from the last one. The files of the result are this process's own, and lie in the cache until it builds for the same
    owner again, or until anybody does after it has ended. `toolchain_files`: the user's own ones, by ABI. `debuggable`:
    the unstripped twin also tells debuggers lines, types and frames; the code is the same.
    """
    cache.use()
    folder = work_folder(cache, owner, programs[0].library.name)
    tools = toolchains(tuple(program.abi for program in programs), toolchain_files, android_api)
    if debuggable:
        tools = [toolchain.for_debuggers() for toolchain in tools]
    works = [_Work(program, tree, toolchain, cache, folder) for program, toolchain in zip(programs, tools, strict=True)]
    parallel.each(_Work.compile, works, cache.processes)
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "lock"):
            tree.write(folder / "tree")
            parallel.each(_Work.link, works, cache.processes)
    return () if cache.processes.dry_run else tuple(work.built(glibc_floor) for work in works)


def work_folder(cache: ObjectCache, owner: str, name: str) -> Path:
    """Where a library is linked."""
    return cache.folder / "link" / hashlib.sha256(f"{owner}\0{name}".encode()).hexdigest()[:24]


@dataclass
class _Work:
    """The steps of one ABI."""

    program: TargetProgram
    tree: SourceTree
    toolchain: Toolchain
    cache: ObjectCache
    folder: Path
    objects: Objects = field(default_factory=lambda: Objects({}, (), 0))
    result: Path = field(default_factory=Path)
    stages: dict[str, float] = field(default_factory=dict)

    def compile(self) -> None:
        """Fetch the objects of core and kernels, or make them."""
        started = time.monotonic()
        kind: UnitKind = "library" if self.program.library.messages else "silent"
        units = [Unit(path, kind) for path in self.tree.units[self.program.abi]]
        self.objects = self.cache.objects(self.toolchain, NativeSources.of_tree(self.tree.files), units)
        self.stages["compile"] = time.monotonic() - started

    def link(self) -> None:
        """Run the tree's CMake project on cached objects."""
        started = time.monotonic()
        name, abi, cache = self.program.library.name, self.program.abi, self.cache
        binary = self.folder / abi
        hand_over(binary / "objects.cmake", self.objects)
        reuse_detection(cache.compile_folder(self.toolchain) / "build", binary)
        kept = entries.Results(binary)
        kept.verify(cache.note)
        arguments, doing = (f"-DLATHE_ABI={abi}",), f"linking {name} for {abi}"
        configure_and_build(cache.processes, self.folder / "tree", binary, self.toolchain, arguments, doing)
        if not cache.processes.dry_run:
            kept.store()
            self.result = _keep_result(self.folder, binary, abi, self._files())
        self.stages["link"] = time.monotonic() - started

    def built(self, glibc_floor: str) -> BuiltLibrary:
        """What was linked, with all promises checked."""
        started = time.monotonic()
        program = self.program
        shared, unstripped, *others = (self.result / file for file in self._files())
        by_object = {str(path): unit.path for unit, path in self.objects.paths.items()}
        known = size.Objects(by_object, program.kernels, [model.source.name for model in program.models])
        if program.object_format == "wasm":
            wasm.check_library(shared, self._api())
            info, sizes = wasm.inspect_library(shared), wasm.sizes(shared, others[0], known)
        elif program.object_format == "macho":
            macho.check_library(shared, self._api())
            info, sizes = macho.inspect_library(shared), macho.sizes(shared, self.result / others[0], known)
        else:
            self._check_elf(shared, others[0], glibc_floor)
            info, sizes = elf.inspect_library(shared), size.report(shared, others[1], others[2], known)
        self.stages["check"] = time.monotonic() - started
        return BuiltLibrary(
            name=program.library.name,
            abi=program.abi,
            shared=shared,
            archive={"elf": others[0], "macho": shared}.get(program.object_format),
            unstripped=unstripped,
            info=info,
            sizes=sizes,
            compiler=self.toolchain.version,
            compiled=len(self.objects.compiled),
            reused=self.objects.reused,
            seconds=sum(self.stages.values()),
            stages=self.stages,
        )

    def _check_elf(self, shared: Path, static: Path, glibc_floor: str) -> None:
        elf.check_library(shared, self._api(), glibc_floor, android.LIBRARIES if self.toolchain.is_android else ())
        elf.check_library(static, self._api(), glibc_floor)
        if self.toolchain.is_android:
            android.check_library(shared)

    def _api(self) -> str:
        return f"lathe_api_{self.program.library.identifier}"

    def _files(self) -> tuple[str, ...]:
        """What the tree's project leaves: the shared library, its twin with symbols, the static one where there is
        one, and the maps of the linker."""
        stem = self.program.library.stem
        if self.program.object_format == "wasm":
            return f"{stem}.wasm", f"unstripped/{stem}.wasm", "module.map"
        if self.program.object_format == "macho":
            return f"lib{stem}.a", f"lib{stem}.a", "registry.o", "weights.o"
        return f"lib{stem}.so", f"unstripped/lib{stem}.so", f"lib{stem}.a", "merged.map", "shared.map"


def _keep_result(folder: Path, binary: Path, abi: str, files: Sequence[str]) -> Path:
    """A copy of the results that the next build does not touch; the results of processes that have ended go."""
    kept = folder / "results"
    for old in kept.glob("*"):
        process = old.name.rpartition("-")[2]
        if not Path(f"/proc/{process}").exists():
            shutil.rmtree(old, ignore_errors=True)
    result = kept / f"{abi}-{os.getpid()}"
    shutil.rmtree(result, ignore_errors=True)
    (result / "unstripped").mkdir(parents=True)
    for file in files:
        shutil.copyfile(binary / file, result / file)
    return result


def hand_over(file: Path, objects: Objects) -> None:
    """Tell a CMake project which objects replace its sources."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(f'  "{path}"\n' for path in objects.paths.values())
    contents = f"set(\n  LATHE_OBJECTS\n{lines})\n"
    if not file.is_file() or file.read_text() != contents:
        file.write_text(contents)


def reuse_detection(known: Path, binary: Path) -> None:
    """Give a new build folder what CMake found out about this very compiler in another one: saves it a second."""
    found = binary / "CMakeFiles"
    if found.exists():
        return
    aside = binary / "CMakeFiles.new"  # half of a copy would be taken for what CMake found out
    shutil.rmtree(aside, ignore_errors=True)
    for folder in sorted(known.glob("CMakeFiles/[0-9]*/")):
        (aside / folder.name).mkdir(parents=True)
        for file in (file for file in folder.iterdir() if file.is_file()):
            shutil.copyfile(file, aside / folder.name / file.name)  # not its times, which some disks do not take
    if aside.exists():
        aside.rename(found)


def parts_of_toolchains(abis: tuple[str, ...], android_api: int) -> list[Path]:
    """The files that the toolchains of Lathe for these ABIs consist of."""
    return [path for toolchain in toolchains(abis, android_api=android_api) for path in toolchain.parts()]


def toolchains(
    abis: tuple[str, ...],
    files: Mapping[str, Path] = MappingProxyType({}),
    android_api: int = android.DEFAULT_API,
) -> list[Toolchain]:
    """The toolchains of several ABIs; what is missing is reported before anything is built."""
    found = []
    for abi in abis:
        if abi in files:
            found.append(examine(files[abi], abi))
        else:
            found.append(android.toolchain(abi, android_api) if abi in android.ABIS else of_abi(abi))
    return found


def of_abi(abi: str) -> Toolchain:
    """The toolchain of an ABI that no user and no NDK brings."""
    return wasm.toolchain(abi) if abi in wasm.ABIS else probe(abi)
