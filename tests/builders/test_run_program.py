"""What `lathe_run` does besides running: cores, last words of a crash, and what it tells meanwhile."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.builders.objects import ObjectCache
from buildtool.builders.runner import shared_runner
from buildtool.devices.crash import functions, last_words
from buildtool.drafts import operator as draft
from buildtool.ops.registry import registry
from tests.builders.conftest import ABIS, Build, relu_network, source
from tests.builders.test_runner import EMULATORS
from tests.plan.graphs import apply

Words = list[str | Path]


@pytest.fixture
def command(build: Build, cache: ObjectCache, abi: str) -> Words:
    built = build(source("one", [relu_network()], code=True), abi, owner="runner")
    return [*EMULATORS[abi], shared_runner(abi, cache), "--library", built.shared, "--symbol", "lathe_api_one"]


def told(command: Words, *more: object) -> dict[str, Any]:
    """The result of a run."""
    words = [*map(str, command), *map(str, more), "--json", "-"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def machine(folder: Path, speeds: dict[int, int], file: str) -> Path:
    """What Linux tells of cores."""
    for core, speed in speeds.items():
        (folder / f"cpu{core}" / file).parent.mkdir(parents=True)
        (folder / f"cpu{core}" / file).write_text(f"{speed}\n")
    return folder


@pytest.mark.parametrize("abi", ["host"])
@pytest.mark.parametrize(
    ("policy", "threads", "wanted"),
    [
        (0, 0, []),
        (1, 0, [2, 3]),
        (2, 0, [0, 1]),
        (3, 3, [2, 3, 0]),
        (4, 1, [0]),
    ],
)
@pytest.mark.parametrize("file", ["cpu_capacity", "cpufreq/cpuinfo_max_freq"])
def test_big_and_little_cores(
    command: Words, tmp_path: Path, policy: int, threads: int, wanted: list[int], file: str
) -> None:
    cpus = machine(tmp_path, {0: 400, 1: 400, 2: 1024, 3: 1024}, file)
    said = told(command, "--affinity", policy, "--threads", threads, "--cpus", cpus)["affinity"]
    assert (said["policy"], said["kinds"], said["wanted"]) == (policy, 2, wanted)


@pytest.mark.parametrize("abi", ["host"])
def test_the_program_stays_on_the_cores(command: Words, tmp_path: Path) -> None:
    usable = told(command)["affinity"]["cores"]
    speeds = {core: 1024 if core == usable[-1] else 400 for core in range(usable[-1] + 2)}
    big = told(command, "--affinity", 1, "--cpus", machine(tmp_path / "a", speeds, "cpu_capacity"))["affinity"]
    assert big["cores"] == big["wanted"] == [usable[-1]]
    elsewhere = machine(tmp_path / "b", {**speeds, usable[-1]: 400, usable[-1] + 1: 1024}, "cpu_capacity")
    assert told(command, "--affinity", 1, "--cpus", elsewhere)["affinity"]["cores"] == usable


@pytest.mark.parametrize("abi", ["host"])
def test_a_machine_that_does_not_tell_is_used_as_it_is(command: Words, tmp_path: Path) -> None:
    assert told(command, "--affinity", 1, "--cpus", tmp_path / "none")["affinity"]["kinds"] == 0
    alike = told(command, "--affinity", 1, "--cpus", machine(tmp_path / "a", {0: 5, 1: 5}, "cpu_capacity"))["affinity"]
    assert (alike["kinds"], alike["wanted"]) == (1, [])
    (machine(tmp_path / "b", {0: 5, 1: 9}, "cpu_capacity") / "cpu1" / "cpu_capacity").unlink()
    assert told(command, "--affinity", 1, "--cpus", tmp_path / "b")["affinity"]["kinds"] == 0
    done = subprocess.run([*command, "--affinity", "5"], capture_output=True, text=True, check=False)
    assert (done.returncode, "--affinity is from 0 to 4" in done.stderr) == (2, True)


@pytest.mark.parametrize("abi", ["host"])
def test_the_memory_is_that_of_this_process(command: Words) -> None:
    ballast = bytearray(b"x" * 100_000_000)  # of the process that starts it
    assert 500_000 < told(command)["process_peak"] < len(ballast) / 2


@pytest.mark.parametrize("abi", ["host"])
def test_trace_tells_stages_and_nodes_on_standard_error(command: Words) -> None:
    done = subprocess.run([*command, "--trace", "2"], capture_output=True, text=True, check=True)
    stages = [line for line in done.stderr.splitlines() if "node" not in line]
    running = ("preparing the model", "reading the inputs", "running the model", "running the model again")
    assert stages == [f"lathe_run: {what}" for what in running]
    assert "lathe_run: node 0 " in done.stderr and "relu" in done.stderr
    assert not subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.mark.slow
@pytest.mark.parametrize("abi", ABIS)
def test_a_kernel_that_crashes_is_found(cache: ObjectCache, build: Build, tmp_path: Path, abi: str) -> None:
    (kernel,) = (file for file in draft.write("falls", tmp_path) if file.suffix == ".cc")
    text = kernel.read_text()
    broken = "*reinterpret_cast<volatile int*>(static_cast<size_t>(x) * 16) = 1;\n    return x;"
    kernel.write_text(text.replace("return x;", broken))
    graph = relu_network("falling")
    graph.outputs[:] = [apply(graph, registry((tmp_path,))["falls"](), graph.outputs[0], name="bad")]
    built = build(source("falling", [graph], [tmp_path], code=True), abi, owner="falling")
    np.save(tmp_path / "x.npy", np.ones((2, 5), np.float32))
    words: list[str | Path] = [
        *EMULATORS[abi],
        shared_runner(abi, cache),
        "--library",
        built.shared,
        "--input",
        f"x={tmp_path}/x.npy",
        "--trace",
        "2",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGSEGV
    assert last_words(done.stderr) == "SIGSEGV at address 0x10, after node 0 act"
    names = functions(done.stderr, built.shared, built.unstripped)
    assert "Falls" in names[0] and len(names) > 2, names
