"""Equal inputs give equal bytes: in any folder, for any user, in any language, at any time, with any number of jobs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import buildtool
from buildtool.artifacts import model_files
from tests.cli.conftest import EXAMPLE
from tests.native_builds import ROOT

_LOCALE = "tr_TR"  # its letters i and I are not a pair, and its numbers have commas
_NOBODY = 65534
_START = "import sys; from buildtool.cli.main import main; sys.argv[0] = 'lathe'; sys.exit(main())"


@dataclass(frozen=True)
class Somebody:
    """Who builds where: what must not show in the result."""

    place: str
    jobs: int
    umask: int
    prefix: Sequence[str] = ()  # of commands that another user is to run
    variables: Mapping[str, str] = field(default_factory=dict)


def everything(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def example_in(folder: Path) -> Path:
    """A copy of the example's deployment."""
    folder.mkdir(parents=True)
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, folder / name)
    return folder / "deploy.yml"


def assert_equal_and_silent_about(place: Path, first: Mapping[str, bytes], second: Mapping[str, bytes]) -> None:
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    assert any(name.startswith("source/") for name in first)
    assert [name for name, data in first.items() if str(place).encode() in data] == []


def test_two_conversions_in_two_folders_have_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for place in ("here", "there/deeper"):
        deployment = example_in(tmp_path / place)
        options = buildtool.Options(deployment.parent / "out", frozenset({"ir", "plan", "source"}))
        buildtool.convert(deployment, buildtool.Overrides(("host",)), options)
        found.append(everything(deployment.parent / "out" / "digits"))
    assert_equal_and_silent_about(tmp_path, *found)


def test_weights_that_wait_in_files_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = example_in(tmp_path / "here")
    buildtool.convert(deployment, options=buildtool.Options(tmp_path / "memory"))
    monkeypatch.setattr(model_files, "_LARGE", 1)
    buildtool.convert(deployment, options=buildtool.Options(tmp_path / "files"))
    held = everything(tmp_path / "files")
    assert held == everything(tmp_path / "memory")
    assert any(name.endswith(".data") for name in held)
    assert not list((tmp_path / "files").glob(".*"))


@contextmanager
def jobs_for(folder: Path, count: int) -> Iterator[str]:
    """What lets all programs of a build together run so many jobs, as GNU make tells it."""
    pipe = folder / "jobs"
    os.mkfifo(pipe)
    pipe.chmod(0o666)
    handle = os.open(pipe, os.O_RDWR)
    try:
        os.write(handle, b"+" * (count - 1))
        yield f" -j{count} --jobserver-auth=fifo:{pipe}"
    finally:
        os.close(handle)


def built_by(who: Somebody, folder: Path, abi: str) -> dict[str, bytes]:
    """What a build of the example makes, with the models inside, for somebody with an empty cache."""
    home = folder / who.place
    deployment = example_in(home / "work")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHON"))}
    settings = {**inherited, "HOME": str(home), "LATHE_CACHE_DIR": str(home / "cache"), "PYTHONPATH": str(ROOT)}
    settings |= {"PYTHONDONTWRITEBYTECODE": "1", **who.variables}
    if who.prefix:
        for path in (home, *home.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
    words = ["build", deployment.name, "--target-abis", abi, "--emit=ir,plan,source", "--output", "out", "--quiet"]
    words += ["--model_graph_format=code", "--model_data_format=code"]
    with jobs_for(home, who.jobs) as flags:
        subprocess.run(
            [*who.prefix, sys.executable, "-c", _START, *words],
            cwd=deployment.parent,
            env={**settings, "MAKEFLAGS": flags},
            umask=who.umask,
            check=True,
        )
    return everything(deployment.parent / "out" / "digits")


def as_other_user() -> list[str]:
    """The start of a command that another user runs, who may read what root may; empty where there is no way."""
    # A test environment may stand in root's own folder.
    reads = [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
    command = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", *reads, "--"]
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return []
    able = subprocess.run([*command, sys.executable, "-c", "pass"], cwd="/", capture_output=True, check=False)
    return [] if able.returncode else command


def other_language(folder: Path) -> dict[str, str]:
    """Variables of a locale that this system can make."""
    made = shutil.which("localedef") and subprocess.run(
        ["localedef", "-i", _LOCALE, "-f", "UTF-8", folder / f"{_LOCALE}.UTF-8"], capture_output=True, check=False
    )
    if not made or made.returncode:
        return {"LC_ALL": "C.UTF-8"}
    return {"LC_ALL": f"{_LOCALE}.UTF-8", "LOCPATH": str(folder)}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="lathe-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "abi", ["host", pytest.param("arm-linux-gnueabihf", marks=[pytest.mark.arm, pytest.mark.sweep])]
)
def test_the_surroundings_of_a_build_do_not_change_it(open_folder: Path, abi: str) -> None:
    """Nothing is shared between the two builds but the compiler and Lathe itself."""
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}  # then files are ASCII if nobody says more
    one = Somebody("here", 1, 0o022, (), {**plain, "TZ": "UTC", "PYTHONHASHSEED": "0", "USER": "root"})
    other = {"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "4711", "USER": "nobody", **other_language(open_folder)}
    two = Somebody("there/deeper", 4, 0o077, as_other_user(), other)
    assert_equal_and_silent_about(open_folder, *(built_by(who, open_folder, abi) for who in (one, two)))
    if not two.prefix:
        pytest.skip("equal, but built by the same user: only root may become another one, with setpriv")
