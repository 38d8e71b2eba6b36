"""`lathe doctor`: what is here, what is missing, and how to get it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from buildtool.reports import machine
from tests.cli.conftest import Lathe


def test_every_target_is_listed_with_its_needs(lathe: Lathe) -> None:
    document = lathe("doctor", "--json").document
    targets = {item["target"]: item for item in document["targets"]}
    assert {"host", "aarch64-linux-gnu", "arm-linux-gnueabihf"} <= targets.keys()
    needs = {need["what"] for need in targets["aarch64-linux-gnu"]["needs"]}
    assert {"compiler", "CMake", "Ninja", "emulator"} <= needs
    assert lathe("doctor").stdout.startswith("target")


def test_a_missing_compiler_is_said_with_its_package(
    lathe: Lathe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    result = lathe("doctor", "--target-abis", "aarch64-linux-gnu")
    assert result.code == 6
    assert "apt-get install g++-aarch64-linux-gnu" in result.stdout
    assert lathe("doctor", "--abi", "aarch64-linux-gnu", "--json").document["targets"][0]["builds"] is False


def test_an_unknown_target_is_refused(lathe: Lathe) -> None:
    result = lathe("doctor", "--abi", "z80")
    assert result.code == 2
    assert "targets: host" in result.stderr


def test_install_asks_apt_for_exactly_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def apt(command: list[str], **settings: object) -> subprocess.CompletedProcess[bytes]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 0, b"")

    monkeypatch.setattr(machine.subprocess, "run", apt)
    monkeypatch.setattr(machine.os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name, **_: f"/usr/bin/{name}")
    machine.install(["qemu-user"], say=lambda text: None)
    assert asked == [["apt-get", "install", "--yes", "--no-install-recommends", "qemu-user"]]


def test_without_root_it_says_what_to_run(lathe: Lathe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(machine.shutil, "which", lambda name, **_: "/usr/bin/apt-get")
    with pytest.raises(machine.ToolchainError, match="sudo apt-get install"):
        machine.install(["g++"], say=lambda text: None)
