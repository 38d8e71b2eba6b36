"""Builds on odd file systems, with odd homes and clocks: the same bytes, or one clear error and nothing half.

What a conversion does in odd surroundings: test_environments.py.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.native_builds import ROOT
from tests.workflow import kills
from tests.workflow.test_reproducible import as_other_user, everything, example_in, open_folder

__all__ = ["open_folder"]  # a fixture
_NOBODY = 65534
_FAILED = 7  # the exit code of a build that could not be
EQUAL = (
    *("a clock that jumps", "no fsync", "no modes", "no times", "no links"),
    *("layers", "files that stay"),
)


def build(
    place: Path, prefix: Sequence[str] = (), words: Sequence[str] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Builds the example in a folder."""
    settings = {key: value for key, value in os.environ.items() if not key.startswith(("LATHE_", "XDG_"))}
    settings["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = ["build", "deploy.yml", "--target-abis", "host", "--output", "out", "--quiet", *words]
    return subprocess.run(
        [*prefix, sys.executable, "-c", kills.START, *command],
        cwd=place,
        env={**settings, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def made(place: Path) -> dict[str, bytes]:
    """What applications get."""
    found = everything(place / "out" / "digits")
    return {name: data for name, data in found.items() if name.split("/")[0] in ("model", "include", "lib")}


def assert_failed(done: subprocess.CompletedProcess[str], *told: str) -> None:
    """One error that tells these, and what to do."""
    assert done.returncode == _FAILED, (done.returncode, done.stderr)
    assert done.stderr.count("error: ") >= 1
    assert "Traceback" not in done.stderr
    assert "fix:" in done.stderr
    for text in told:
        assert text in done.stderr


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], Path]:
    """What an ordinary build makes, and the cache that it leaves."""
    folder = tmp_path_factory.mktemp("ordinary")
    example_in(folder / "work")
    done = build(folder / "work", LATHE_CACHE_DIR=str(folder / "cache"))
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder / "cache" / "link")  # others have folders of their own
    shutil.rmtree(folder / "cache" / "builds", ignore_errors=True)
    return made(folder / "work"), folder / "cache"


@pytest.fixture(scope="module")
def habits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that stands before the system's."""
    library = tmp_path_factory.mktemp("habits") / "odd_system.so"
    source = Path(__file__).with_name("odd_system.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-O1", "-o", library, source], check=True)
    return library


@pytest.mark.sweep
@pytest.mark.parametrize("system", EQUAL)
def test_builds_on_an_odd_system_are_equal(
    system: str, ordinary: tuple[Mapping[str, bytes], Path], habits: Path, tmp_path: Path
) -> None:
    """A first build, and one in the place of another output."""
    wanted, cache = ordinary
    shutil.copytree(cache, tmp_path / "cache")
    example_in(tmp_path / "work")
    odd = {"LATHE_ODD_SYSTEM": system, "LD_PRELOAD": str(habits), "LATHE_CACHE_DIR": str(tmp_path / "cache")}
    for words in ((), ("--no-archive",)):
        done = build(tmp_path / "work", words=words, **odd)
        assert done.returncode == 0, done.stderr
        assert made(tmp_path / "work") == wanted


@pytest.mark.sweep
@pytest.mark.parametrize(("system", "told"), [("no locks", "has locks, such as a local disk"), ("lost answers", "")])
def test_an_odd_system_that_cannot_build_says_so_and_spoils_nothing(
    system: str, told: str, ordinary: tuple[Mapping[str, bytes], Path], habits: Path, tmp_path: Path
) -> None:
    wanted, cache = ordinary
    shutil.copytree(cache, tmp_path / "cache")
    example_in(tmp_path / "work")
    folder = {"LATHE_CACHE_DIR": str(tmp_path / "cache")}
    assert_failed(build(tmp_path / "work", LATHE_ODD_SYSTEM=system, LD_PRELOAD=str(habits), **folder), told)
    assert not made(tmp_path / "work")
    done = build(tmp_path / "work", **folder)
    assert done.returncode == 0, done.stderr
    assert made(tmp_path / "work") == wanted


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["it's $HOME `x` (#1) 日本語", "long " * 49 + "name"])
def test_a_cache_may_lie_in_an_odd_place(name: str, ordinary: tuple[Mapping[str, bytes], Path], tmp_path: Path) -> None:
    wanted, cache = ordinary
    shutil.copytree(cache, tmp_path / name / "cache")
    example_in(tmp_path / name / "work")
    done = build(tmp_path / name / "work", LATHE_CACHE_DIR=str(tmp_path / name / "cache"))
    assert done.returncode == 0, done.stderr
    assert made(tmp_path / name / "work") == wanted


@pytest.mark.sweep
def test_homes_that_may_not_be_written(ordinary: tuple[Mapping[str, bytes], Path], open_folder: Path) -> None:
    """Without a cache elsewhere that is an error; with one the home does not matter."""
    prefix = as_other_user()
    if not prefix:
        pytest.skip("root may write everywhere, and only root may become another user, with setpriv")
    wanted, cache = ordinary
    work, home = open_folder / "work", open_folder / "home"
    example_in(work)
    os.chown(work, _NOBODY, _NOBODY)
    home.mkdir(mode=0o555)
    assert_failed(build(work, prefix, HOME=str(home)), "Permission denied", str(home))
    assert not list(home.iterdir())
    shutil.copytree(cache, open_folder / "caches" / "lathe")
    for path in (open_folder / "caches", *(open_folder / "caches").rglob("*")):
        os.chown(path, _NOBODY, _NOBODY)
    done = build(work, prefix, HOME=str(home), XDG_CACHE_HOME=str(open_folder / "caches"))
    assert done.returncode == 0, done.stderr
    assert made(work) == wanted


@contextlib.contextmanager
def small_disk(place: Path, size: str) -> Iterator[None]:
    """A disk of its own in a folder."""
    place.mkdir(parents=True, exist_ok=True)
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={size}", "lathe-test", str(place)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.sweep
@pytest.mark.parametrize("full", ["cache", "work/out"])
def test_a_full_disk_is_named_and_a_larger_one_is_enough(
    full: str, ordinary: tuple[Mapping[str, bytes], Path], tmp_path: Path
) -> None:
    wanted, cache = ordinary
    example_in(tmp_path / "work")
    place = tmp_path / full
    with small_disk(place, "200k"):
        if full != "cache":
            shutil.copytree(cache, tmp_path / "cache")
        folder = {"LATHE_CACHE_DIR": str(tmp_path / "cache")}
        assert_failed(build(tmp_path / "work", **folder), str(place), "free space on the disk")
        assert not made(tmp_path / "work")
        subprocess.run(["mount", "-o", "remount,size=400m", str(place)], check=True)
        done = build(tmp_path / "work", **folder)
        assert done.returncode == 0, done.stderr
        assert made(tmp_path / "work") == wanted


@pytest.mark.sweep
def test_users_of_one_cache_may_or_may_not_write_there(
    ordinary: tuple[Mapping[str, bytes], Path], open_folder: Path
) -> None:
    """What one user keeps for himself is an error for the other, and root takes it."""
    prefix = as_other_user()
    if not prefix:
        pytest.skip("only root may become another user, with setpriv")
    wanted, known = ordinary
    for owner, reader in ((prefix, []), ([], prefix)):
        place = open_folder / ("a root" if reader else "a user")
        place.mkdir()
        shutil.copytree(known, place / "cache")
        for name, user in (("first", owner), ("second", reader)):
            example_in(place / name)
            for path in (place / name, *((place / "cache", *(place / "cache").rglob("*")) if name == "first" else ())):
                os.chown(path, *(2 * (_NOBODY,) if user else (0, 0)))
            masked = ["sh", "-c", 'umask 077; exec "$@"', "sh", *user]
            done = build(place / name, masked, LATHE_CACHE_DIR=str(place / "cache"))
            if name == "second" and user:
                assert_failed(done, "Permission denied", str(place / "cache"))
            else:
                assert done.returncode == 0, done.stderr
                assert made(place / name) == wanted
