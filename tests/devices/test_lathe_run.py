"""How a run ends: with a result, an error of the library, or a crash that is reported as one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.devices import lathe_run
from buildtool.devices.local import LocalDevice
from buildtool.devices.runner import Job, RunResult, notes_on_cores
from buildtool.errors import DeviceError, RunError


def run(folder: Path, script: str, timeout: float = 60.0) -> RunResult:
    """A run of a program that is this script."""
    program = folder / "lathe_run"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    inputs = {"x": np.zeros(3, np.float32)}
    job = Job(program, None, "lathe_api_net", "net", None, None, inputs, ["y"], timeout=timeout)
    device = LocalDevice()
    try:
        return lathe_run.run(device, job)
    finally:
        device.close()


def test_a_result(tmp_path: Path) -> None:
    np.save(tmp_path / "answer.npy", np.array([1.0, np.inf, 3.0], np.float32))
    script = f"""for word in "$@"; do case "$word" in y=*) cp {tmp_path}/answer.npy "${{word#y=}}";; esac; done
    echo '{{"create_ns": 7, "timings": {{"median_ns": 2500000, "warmup_ns": [], "rounds_ns": [2500000],
    "observed_ns": [], "energy_uj": {{}}}}, "memory": {{"arena": 64}}}}'"""
    result = run(tmp_path, script)
    assert result.milliseconds == 2.5
    assert result.memory == {"arena": 64}
    (figures,) = result.summary()
    assert (figures["least"], figures["largest"], figures["mean"]) == (1.0, 3.0, 2.0)
    assert np.load(result.save("y", tmp_path / "out")).shape == (3,)


def test_a_refusal_is_in_the_words_of_the_library(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"model 'net': error: bad model: x is odd"):
        run(tmp_path, """echo '{"error": {"code": "bad_model", "message": "bad model: x is odd"}}'; exit 1""")
    with pytest.raises(RunError, match="no room"):
        run(tmp_path, "echo 'no room' >&2; exit 1")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("kill -SEGV $$", "was killed by SIGSEGV"),
        ("exit 139", "was killed by SIGSEGV"),
        ("kill -ILL $$", "lacks instructions"),
        ("echo 'stack smashed' >&2; exit 77", "ended with exit code 77 on local: stack smashed"),
    ],
)
def test_a_crash_is_said_to_be_one(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        run(tmp_path, script)


def test_nonsense_and_silence_are_faults_of_the_device(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="an invalid result"):
        run(tmp_path, "echo hello")
    with pytest.raises(DeviceError, match=r"within 0\.2 seconds"):
        run(tmp_path, "sleep 20", timeout=0.2)
    with pytest.raises(DeviceError, match="did not write"):
        run(tmp_path, """echo '{"timings": {}, "memory": {}}'""")


@pytest.mark.parametrize(
    ("affinity", "said"),
    [
        ({}, ""),
        ({"policy": 0, "kinds": 2, "wanted": [], "cores": [0, 1]}, ""),
        ({"policy": 1, "kinds": 2, "wanted": [1], "cores": [1]}, ""),
        ({"policy": 1, "kinds": 0, "wanted": [], "cores": [0]}, "does not report the speed"),
        ({"policy": 1, "kinds": 1, "wanted": [], "cores": [0]}, "one kind of core"),
        (
            {"policy": 1, "kinds": 2, "wanted": [4], "cores": [0, 1]},
            "does not allow the program to select the cores 4",
        ),
    ],
)
def test_cores_that_were_not_given_are_noted(affinity: dict[str, object], said: str) -> None:
    notes = "".join(note.what for note in notes_on_cores(affinity, "phone"))
    assert notes.startswith("phone ") == bool(said)
    assert said in notes


def test_a_crash_tells_its_last_words(tmp_path: Path) -> None:
    script = "echo 'lathe_run: crash: SIGSEGV at address 0x10, after node 3 conv' >&2\n"
    script += "echo 'lathe_run: frame: 10 /libnet.so' >&2; kill -SEGV $$"
    with pytest.raises(RunError, match=r"SIGSEGV on local: SIGSEGV at address 0x10, after node 3 conv\n"):
        run(tmp_path, script)
