"""Several ABIs at once: shared jobs, the first failure, launchers, and what a change of the model makes run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from buildtool.builders import library, parallel
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.builders.toolchain import compiler_launcher
from buildtool.errors import BuildError
from tests.builders.conftest import ABI_NAMES, lowered, source
from tests.plan.graphs import small_network

STEP = re.compile(r"^\[\d+/\d+\] (.*)")


def test_all_run_at_the_same_time() -> None:
    processes = Processes()
    began = time.monotonic()
    results = parallel.each(
        lambda n: processes.run(["sh", "-c", f"sleep 1; echo {n}"], doing="x"), [1, 2, 3], processes
    )
    assert [int(result) for result in results] == [1, 2, 3]
    assert time.monotonic() - began < 2.9


def test_the_first_failure_ends_the_others() -> None:
    processes = Processes()
    began = time.monotonic()
    with pytest.raises(BuildError, match="working failed"):
        parallel.each(
            lambda line: processes.run(["sh", "-c", line], doing="working"), ["sleep 60", "exit 3"], processes
        )
    assert time.monotonic() - began < 30


def test_jobs_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    with parallel.shared_jobs(2) as variables:
        pipe = Path(variables["MAKEFLAGS"].rpartition("fifo:")[2])
        handle = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        assert len(os.read(handle, 1000)) == len(os.sched_getaffinity(0))
        os.close(handle)
    assert not pipe.exists()
    monkeypatch.setenv("MAKEFLAGS", "-j4 --jobserver-auth=fifo:/somewhere")
    with parallel.shared_jobs(2) as variables:
        assert variables == {}


@pytest.mark.arm
@pytest.mark.slow
def test_three_abis_in_one_build(cache: ObjectCache) -> None:
    programs, tree = lowered(source(), *ABI_NAMES)
    built = library.build_all(programs, tree, cache=cache, owner="three")
    assert [item.info.machine for item in built][1:] == ["AArch64", "ARM"]
    assert [item.abi for item in built] == list(ABI_NAMES)


@pytest.mark.slow
def test_a_change_of_the_model_links_and_nothing_else(cache: ObjectCache) -> None:
    said: list[str] = []
    loud = ObjectCache(cache.folder, Processes(echo=said.append))

    def steps(scale: float) -> list[str]:
        said.clear()
        programs, tree = lowered(source(graphs=[small_network(scale=scale)], code=True))
        built = library.build(programs[0], tree, cache=loud, owner="changes")
        assert built is not None
        assert built.compiled == 0 or scale == 1.0
        return sorted(match.group(1) for match in map(STEP.match, said) if match)

    steps(1.0)
    assert steps(1.0) == []
    assert steps(3.0) == [
        "Assembling weights.S",
        "Linking CXX shared library unstripped/libtiny.so",
        "Linking CXX static library libtiny.a",
        "Tailoring tiny",
    ]


def build_with(launcher: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library whose objects were all compiled through a launcher."""
    monkeypatch.setenv("LATHE_COMPILER_LAUNCHER", launcher)
    programs, tree = lowered(source())
    built = library.build(programs[0], tree, cache=ObjectCache(folder / "cache"), owner="x")
    assert built is not None
    assert built.reused == 0
    return built.shared


def test_words_of_a_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CMAKE_CXX_COMPILER_LAUNCHER", "distcc;--verbose")
    assert compiler_launcher() == ("distcc", "--verbose")
    monkeypatch.setenv("LATHE_COMPILER_LAUNCHER", "ccache distcc")
    assert compiler_launcher() == ("ccache", "distcc")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ccache") is None, reason="ccache is not installed")
def test_ccache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Lathe's own cache has gone, ccache has what it compiled, and the bytes are the same."""
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "ccache"))
    first = build_with("ccache", tmp_path, monkeypatch).read_bytes()
    shutil.rmtree(tmp_path / "cache")
    log = tmp_path / "log"
    monkeypatch.setenv("CCACHE_LOGFILE", str(log))
    assert build_with("ccache", tmp_path, monkeypatch).read_bytes() == first
    assert log.read_text().count("Result: direct_cache_hit") > 10


@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("distccd") is None, reason="distcc is not installed")
def test_distcc_on_loopback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["distccd", "--no-detach", "--daemon", "--port", "36321", "--listen", "127.0.0.1", "--allow", "127.0.0.1"]
    options = ["--log-stderr", "--log-level=info", "--enable-tcp-insecure", "--jobs=2"]
    log = tmp_path / "distccd.log"
    (tmp_path / "state").mkdir()
    with log.open("w") as stream:
        server = subprocess.Popen([*command, *options], stderr=stream)
    try:
        monkeypatch.setenv("DISTCC_HOSTS", "127.0.0.1:36321")
        monkeypatch.setenv("DISTCC_FALLBACK", "0")
        monkeypatch.setenv("DISTCC_DIR", str(tmp_path / "state"))
        time.sleep(2)
        shared = build_with("distcc", tmp_path, monkeypatch)
    finally:
        server.terminate()
        server.wait()
    assert shared.is_file()
    assert log.read_text().count("COMPILE_OK") > 10
