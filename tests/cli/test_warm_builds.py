"""What was built or checked before, and has not changed, is not built or checked again; and `lathe build --watch`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from buildtool import resources
from tests.cli.conftest import Lathe

ARGUMENTS = ("--abi", "host", "--no-archive")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The records are of this test alone; objects are those of all tests."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for name in ("objects", "compile", "tools"):
        (resources.cache_dir() / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(resources.cache_dir() / name)
    monkeypatch.setenv("LATHE_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def old(digits: Path) -> Path:
    """A deployment whose files were written well before anything begins."""
    time.sleep(0.06)
    return digits


def change_weights(file: Path) -> None:
    model = onnx.load(file)
    weights = model.graph.initializer[0]
    weights.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weights) * np.float32(2), weights.name))
    onnx.save(model, file)


@pytest.mark.slow
def test_nothing_is_done_where_nothing_has_changed(lathe: Lathe, old: Path, tmp_path: Path, cache: Path) -> None:
    del cache
    lines = old.read_text().splitlines()
    old.write_text("\n".join(line for line in lines if "sha256" not in line) + "\n")
    time.sleep(0.06)
    command = ("build", old, "-o", tmp_path / "out", *ARGUMENTS)

    def up_to_date() -> bool:
        result = lathe(*command, "--json")
        assert result.code == 0
        (library,) = result.document["libraries"]
        assert library["compiled"] == 0 or not result.document["up_to_date"]
        return bool(result.document["up_to_date"])

    assert [up_to_date(), up_to_date()] == [False, True]
    assert "nothing has changed" in lathe(*command).stdout
    os.utime(old.with_name("digits.onnx"))
    assert up_to_date(), "a file is known by its content"
    time.sleep(0.06)
    change_weights(old.with_name("digits.onnx"))
    time.sleep(0.06)
    assert [up_to_date(), up_to_date()] == [False, True]
    (tmp_path / "out" / "digits" / "report" / "validation.json").write_text("{}")
    assert up_to_date(), "what other commands write into the folder is none of the build's"


def test_a_right_file_is_checked_once(lathe: Lathe, old: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del cache
    first = lathe("check", old, "--abi", "host", "--json")
    with monkeypatch.context() as patch:
        patch.setattr("buildtool.workflow.checking.check", None)
        again = lathe("check", old, "--abi", "host", "--json")
    assert (again.code, again.stdout) == (0, first.stdout)
    old.write_text(old.read_text().replace("[image]", "[imag]"))
    assert lathe("check", old, "--abi", "host").code == 3


@pytest.mark.slow
def test_watching_builds_again_after_each_change(old: Path, tmp_path: Path, cache: Path) -> None:
    command = [sys.executable, "-c", "from buildtool.cli.main import main; main()", "build", str(old)]
    log = tmp_path / "log"
    with log.open("w") as stream:
        watching = subprocess.Popen(
            [*command, "-o", str(tmp_path / "out"), *ARGUMENTS, "--watch"],
            stdout=stream,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LATHE_CACHE_DIR": str(cache)},
        )
    try:
        wait_for(log, "Ctrl-C ends", 1)
        right = old.read_text()
        old.write_text(right.replace("[image]", "[imag]"))
        wait_for(log, "no tensor 'imag'", 1)
        wait_for(log, "Ctrl-C ends", 2)
        old.write_text(right.replace("library_name: digits", "library_name: others"))
        wait_for(log, "Ctrl-C ends", 3)
        assert (tmp_path / "out" / "others" / "report" / "build.json").is_file()
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 130
    finally:
        watching.kill()
        watching.wait()


def wait_for(log: Path, words: str, times: int) -> None:
    ends = time.monotonic() + 120
    while log.read_text().count(words) < times:
        assert time.monotonic() < ends, log.read_text()
        time.sleep(0.1)
