"""`lathe doctor`: what is here, what is missing, and how to get it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from buildtool import jail
from buildtool.builders import hexagon
from buildtool.errors import ToolchainError
from buildtool.reports import machine, security
from tests.cli.conftest import Lathe
from tests.jail.available import needs_jail


def test_every_target_is_listed_with_its_needs(lathe: Lathe) -> None:
    document = lathe("doctor", "--json").document
    targets = {item["target"]: item for item in document["targets"]}
    assert {"host", "aarch64-linux-gnu", "arm-linux-gnueabihf"} <= targets.keys()
    needs = {need["what"] for need in targets["aarch64-linux-gnu"]["needs"]}
    assert {"compiler", "CMake", "Ninja", "emulator"} <= needs
    packages = {need["package"] for need in targets["riscv64-linux-gnu"]["needs"]}
    assert {"clang-19", "g++-riscv64-linux-gnu", "qemu-user"} <= packages
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

    monkeypatch.setattr(subprocess, "run", apt)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name, **_: f"/usr/bin/{name}")
    machine.install(["qemu-user"], say=lambda text: None)
    assert asked == [["apt-get", "install", "--yes", "--no-install-recommends", "qemu-user"]]


def test_without_root_it_says_what_to_run(lathe: Lathe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda name, **_: "/usr/bin/apt-get")
    with pytest.raises(ToolchainError, match="sudo apt-get install"):
        machine.install(["g++"], say=lambda text: None)


def test_the_ndk_is_reported(lathe: Lathe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    result = lathe("doctor", "--abi", "arm64-v8a")
    assert result.code == 6
    assert "install the Android NDK, r21 or later, and set ANDROID_NDK_HOME to its folder" in result.stdout
    assert "clang++-19 (--ndk-check)" in result.stdout
    (tmp_path / "build" / "cmake").mkdir(parents=True)
    (tmp_path / "build" / "cmake" / "android.toolchain.cmake").touch()
    (tmp_path / "source.properties").write_text("Pkg.Revision = 27.2.12479018\n")
    monkeypatch.setenv("ANDROID_NDK_HOME", str(tmp_path))
    (target,) = lathe("doctor", "--abi", "arm64-v8a", "--json").document["targets"]
    assert target["needs"][0]["detail"] == f"{tmp_path}: 27.2.12479018"
    assert target["builds"] is True


def test_the_ways_to_devices_are_listed(lathe: Lathe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def ways() -> dict[str, dict[str, object]]:
        targets = {item["target"]: item for item in lathe("doctor", "--json").document["targets"]}
        return {need["what"].partition(" ")[0]: need for need in targets["devices"]["needs"]}

    assert ways().keys() == {"adb", "ssh", "OpenCL", *hexagon.PROGRAMS}
    monkeypatch.setenv("LATHE_OPENCL_LIBRARY", str(tmp_path / "libOpenCL.so"))
    monkeypatch.setattr(shutil, "which", lambda name, **_: f"/usr/bin/{name}")
    found = ways()
    assert (found["OpenCL"]["here"], found["OpenCL"]["package"]) == (False, "pocl-opencl-icd")
    assert found["adb"]["detail"] == "/usr/bin/adb"
    narrow = lathe("doctor", "--abi", "host", "--json").document["targets"]
    assert [item["target"] for item in narrow] == ["host"]


def test_a_target_that_nothing_builds_yet_is_no_success(lathe: Lathe) -> None:
    result = lathe("doctor", "--abi", "hexagon")
    assert (result.code, "cannot build for it yet" in result.stdout) == (6, True)


def test_a_device_is_asked(lathe: Lathe) -> None:
    (device,) = lathe("doctor", "--device", "local", "--json").document["devices"]
    assert (device["name"], device["reachable"]) == ("local", True)
    states = {check["what"]: check["state"] for check in device["checks"]}
    assert states["cores"] == "ok" and "space" in states
    assert "reached" in lathe("doctor", "--device", "local").stdout
    assert lathe("doctor", "--device", "local", "--abi", "host").code == 2
    lost = lathe("doctor", "--device", "ssh://nobody@127.0.0.1:1")
    assert (lost.code, "missing" in lost.stdout) == (10, True)


@needs_jail
def test_protections_are_tried(lathe: Lathe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    monkeypatch.setenv("LATHE_CACHE_DIR", str(cache))
    result = lathe("doctor", "--security", "--json")
    assert result.code == 0
    assert [item["holds"] for item in result.document["protections"]] == [True] * 4
    cache.chmod(0o777)
    result = lathe("doctor", "--security")
    assert result.code == 6
    assert f"cache of compiled code: chmod go-w {cache}" in result.stdout


def test_without_a_jail_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> jail.Ended:
        raise jail.NoJailError("the kernel has no Landlock")

    monkeypatch.setattr(jail, "run", none)
    first = security.examine()[0]
    assert (first.holds, first.found) == (False, "the kernel has no Landlock")


def test_a_jail_with_a_hole_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempts are real: without the locks they succeed, and that is reported."""

    def unlocked(script: Path, arguments: list[str], **_: object) -> jail.Ended:
        return jail.run_unguarded(script, arguments, seconds=60)

    monkeypatch.setattr(jail, "run", unlocked)
    first = security.examine()[0]
    assert (first.holds, first.found) == (False, "it reads a file that it was not given")
