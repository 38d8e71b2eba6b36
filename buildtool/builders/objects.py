"""The object cache: every native source is compiled once per toolchain and flags, whatever library needs it.

An object's name is a hash of everything that decides its bytes: the source, every header of ours that it includes,
the compiler with its C library, and the files that hold the flags. Objects are put in place by rename and never change,
so any number of builds may share a cache. Their checksums are verified when they are used (see `entries`).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from buildtool import resources
from buildtool.builders import disks, entries
from buildtool.builders.disks import writing_to
from buildtool.builders.process import Processes
from buildtool.builders.toolchain import Toolchain, cmake_program, ninja_program
from buildtool.codegen.native_sources import NativeSources
from buildtool.codegen.source_tree import SourceTree
from buildtool.errors import BuildError, Problem, Where

_log = logging.getLogger("buildtool.cache")
_FORMAT = "1"  # part of every key: change it when the meaning of the keys changes
_LITTLE_SPACE = 2**20  # bytes
_USED_LATELY = 3600.0  # seconds: the use of an object is not noted down more often
USE_LOCK = "in-use.lock"  # shared by builds, exclusive to pruning
_MISREAD = '"\\;,\n\r'  # in the name of the folder
_CMAKE_FILES = ("LatheObjects.cmake", "LatheFlags.cmake", "LatheIsa.cmake")


UnitKind: TypeAlias = Literal["library", "silent", "tool"]


@dataclass(frozen=True)
class Unit:
    """A source to compile. Libraries, those without messages, and the tools around them get different flags."""

    path: str  # relative to a root of NativeSources
    kind: UnitKind = "library"


@dataclass(frozen=True)
class Objects:
    """The objects of some units, in their order, and how many of them had to be compiled."""

    paths: dict[Unit, Path]
    compiled: tuple[str, ...]  # sources
    reused: int


class ObjectCache:
    """A folder of objects, and the folders in which CMake compiles them.

    From its first use on, and for as long as it lives, nothing is pruned from the folder (`cache.prune` waits).
    """

    def __init__(
        self, folder: Path | None = None, processes: Processes | None = None, note: entries.Note | None = None
    ) -> None:
        self.folder = folder or resources.cache_dir()
        self.processes = processes or Processes()
        self.note = note or _log_note  # receives the damaged entries
        self._in_use = False

    def use(self) -> None:
        """Keep what is in the cache from being pruned. Waits while somebody prunes."""
        if not self._in_use:
            _check_name(self.folder)
            with writing_to(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
                handle = os.open(self.folder / USE_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                weakref.finalize(self, os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_SH)
            self._in_use = True

    def objects(self, toolchain: Toolchain, sources: NativeSources, units: Sequence[Unit]) -> Objects:
        """The objects of these units. Compiles those that are missing, all in one run of CMake and ninja."""
        self.use()
        keys = {unit: self.key(toolchain, sources, unit) for unit in units}
        missing = [unit for unit in keys if entries.state(self._path(keys[unit])) is not entries.State.SOUND]
        compiled: list[Unit] = []
        if missing:
            with writing_to(self.folder), self._compile_folder(toolchain) as folder:
                # Another build may have compiled some of them while this one waited for its turn.
                compiled = [unit for unit in missing if not entries.is_sound(self._path(keys[unit]), self.note)]
                if compiled:
                    self._compile(folder, toolchain, sources, compiled)
                    for unit in () if self.processes.dry_run else compiled:
                        made = folder / "build" / _object_path(unit)
                        entries.put(made, self._path(keys[unit]))
                        made.unlink()  # has no checksum: it may not be used again
        paths = {unit: self._path(key) for unit, key in keys.items()}
        _note_use(paths.values())
        return Objects(paths, tuple(unit.path for unit in compiled), len(keys) - len(compiled))

    def key(self, toolchain: Toolchain, sources: NativeSources, unit: Unit) -> str:
        """The name of a unit's object."""
        digest = hashlib.sha256()
        for part in (_FORMAT, _flags_identity(toolchain), unit.kind, unit.path):
            digest.update(part.encode() + b"\0")
        for path in sources.closure(unit.path):
            digest.update(path.encode() + b"\0" + hashlib.sha256(sources.read(path)).digest())
        return digest.hexdigest()

    def _path(self, key: str) -> Path:
        return self.folder / "objects" / key[:2] / f"{key}.o"

    def compile_folder(self, toolchain: Toolchain) -> Path:
        """Where CMake compiles for this toolchain; kept, so that it looks at the compiler once."""
        place = "" if toolchain.is_own else hashlib.sha256(_file_of(toolchain).encode()).hexdigest()[:8]
        return self.folder / "compile" / f"{toolchain.abi}-{_flags_identity(toolchain)[:16]}{place}"

    @contextlib.contextmanager
    def _compile_folder(self, toolchain: Toolchain) -> Iterator[Path]:
        folder = self.compile_folder(toolchain)
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "lock"):
            yield folder

    def _compile(self, folder: Path, toolchain: Toolchain, sources: NativeSources, units: Sequence[Unit]) -> None:
        """Compile a copy of the sources, so that what is compiled is what the keys were made from."""
        files = {path: sources.read(path) for unit in units for path in sources.closure(unit.path)}
        SourceTree("sources", files).write(folder / "sources")
        for name in _CMAKE_FILES:
            contents = (resources.cmake_dir() / name).read_bytes()
            _write_if_changed(folder / ("CMakeLists.txt" if name == _CMAKE_FILES[0] else name), contents)
        lines = []
        for kind in get_args(UnitKind):
            paths = "".join(f"  {unit.path}\n" for unit in units if unit.kind == kind)
            lines.append(f"set(LATHE_{kind.upper()}_UNITS\n{paths})\n")
        _write_if_changed(folder / "units.cmake", "".join(lines).encode())
        build = folder / "build"
        try:
            configure_and_build(self.processes, folder, build, toolchain, (), f"compiling for {toolchain.abi}")
        finally:
            for header in build.glob("CMakeFiles/*/cmake_pch.*.[gp]ch"):
                header.unlink()  # 26 MB each, and the next build that needs one makes it in less time than it saves


def configure_and_build(
    processes: Processes, source: Path, binary: Path, toolchain: Toolchain, arguments: Sequence[str], doing: str
) -> None:
    """Bring a CMake build up to date. CMake itself runs only the first time; after that ninja sees what changed."""
    arguments = (*toolchain.cmake_arguments, *arguments)
    stamp = binary / "lathe-arguments"
    wanted = "\n".join((_flags_identity(toolchain), str(cmake_program()), str(ninja_program()), *arguments))
    configured = (binary / "build.ninja").is_file() and stamp.is_file() and stamp.read_text() == wanted
    if not configured:
        findings = binary / "CMakeCache.txt"
        # Of another compiler or CMake, or of a run that did not end, as on a full disk: nothing of it may stay.
        if (stamp.is_file() or findings.is_file()) and not processes.dry_run:
            shutil.rmtree(binary / "CMakeFiles", ignore_errors=True)
            findings.unlink(missing_ok=True)
            stamp.unlink(missing_ok=True)
        command: list[str | Path] = [cmake_program(), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja_program()}"]
        command += ["-S", source, "-B", binary, *arguments]
        with _disk_watched(binary):
            processes.run(command, doing=f"{doing} (configuring with CMake)")
        if not processes.dry_run:
            stamp.write_text(wanted)
    with _disk_watched(binary):
        processes.run([ninja_program(), "-C", binary], doing=doing)


@contextlib.contextmanager
def _disk_watched(folder: Path) -> Iterator[None]:
    """Compilers and linkers have many words for a full disk, so look at the disk itself where one of them failed."""
    try:
        yield
    except BuildError as problem:
        for place in (folder, Path(tempfile.gettempdir())):  # compilers write to both
            if place.is_dir() and shutil.disk_usage(place).free < _LITTLE_SPACE:
                what = f"{problem.problems[0].what}: {disks.file_system(place)} is full"
                raise BuildError(what, where=Where(file=str(place)), remedy=disks.ROOM) from problem
        raise


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock of a folder; waits for other builds. The system releases it when this program ends."""
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _check_name(folder: Path) -> None:
    """BuildError for a folder in which CMake, ninja or the assembler would look for files under another name."""
    if found := sorted(set(str(folder)) & set(_MISREAD)):
        raise BuildError(
            f"the name of the cache's folder has {', '.join(map(repr, found))}",
            where=Where(file=str(folder)),
            rule="CMake, ninja and the assembler do not read such names",
            remedy="set LATHE_CACHE_DIR to a folder without such a character in its name",
        )


def _log_note(problem: Problem) -> None:
    _log.warning("%s", problem.render("note"))


def _note_use(objects: Iterable[Path]) -> None:
    """Leave the time of use as the time of access. That of the change stays: linkers go by it."""
    now = time.time()
    for path in objects:
        with contextlib.suppress(OSError):
            known = path.stat()
            if now - known.st_atime > _USED_LATELY:
                os.utime(path, ns=(int(now * 1e9), known.st_mtime_ns))


def _object_path(unit: Unit) -> str:
    target = unit.kind if unit.kind == "tool" else f"{unit.kind}_{_isa_of(unit.path)}"
    return f"CMakeFiles/{target}.dir/sources/{unit.path}.o"


def _isa_of(path: str) -> str:
    """As lathe_isa_of of LatheIsa.cmake."""
    word = Path(path).stem.rpartition("__")[2]
    rooms = {"native/opencl/": "opencl", "native/hexagon/": "hexagon"}
    other = next((isa for room, isa in rooms.items() if path.startswith(room)), "portable")
    return word if path.endswith(f"__{word}.cc") else other


def _file_of(toolchain: Toolchain) -> str:
    """The toolchain file and its arguments."""
    return " ".join((str(toolchain.file), *toolchain.arguments))


def _flags_identity(toolchain: Toolchain) -> str:
    """The toolchain and the files that give it its flags."""
    digest = hashlib.sha256(toolchain.identity.encode())
    files = [resources.cmake_dir() / name for name in _CMAKE_FILES]
    for file in (*files, toolchain.file) if toolchain.is_own else files:
        digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()


def _write_if_changed(path: Path, contents: bytes) -> None:
    if not path.is_file() or path.read_bytes() != contents:
        path.write_bytes(contents)
