"""Odd surroundings of a conversion, and its end at any moment: the same bytes, or one clear error.

Other users, masks, languages and times: test_reproducible.py. More kills, of more commands: `make kills COUNT=200`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.native_builds import ROOT
from tests.workflow import kills
from tests.workflow.test_reproducible import as_other_user, everything, example_in, open_folder

__all__ = ["open_folder"]  # a fixture
_LONG = "long " * 49 + "name"  # 249 letters


@dataclass(frozen=True)
class Odd:
    """What differs from an ordinary run. Variables that are None are not set."""

    place: str = "work"
    variables: Mapping[str, str | None] = field(default_factory=dict)
    flags: Sequence[str] = ()  # of Python
    limits: Mapping[int, int] = field(default_factory=dict)
    closed: Sequence[int] = ()  # of the standard streams
    prepare: Callable[[Path], None] = lambda folder: None


def _in_the_future(folder: Path) -> None:
    for file in folder.iterdir():
        os.utime(file, (4_000_000_000, 4_000_000_000))


ODD = {
    "no home": Odd(variables={"HOME": None, "XDG_CACHE_HOME": None}),
    "a home that is nowhere": Odd(variables={"HOME": "/nowhere/at/all"}),
    "spaces and quotes": Odd('it\'s a "folder" $HOME `x` \\ 100%'),
    "other letters": Odd("Übung-日本語-🦊"),
    "a name of 249 letters": Odd(_LONG),
    "optimised Python": Odd(flags=["-OO"]),
    "plain C": Odd(variables={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "files of the future": Odd(prepare=_in_the_future),
    "64 open files": Odd(limits={resource.RLIMIT_NOFILE: 64}),
    "an empty PATH": Odd(variables={"PATH": ""}),
    "no temporary folder": Odd(variables={"TMPDIR": "/nowhere/at/all"}),
    "a terminal without a size": Odd(variables={"COLUMNS": "1", "LINES": "0", "TERM": None}),
    "bytes that are no letters": Odd(os.fsdecode(b"fa\xff\xfe")),
    "no input": Odd(closed=[0]),
    "no output": Odd(closed=[1]),
    "no streams at all": Odd(closed=[0, 1, 2]),
}


def convert(folder: Path, odd: Odd, prefix: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Converts the example in the folder, with a cache of its own."""
    settings: dict[str, str] = {
        **os.environ,
        "LATHE_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    for name, value in odd.variables.items():
        settings.pop(name, None)
        if value is not None:
            settings[name] = value

    def limit() -> None:
        for kind, most in odd.limits.items():
            resource.setrlimit(kind, (most, most))
        for stream in odd.closed:
            os.close(stream)

    words = ["convert", "deploy.yml", "--target-abis", "host", "--emit=ir,plan,source", "--output", "out"]
    return subprocess.run(
        [*prefix, sys.executable, *odd.flags, "-c", kills.START, *words],
        cwd=folder / odd.place,
        env=settings,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of an ordinary run."""
    folder = tmp_path_factory.mktemp("ordinary")
    example_in(folder / "work")
    done = convert(folder, Odd())
    assert done.returncode == 0, done.stderr
    return everything(folder / "work" / "out" / "digits" / "model")


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_odd_surroundings_do_not_matter(name: str, ordinary: Mapping[str, bytes], tmp_path: Path) -> None:
    odd = ODD[name]
    example_in(tmp_path / odd.place)
    odd.prepare(tmp_path / odd.place)
    done = convert(tmp_path, odd)
    assert done.returncode == 0, done.stderr
    assert everything(tmp_path / odd.place / "out" / "digits" / "model") == ordinary


@pytest.mark.slow
def test_files_that_may_not_grow_are_an_error_and_leave_nothing_half(tmp_path: Path) -> None:
    example_in(tmp_path / "work")
    done = convert(tmp_path, Odd(limits={resource.RLIMIT_FSIZE: 4096}))
    assert done.returncode not in (0, 70), done.stderr
    assert "error:" in done.stderr
    assert "Traceback" not in done.stderr
    left = everything(tmp_path / "work" / "out") if (tmp_path / "work" / "out").exists() else {}
    assert not [name for name in left if name.endswith((".pb", ".data", ".tar.gz"))]


@pytest.mark.slow
def test_two_users_share_a_cache(ordinary: Mapping[str, bytes], open_folder: Path) -> None:
    """The second one reads what the first has written, and may not write there."""
    prefix = as_other_user()
    if not prefix:
        pytest.skip("only root may become another user, with setpriv")
    example_in(open_folder / "work")
    assert convert(open_folder, Odd()).returncode == 0
    example_in(open_folder / "other")
    os.chown(open_folder / "other", 65534, 65534)
    done = convert(open_folder, Odd("other"), prefix)
    assert done.returncode == 0, done.stderr
    assert everything(open_folder / "other" / "out" / "digits" / "model") == ordinary


@pytest.mark.slow
def test_a_killed_build_and_a_killed_calibration_are_made_good_by_the_next(tmp_path: Path) -> None:
    assert kills.kill_often(tmp_path, count=3, seed=1, names=("build", "quantize")).total() == 3
