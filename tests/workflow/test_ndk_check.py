"""`lathe build --ndk-check`: what is made for Android, without an NDK."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.builders import android_check
from buildtool.codegen.native_sources import NativeSources
from buildtool.plan import manifest
from buildtool.targets.cpu.capabilities import CPU
from tests.cli.conftest import Lathe, digits, lathe
from tests.ops.isa_flags import isa_flags

__all__ = ["digits", "lathe"]  # fixtures


@pytest.mark.slow
@pytest.mark.arm
def test_a_library_is_built_and_executed(lathe: Lathe, digits: Path) -> None:
    result = lathe("build", "--ndk-check", digits, "--abi", "arm64-v8a,armeabi-v7a", "--json")
    assert result.code == 0, result.stderr
    found = {item["abi"]: item for item in result.document["abis"]}
    assert found.keys() == {"arm64-v8a", "armeabi-v7a"}
    assert (found["arm64-v8a"]["page_alignment"], found["armeabi-v7a"]["page_alignment"]) == (16384, 4096)
    for item in found.values():
        assert set(item["needed"]) <= {"libc.so", "libm.so"}
        assert item["sources"] > 25
        assert "qemu" in item["executed_on"]
        (execution,) = item["executions"]
        assert execution["passed"]
        assert execution["cosine"] > 0.99999
    assert any(kernel.endswith("__neon") for kernel in found["arm64-v8a"]["kernels"])
    assert any(kernel.endswith("__neonv7") for kernel in found["armeabi-v7a"]["kernels"])
    assert not (digits.parent / "build").exists()


def test_only_abis_of_android(lathe: Lathe, digits: Path) -> None:
    result = lathe("build", "--ndk-check", digits, "--abi", "host")
    assert result.code == 2
    assert "'host' is not an ABI of Android" in result.stderr


@pytest.mark.slow
def test_every_source_is_right_for_32_bit_android() -> None:
    """All portable kernels among them; the sweep compiles and links all of all ABIs."""
    base = ["clang++-19", "--target=armv7a-linux-androideabi21", "-fsyntax-only", "-std=c++17", "-nostdlibinc"]
    base += ["-isystem", str(android_check.sources() / "include"), "-Wall", "-Wextra", "-Werror", "-fPIC"]
    base += ["-I", str(resources.root()), "-I", str(resources.include_dir()), "-fno-exceptions", "-fno-rtti"]
    sources = NativeSources((resources.root(),))

    def problem(unit: str) -> str:
        word = unit.removesuffix(".cc").rpartition("__")[2]
        flags = [flag for flag in isa_flags(word) if flag != "-mfp16-format=ieee"] if word == "neonv7" else []
        text = sources.read(unit).decode()
        command = [*base, *flags, "-x", "c++", "-"]
        done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
        return f"{unit}: {done.stderr}" if done.returncode else ""

    units = android_check.all_units(CPU.abis["armeabi-v7a"].isas)
    assert len(units) > 250
    with ThreadPoolExecutor(2) as pool:
        assert not [text for text in pool.map(problem, units) if text]


@pytest.mark.sweep
@pytest.mark.arm
def test_every_source_compiles_and_links_for_every_abi(lathe: Lathe) -> None:
    result = lathe("build", "--ndk-check", "--json")
    assert result.code == 0, result.stderr
    found = {item["abi"]: set(item["files"]) for item in result.document["abis"]}
    kernels = {kernel.source for kernel in manifest.load() if kernel.isa != "opencl"}
    assert kernels <= set().union(*found.values())
    assert all("native/runtime/session.cc" in files for files in found.values())
