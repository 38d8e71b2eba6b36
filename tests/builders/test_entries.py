"""Damage in the cache: it is noticed, told, and made good; and full disks are named."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from buildtool.builders import cache as cache_
from buildtool.builders import disks, entries, library, package
from buildtool.builders.objects import ObjectCache, Unit
from buildtool.builders.own_library import own_library
from buildtool.builders.toolchain import probe
from buildtool.codegen.native_sources import NativeSources
from buildtool.errors import BuildError, Problem
from tests.builders.conftest import lowered, relu_network, source

UNIT = Unit("native/ops/a/a.cc")
TREE = NativeSources.of_tree({UNIT.path: b"int A();\nint A() { return 1; }\n"})


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


DAMAGES = [flip, truncate, empty]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("of_the_checksum", [False, True])
def test_a_damaged_object_is_compiled_again(
    tmp_path: Path, damage: Callable[[Path], None], of_the_checksum: bool
) -> None:
    notes: list[Problem] = []
    cache = ObjectCache(tmp_path, note=notes.append)
    path = cache.objects(probe("host"), TREE, [UNIT]).paths[UNIT]
    right = path.read_bytes()
    damage(entries.checksum_file(path) if of_the_checksum else path)
    again = cache.objects(probe("host"), TREE, [UNIT])
    assert (again.compiled, path.read_bytes()) == ((UNIT.path,), right)
    assert [(note.what, note.where.file) for note in notes] == [
        ("this cache file was damaged and is created again", str(path))
    ]
    assert cache.objects(probe("host"), TREE, [UNIT]).compiled == ()
    assert len(notes) == 1


def test_an_object_without_a_checksum_is_compiled_again(tmp_path: Path) -> None:
    notes: list[Problem] = []
    cache = ObjectCache(tmp_path, note=notes.append)
    path = cache.objects(probe("host"), TREE, [UNIT]).paths[UNIT]
    entries.checksum_file(path).unlink()
    path.write_bytes(b"half")
    assert cache.objects(probe("host"), TREE, [UNIT]).compiled == (UNIT.path,)
    assert path.read_bytes().startswith(b"\x7fELF")
    assert notes == []


def test_leftovers_of_the_compiler_are_not_taken_for_objects(tmp_path: Path) -> None:
    """The copy that ninja would take for up to date has no checksum."""
    cache = ObjectCache(tmp_path)
    path = cache.objects(probe("host"), TREE, [UNIT]).paths[UNIT]
    assert list((tmp_path / "compile").rglob("*.cc.o")) == []
    empty(path)
    assert cache.objects(probe("host"), TREE, [UNIT]).paths[UNIT].read_bytes().startswith(b"\x7fELF")


def test_pruning_takes_the_checksum_too(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.write_bytes(b"object")
    path = tmp_path / "objects" / "aa" / "aa.o"
    entries.put(made, path)
    assert entries.state(path) is entries.State.SOUND
    cache_.prune(tmp_path, days=0, most=None)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_library_of_our_own_is_compiled_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    code = tmp_path / "answer.c"
    code.write_text("int answer(void) { return 42; }\n")
    notes: list[Problem] = []
    cache = ObjectCache(tmp_path / "cache", note=notes.append)
    made = own_library(cache, "answer", [code], (), "compiling")
    right = made.read_bytes()
    damage(made)
    assert own_library(cache, "answer", [code], (), "compiling").read_bytes() == right
    assert [note.where.file for note in notes] == [str(made)]


def test_what_cmake_left_when_it_did_not_end_is_made_again(tmp_path: Path) -> None:
    """As on a disk that was full: its cache ends in the middle of a line, and nothing says that it is whole."""
    cache = ObjectCache(tmp_path)
    path = cache.objects(probe("host"), TREE, [UNIT]).paths[UNIT]
    build = cache.compile_folder(probe("host")) / "build"
    (build / "lathe-arguments").unlink()
    (build / "CMakeCache.txt").write_text("CMAKE_BUILD_TYPE:STRI")
    path.unlink()
    assert cache.objects(probe("host"), TREE, [UNIT]).compiled == (UNIT.path,)


@pytest.mark.slow
def test_damage_in_the_folder_of_the_linker_does_not_reach_the_library(cache: ObjectCache) -> None:
    programs, tree = lowered(source("frail", [relu_network()]))
    notes: list[Problem] = []
    noted = ObjectCache(cache.folder, note=notes.append)

    def shared() -> bytes:
        built = library.build(programs[0], tree, cache=noted, owner="frail")
        assert built is not None
        return built.shared.read_bytes()

    right = shared()
    folder = library.work_folder(cache, "frail", "frail") / "host"
    for damage, name in zip(DAMAGES, ("libfrail.so", "merged.o", "merged.map"), strict=True):
        before = (folder / name).stat()
        damage(folder / name)
        os.utime(folder / name, ns=(before.st_atime_ns, before.st_mtime_ns))  # ninja sees nothing
        assert shared() == right
        assert [Path(note.where.file).name for note in notes] == [name]
        notes.clear()
    linked = (folder / "libfrail.so").stat().st_mtime_ns
    assert shared() == right
    assert (folder / "libfrail.so").stat().st_mtime_ns == linked
    assert notes == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def fail(source: object, target: object) -> None:
        raise OSError(code, os.strerror(code), str(target))

    monkeypatch.setattr(shutil, "copyfile", fail)
    with pytest.raises(BuildError) as caught:
        ObjectCache(tmp_path).objects(probe("host"), TREE, [UNIT])
    (problem,) = caught.value.problems
    place = next(str(folder) for folder in (tmp_path, *tmp_path.parents) if os.path.ismount(folder))
    assert Path(problem.where.file).parent.parent == tmp_path / "objects"
    assert f"the file system '{place}' (" in problem.what
    assert ("quota" in problem.what) is (code == errno.EDQUOT)
    assert "LATHE_CACHE_DIR" in problem.remedy
    assert not list((tmp_path / "objects").rglob("*.o"))


@pytest.mark.parametrize("code", [errno.EINVAL, errno.EOPNOTSUPP, errno.EIO])
def test_file_systems_without_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """They may hold a cache; a disk that fails is an error."""

    def fail(handle: int) -> None:
        raise OSError(code, os.strerror(code))

    (tmp_path / "made").write_bytes(b"1")
    monkeypatch.setattr(os, "fsync", fail)
    if code == errno.EIO:
        with pytest.raises(OSError, match="error"):
            entries.put(tmp_path / "made", tmp_path / "entry")
        assert not (tmp_path / "entry").exists()
    else:
        entries.put(tmp_path / "made", tmp_path / "entry")
        assert entries.state(tmp_path / "entry") is entries.State.SOUND


def test_a_file_system_without_locks(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught, disks.writing_to(tmp_path):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    assert "that has locks" in caught.value.problems[0].remedy


@pytest.mark.parametrize("letter", ['"', "\\", ";", ",", "\n"])
def test_a_folder_with_a_name_that_cmake_misreads(letter: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        ObjectCache(tmp_path / f"a{letter}b").use()
    assert repr(letter) in caught.value.problems[0].what
    assert not list(tmp_path.iterdir())


def test_a_copy_of_what_cmake_found_out_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = tmp_path / "known" / "CMakeFiles" / "4.0"
    known.mkdir(parents=True)
    for name in ("a.cmake", "b.cmake"):
        (known / name).write_text(name)
    copied: list[Path] = []

    def stop(made: Path, target: Path) -> None:
        if copied:
            raise KeyboardInterrupt
        copied.append(target)
        target.write_bytes(made.read_bytes())

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", stop)
        with pytest.raises(KeyboardInterrupt):
            library.reuse_detection(tmp_path / "known", tmp_path / "binary")
    assert not (tmp_path / "binary" / "CMakeFiles").exists()
    library.reuse_detection(tmp_path / "known", tmp_path / "binary")
    found = sorted(file.name for file in (tmp_path / "binary" / "CMakeFiles" / "4.0").iterdir())
    assert found == ["a.cmake", "b.cmake"]


def test_the_file_system_of_a_path_that_is_not_there_yet() -> None:
    assert disks.file_system(Path("/proc/no/such/folder")).startswith("the file system '/proc' (")


def test_a_full_disk_below_the_output_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as a write has it: without a name

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(BuildError, match=r"the file system '.*' \(.* bytes free\) is full") as caught:
        package.assemble(tmp_path / "out", "x", {"model/a.bin": b"1"})
    assert str(tmp_path) in caught.value.problems[0].where.file
