"""This machine as a device: exit codes, time limits, and nothing left behind."""

from __future__ import annotations

import time
from pathlib import Path, PurePosixPath

import pytest

from buildtool.devices.choose import device_for
from buildtool.devices.local import LocalDevice
from buildtool.errors import DeviceError, UnsupportedError


def test_output_and_exit_code_come_back() -> None:
    device = LocalDevice()
    done = device.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.exit_code, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert device.run(["sh", "-c", "kill -SEGV $$"]).exit_code == -11
    device.close()


def test_files_written_there_come_back_and_disappear_at_close(tmp_path: Path) -> None:
    device = LocalDevice()
    path = device.path("result.bin")
    device.run(["sh", "-c", f"printf abc > {path}"])
    assert device.pull(path, tmp_path / "here").read_bytes() == b"abc"
    with pytest.raises(DeviceError, match="did not write"):
        device.pull(PurePosixPath(f"{path}.none"), tmp_path / "none")
    device.close()
    assert not Path(path).parent.exists()


def test_a_program_that_does_not_end_is_killed_with_its_children() -> None:
    device = LocalDevice()
    began = time.monotonic()
    with pytest.raises(DeviceError, match=r"within 0\.3 seconds"):
        device.run(["sh", "-c", "sleep 30 & sleep 30"], timeout=0.3)
    assert time.monotonic() - began < 10
    device.close()


def test_programs_that_cannot_start_are_a_device_error() -> None:
    device = LocalDevice()
    with pytest.raises(DeviceError, match="cannot be started"):
        device.run(["/nowhere/lathe_run"])
    with pytest.raises(DeviceError, match="does not exist"):
        device.push(Path("/nowhere/file"))
    device.close()


def test_properties_name_the_machine() -> None:
    device = device_for("host")
    assert device.properties()["abi"] == "host"
    assert int(device.properties()["cores"]) >= 1
    device.close()


def test_a_missing_emulator_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceError, match="apt-get install qemu-user") as caught:
        device_for("aarch64-linux-gnu", "cortex-a53")
    assert caught.value.exit_code == 10


def test_programs_for_other_machines_are_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="hexagon"):
        device_for("hexagon")
