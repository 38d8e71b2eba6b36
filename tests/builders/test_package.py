"""The output of a build appears whole or not at all, and is the same bytes for the same build."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from buildtool.builders import package
from buildtool.errors import BuildError

CONTENTS: dict[str, bytes | Path] = {
    "include/lathe/x.h": b"h",
    "lib/host/libx.so": b"so",
    "model/x.pb": b"pb",
    "debug/host/libx.so": b"twin",
}


def files_below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_the_output_holds_what_was_asked_for(tmp_path: Path) -> None:
    library = tmp_path / "in.a"
    library.write_bytes(b"archive")
    output = tmp_path / "build" / "x"
    archive = package.assemble(output, "x", {**CONTENTS, "lib/host/libx.a": library})
    assert archive == output / "x.tar.gz"
    assert set(files_below(output)) == {*CONTENTS, "lib/host/libx.a", "x.tar.gz"}
    assert names_in(output.parent) == ["x"]
    with tarfile.open(archive) as tar:
        entries = tar.getmembers()
    names = [entry.name for entry in entries]
    assert names == sorted(names)
    assert "x/lib/host/libx.a" in names
    assert not [name for name in names if "debug" in name or name.endswith(".tar.gz")]
    assert {(entry.uid, entry.gid, entry.mtime) for entry in entries} == {(0, 0, 0)}
    assert {entry.name: oct(entry.mode) for entry in entries}["x/lib/host/libx.so"] == "0o755"


def _archive(folder: Path, contents: Mapping[str, bytes]) -> Path:
    made = package.assemble(folder, "x", contents)
    assert made is not None
    return made


def test_archives_of_equal_folders_are_equal(tmp_path: Path) -> None:
    first = _archive(tmp_path / "a", CONTENTS).read_bytes()  # type: ignore[arg-type]
    old_mask = os.umask(0o077)
    try:
        second = _archive(tmp_path / "b", dict(reversed(list(CONTENTS.items())))).read_bytes()  # type: ignore[arg-type]
    finally:
        os.umask(old_mask)
    assert first == second


def test_files_that_hardly_compress_are_stored(tmp_path: Path) -> None:
    noise, zeros = random.Random(1).randbytes(1 << 18), bytes(1 << 18)
    archive = _archive(tmp_path / "x", {"a": zeros, "b": noise, "c": zeros + b"c"})
    assert len(noise) < archive.stat().st_size < len(noise) * 1.05
    with tarfile.open(archive) as tar:
        found = {name: tar.extractfile(f"x/{name}") for name in "abc"}
        assert [file.read() for file in found.values() if file] == [zeros, noise, zeros + b"c"]


def test_files_of_an_older_build_vanish(tmp_path: Path) -> None:
    package.assemble(tmp_path / "x", "x", CONTENTS)
    package.assemble(tmp_path / "x", "x", {"model/y.pb": b"y"})
    assert set(files_below(tmp_path / "x")) == {"model/y.pb", "x.tar.gz"}


def _disk_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "lib/host/libx.so")


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("step", "failure", "error"),
    [
        ("_put", _disk_full, BuildError),
        ("_put", _interrupted, KeyboardInterrupt),
        ("archive", _disk_full, BuildError),
        ("archive", _interrupted, KeyboardInterrupt),
        ("_replace", _interrupted, KeyboardInterrupt),
    ],
)
@pytest.mark.parametrize("had_output", [False, True])
def test_a_failure_leaves_what_was_there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    failure: Callable[..., None],
    error: type[BaseException],
    had_output: bool,
) -> None:
    if had_output:
        package.assemble(tmp_path / "x", "x", {"model/old.pb": b"old"})
    before = files_below(tmp_path)
    monkeypatch.setattr(package, step, failure)
    with pytest.raises(error):
        package.assemble(tmp_path / "x", "x", CONTENTS)
    assert files_below(tmp_path) == before
    assert names_in(tmp_path) == (["x"] if had_output else [])


def test_a_failed_rename_brings_the_old_output_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package.assemble(tmp_path / "x", "x", {"model/old.pb": b"old"})
    before = files_below(tmp_path)
    rename = Path.rename

    def fail_on_new(self: Path, target: Path) -> Path:
        if target == tmp_path / "x" and not self.name.endswith("-old"):
            raise OSError(errno.EIO, "input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_on_new)
    with pytest.raises(BuildError):
        package.assemble(tmp_path / "x", "x", CONTENTS)
    assert files_below(tmp_path) == before


def test_an_output_in_a_lower_layer_of_an_image_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package.assemble(tmp_path / "x", "x", {"model/old.pb": b"old"})
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self == tmp_path / "x":
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    package.assemble(tmp_path / "x", "x", CONTENTS)
    assert files_below(tmp_path / "x").keys() - {"x.tar.gz"} == CONTENTS.keys()
    assert names_in(tmp_path) == ["x"]


def test_leftovers_of_a_killed_build_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".x.new-999999999").mkdir()
    package.assemble(tmp_path / "x", "x", CONTENTS)
    assert names_in(tmp_path) == ["x"]


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BuildError, match="writing failed"):
        package.assemble(tmp_path / "file" / "x", "x", CONTENTS)


def test_one_file_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deep" / "model.pb"
    package.write_file(path, b"one")
    monkeypatch.setattr(Path, "replace", _disk_full)
    with pytest.raises(BuildError, match="free space"):
        package.write_file(path, b"two")
    assert files_below(tmp_path) == {"deep/model.pb": b"one"}


def _assemble_often(output: Path, number: int) -> None:
    for _ in range(20):
        package.assemble(output, "x", {**CONTENTS, "model/x.pb": bytes([number])})


@pytest.mark.slow
def test_builds_at_the_same_time_replace_each_other_whole(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_assemble_often, args=(tmp_path / "x", number)) for number in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    assert names_in(tmp_path) == ["x"]
    assert set(files_below(tmp_path / "x")) == {*CONTENTS, "x.tar.gz"}


def test_equal_files_are_packed_once(tmp_path: Path) -> None:
    weights = bytes(range(256)) * 64
    contents = {"model/y.data": weights, "model/host/y.data": weights, "model/z.data": weights[::-1]}
    archive = package.assemble(tmp_path / "x", "x", contents)
    with tarfile.open(archive) as tar:
        links = {entry.name: entry.linkname for entry in tar.getmembers() if entry.islnk()}
        for name, data in contents.items():
            stream = tar.extractfile(f"x/{name}")
            assert stream is not None
            assert stream.read() == data
    assert links == {"x/model/y.data": "x/model/host/y.data"}
