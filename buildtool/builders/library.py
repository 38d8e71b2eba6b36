"""Turns a generated source tree into a library: cached objects in, a shared and a static file out, promises checked."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

from buildtool.builders import elf, size
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.objects import ObjectCache, Objects, Unit, configure_and_build, locked, writing_to
from buildtool.builders.toolchain import Toolchain, probe
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
    """Build the library of one ABI; None in a dry run.

    The work happens in a folder of the cache that belongs to `owner` (say, the output folder) and to the ABI, so that a
    rebuild starts from the last one. The files of the result are this process's own, and lie in the cache until it
    builds for the same owner again, or until anybody does after it has ended.
    """
    started = time.monotonic()
    toolchain = probe(program.abi)
    units = [Unit(path, "library" if program.library.messages else "silent") for path in tree.units[program.abi]]
    objects = cache.objects(toolchain, NativeSources.of_tree(tree.files), units)
    compiled_at = time.monotonic()
    result = _link(program, tree, toolchain, objects, cache, owner)
    if result is None:
        return None
    linked_at = time.monotonic()
    name, api = program.library.name, f"lathe_api_{program.library.identifier}"
    shared, static, unstripped = (result / file for file in _result_files(program.library.stem))
    elf.check_library(shared, api, glibc_floor)
    elf.check_library(static, api, glibc_floor)
    by_object = {str(path): unit.path for unit, path in objects.paths.items()}
    known = size.Objects(by_object, program.kernels, [model.source.name for model in program.models])
    sizes = size.report(shared, result / "merged.map", result / "shared.map", known)
    info = elf.inspect_library(shared)
    ended = time.monotonic()
    return BuiltLibrary(
        name=name,
        abi=program.abi,
        shared=shared,
        static=static,
        unstripped=unstripped,
        info=info,
        sizes=sizes,
        compiler=toolchain.version,
        compiled=len(objects.compiled),
        reused=objects.reused,
        seconds=ended - started,
        stages={"compile": compiled_at - started, "link": linked_at - compiled_at, "check": ended - linked_at},
    )


def _link(
    program: TargetProgram, tree: SourceTree, toolchain: Toolchain, objects: Objects, cache: ObjectCache, owner: str
) -> Path | None:
    """Run the tree's CMake project on cached objects; the folder of its results, or None in a dry run."""
    name, abi = program.library.name, program.abi
    folder = cache.folder / "link" / hashlib.sha256(f"{owner}\0{name}".encode()).hexdigest()[:24]
    binary = folder / abi
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "lock"):
            tree.write(folder / "tree")
            _hand_over(binary, list(objects.paths.values()))
            _reuse_detection(cache.compile_folder(toolchain) / "build", binary)
            arguments, doing = (f"-DLATHE_ABI={abi}",), f"linking {name} for {abi}"
            configure_and_build(cache.processes, folder / "tree", binary, toolchain, arguments, doing)
            return None if cache.processes.dry_run else _keep_result(folder, binary, abi, program.library.stem)


def _result_files(stem: str) -> tuple[str, str, str]:
    """The shared library, the static one, and the shared one's twin with symbols, as the tree's project names them."""
    return f"lib{stem}.so", f"lib{stem}.a", f"unstripped/lib{stem}.so"


def _keep_result(folder: Path, binary: Path, abi: str, stem: str) -> Path:
    """A copy of the results that the next build does not touch; the results of processes that have ended go."""
    kept = folder / "results"
    for old in kept.glob("*"):
        process = old.name.rpartition("-")[2]
        if not Path(f"/proc/{process}").exists():
            shutil.rmtree(old, ignore_errors=True)
    result = kept / f"{abi}-{os.getpid()}"
    shutil.rmtree(result, ignore_errors=True)
    (result / "unstripped").mkdir(parents=True)
    for file in (*_result_files(stem), "merged.map", "shared.map"):
        shutil.copyfile(binary / file, result / file)
    return result


def _hand_over(binary: Path, objects: list[Path]) -> None:
    """Tell the tree's CMake project which objects stand in for its sources."""
    binary.mkdir(parents=True, exist_ok=True)
    lines = "".join(f'  "{path}"\n' for path in objects)
    contents = f"set(\n  LATHE_OBJECTS\n{lines})\n"
    file = binary / "objects.cmake"
    if not file.is_file() or file.read_text() != contents:
        file.write_text(contents)


def _reuse_detection(known: Path, binary: Path) -> None:
    """Give a new build folder what CMake found out about this very compiler in another one: saves it a second."""
    if (binary / "CMakeFiles").exists():
        return
    for folder in sorted(known.glob("CMakeFiles/[0-9]*/")):
        shutil.copytree(folder, binary / "CMakeFiles" / folder.name, ignore=shutil.ignore_patterns("CompilerId*"))


def toolchains(abis: tuple[str, ...]) -> list[Toolchain]:
    """The toolchains of several ABIs; what is missing is reported before anything is built."""
    return [probe(abi) for abi in abis]
