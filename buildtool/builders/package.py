"""The output of a build: a folder and an archive of it. Both appear whole or not at all.

build/<library>/{include,lib/<abi>,model,report}   what a user ships
build/<library>/debug/<abi>                        unstripped twins, not in the archive
build/<library>/<library>.tar.gz
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import filecmp
import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, cast

from buildtool.builders.built import BuiltFirmware, BuiltLibrary
from buildtool.builders.disks import writing_to
from buildtool.codegen.source_tree import SourceTree
from buildtool.digests import sha256_of

Contents = Mapping[str, "bytes | Path"]  # path in the output folder -> the bytes, or the file that has them
DEBUG = "debug"
_WORTH_A_LINK = 4096  # bytes
_LIGHT = 1  # of the levels of compression
_SAMPLE = 1 << 16  # bytes
_WORTH_PACKING = 0.85  # of the size that stored contents have


def contents_of(tree: SourceTree, libraries: Sequence[BuiltLibrary], models: Contents) -> dict[str, bytes | Path]:
    """What the output folder holds but for reports: headers, libraries with their twins, model files."""
    files: dict[str, bytes | Path] = {}
    files.update((name, data) for name, data in tree.files.items() if name.startswith("include/"))
    files.update((f"model/{name}", data) for name, data in models.items())
    for library in libraries:
        files[f"lib/{library.abi}/{library.shared.name}"] = library.shared
        if library.archive is not None:
            files[f"lib/{library.abi}/{library.archive.name}"] = library.archive
        files[f"{DEBUG}/{library.abi}/{library.unstripped.name}"] = library.unstripped
    return files


def firmware_contents(tree: SourceTree, built: Sequence[BuiltFirmware]) -> dict[str, bytes | Path]:
    """The same of firmware: what the tree holds for users, and the images."""
    files: dict[str, bytes | Path] = {}
    files.update((name, data) for name, data in tree.files.items() if name.startswith(("include/", "lib/")))
    for firmware in built:
        for image in firmware.images:
            files[f"lib/{firmware.abi}/{image.name}.elf"] = image.elf
            files[f"lib/{firmware.abi}/{image.name}.bin"] = image.binary
        files.update((f"lib/{firmware.abi}/lib{archive.name}.a", archive.data) for archive in firmware.archives)
    return files


def assemble(output: Path, name: str, contents: Contents, packed: bool = True) -> Path | None:
    """Make `output` hold exactly these files and, `packed`, their archive `<name>.tar.gz`; returns the archive.

    Everything is written into a folder beside `output`, which then takes its place. Whatever goes wrong before that
    (a full disk, Ctrl-C) leaves the old output as it was and nothing else. A file that is the same as before keeps its
    time, so that nobody builds again what was made from it.
    """
    packing = f"{name}.tar.gz"
    with writing_to(output), _aside(output) as folder:
        for path in sorted(contents):
            _put(folder / path, contents[path])
            _keep_time(folder / path, output / path)
        if packed:
            archive(folder, name, folder / packing)
        with _alone_in(output.parent):
            _replace(folder, output)
    return output / packing if packed else None


def archive(folder: Path, name: str, file: Path) -> None:
    """Write the folder as `.tar.gz` under the top folder `name`, but for `debug` and other archives.

    Equal folders give equal bytes. A file that is the same as an earlier one is a hard link to it: the weights of a
    model are the same for most ABIs. The compression is a light one, and weights that hardly compress are stored.
    """
    paths = sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix())
    kept = [path for path in paths if path.relative_to(folder).parts[0] != DEBUG and path.suffix != ".aar"]
    seen: dict[str, str] = {}
    with (
        file.open("wb") as raw,
        contextlib.closing(_Members(raw)) as members,
        tarfile.open(fileobj=cast("IO[bytes]", members), mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in kept:
            _add(tar, members, path, f"{name}/{path.relative_to(folder).as_posix()}", seen)


class _Members:
    """A gzip file whose members are compressed, or stored where that hardly helps."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._level = _LIGHT
        self._member = self._begin()
        self._written = 0

    def _begin(self) -> gzip.GzipFile:
        return gzip.GzipFile(filename="", mode="wb", compresslevel=self._level, fileobj=self._raw, mtime=0)

    def suit(self, contents: IO[bytes], size: int) -> None:
        """Before contents are written: to be stored where a piece from their middle hardly compresses."""
        contents.seek(size // 2)
        middle = contents.read(_SAMPLE)
        contents.seek(0)
        packs = len(middle) < _SAMPLE or len(zlib.compress(middle, _LIGHT)) < _WORTH_PACKING * len(middle)
        level = _LIGHT if packs else 0
        if level != self._level:
            self._member.close()
            self._level = level
            self._member = self._begin()

    def write(self, data: bytes) -> int:
        self._written += len(data)
        return self._member.write(data)

    def tell(self) -> int:
        return self._written

    def close(self) -> None:
        self._member.close()


def _add(tar: tarfile.TarFile, members: _Members, path: Path, name: str, seen: dict[str, str]) -> None:
    """One entry; `seen` maps the digests of earlier files to their names."""
    entry = tarfile.TarInfo(name)
    entry.mtime = 0
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    if path.is_dir():
        entry.type, entry.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(entry)
        return
    entry.mode = 0o755 if path.suffix == ".so" else 0o644
    size = path.stat().st_size
    first = seen.setdefault(sha256_of(path), name) if size >= _WORTH_A_LINK else name
    if first != name:
        entry.type, entry.linkname = tarfile.LNKTYPE, first
        tar.addfile(entry)
        return
    with path.open("rb") as contents:
        entry.size = size
        members.suit(contents, size)
        tar.addfile(entry, contents)


def write_file(path: Path, contents: bytes) -> None:
    """One file, whole or not at all."""
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.new-{os.getpid()}")
        try:
            temporary.write_bytes(contents)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def size_of(contents: bytes | Path) -> int:
    return len(contents) if isinstance(contents, bytes) else contents.stat().st_size


@contextlib.contextmanager
def scratch(output: Path) -> Iterator[Path]:
    """Where a folder may be made for what will be written to `output`: on the same disk. It is removed in the end; one
    of a build that was killed is cleared by the next.
    """
    folder = output.parent / f".{output.name}.new-weights-{os.getpid()}"
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put(path: Path, contents: bytes | Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(contents, bytes):
        path.write_bytes(contents)
    else:
        shutil.copyfile(contents, path)
    with contextlib.suppress(PermissionError):  # of a disk without modes
        path.chmod(0o755 if path.suffix == ".so" else 0o644)


def _keep_time(new: Path, old: Path) -> None:
    # Another build may replace the old output just now, and some disks do not take times.
    with contextlib.suppress(FileNotFoundError, PermissionError):
        if filecmp.cmp(new, old, shallow=False):
            known = old.stat()
            os.utime(new, ns=(known.st_atime_ns, known.st_mtime_ns))


@contextlib.contextmanager
def _aside(output: Path) -> Iterator[Path]:
    """A new folder beside `output`, removed in the end unless it took its place. Clears what killed builds left."""
    output.parent.mkdir(parents=True, exist_ok=True)
    for left in output.parent.glob(f".{output.name}.new-*"):
        if not _is_running(left.name.rpartition("-")[2]):
            shutil.rmtree(left, ignore_errors=True)
    folder = output.parent / f".{output.name}.new-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Lets one build at a time put its output into a folder; waits for the others."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _is_running(process: str) -> bool:
    return process.isdigit() and Path(f"/proc/{process}").exists()


def _replace(folder: Path, output: Path) -> None:
    """`folder` takes the place of `output`, whose old contents go only when the new ones stand."""
    old = folder.with_name(f"{folder.name}-old")
    shutil.rmtree(old, ignore_errors=True)
    had_output = output.exists()
    if had_output:
        try:
            output.rename(old)
        except OSError as problem:
            if problem.errno != errno.EXDEV:
                raise
            shutil.rmtree(output)  # a folder of a lower layer of a container's image, which cannot be renamed
            had_output = False
    try:
        folder.rename(output)
    except BaseException:
        if had_output:
            old.rename(output)
        raise
    shutil.rmtree(old, ignore_errors=True)
