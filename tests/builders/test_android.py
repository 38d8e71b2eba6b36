"""Libraries for Android, built by a folder that is like an NDK: the path that a real one takes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.builders import android, android_check, elf, library, size
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.objects import ObjectCache
from buildtool.builders.toolchain import probe
from buildtool.errors import BuildError, ToolchainError
from buildtool.targets.processors import ARM_ANDROID, of_compiler
from tests.builders.conftest import lowered, relu_network, source
from tests.native_builds import command as run

REMEDY = "install the Android NDK, r21 or later, and set ANDROID_NDK_HOME to its folder"


@pytest.fixture(scope="session")
def ndk(cache: ObjectCache, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the shape of an NDK, of a later version than the least."""
    folder = tmp_path_factory.mktemp("ndk") / "26"
    shutil.copytree(android_check.stand_in(cache), folder, symlinks=True)
    (folder / "source.properties").write_text("Pkg.Desc = Android NDK\nPkg.Revision = 26.1.10909125\n")
    return folder


@pytest.mark.parametrize(
    ("revision", "what"),
    [
        ("Pkg.Revision = 20.1.5948944", "this Android NDK is r20"),
        ("Pkg.Revision = 9", "this Android NDK is r9"),
        ("Pkg.Desc = Android NDK", "this Android NDK is of an unknown version"),
    ],
)
def test_an_ndk_that_is_too_old(revision: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "build" / "cmake").mkdir(parents=True)
    (tmp_path / "build" / "cmake" / "android.toolchain.cmake").touch()
    (tmp_path / "source.properties").write_text(f"{revision}\n")
    monkeypatch.setenv("ANDROID_NDK_HOME", str(tmp_path))
    with pytest.raises(ToolchainError, match=what) as caught:
        android.toolchain("arm64-v8a")
    assert caught.value.problems[0].remedy == REMEDY


def test_no_ndk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    for what in ("there is no Android NDK", "names a folder that is not an Android NDK"):
        with pytest.raises(ToolchainError, match=what) as caught:
            library.toolchains(("armeabi-v7a",))
        assert caught.value.problems[0].remedy == REMEDY
        monkeypatch.setenv("ANDROID_NDK_HOME", str(tmp_path))


def test_the_version_of_an_ndk(ndk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANDROID_NDK_HOME", str(ndk))
    assert android.find_ndk() == android.Ndk(ndk, "26.1.10909125")


def build(ndk: Path, abi: str, api: int, cache: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> BuiltLibrary:
    monkeypatch.setenv("ANDROID_NDK_HOME", str(ndk))
    programs, tree = lowered(source(graphs=[relu_network()]), abi)
    assert {"toolchains/android.cmake", f"toolchains/{abi}.cmake"} <= tree.files.keys()
    built = library.build_all(programs, tree, cache=cache, owner=f"android-{api}", android_api=api)
    return built[0]


def check_promises(built: BuiltLibrary) -> None:
    assert built.info.exported == ("lathe_api_tiny",)
    assert built.info.needed == ("libc.so",)
    assert built.info.glibc == ""
    assert built.info.kernels
    named: Mapping[str, int] = {part.name: part.bytes for part in built.sizes.parts}
    assert sum(named.values()) == built.shared.stat().st_size
    assert named["session.cc"] > 500
    assert 0 <= named["padding"] < 1024


@pytest.mark.arm
@pytest.mark.slow
def test_a_library_by_an_ndk(ndk: Path, cache: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build(ndk, "arm64-v8a", 24, cache, monkeypatch)
    check_promises(built)
    assert android.page_alignment(built.shared) == 16384
    toolchain = android.toolchain("arm64-v8a", 24)
    assert toolchain.is_android
    assert toolchain.machine == "aarch64-none-linux-android24"
    assert toolchain.identity != android.toolchain("arm64-v8a").identity  # another level of the API
    # The archive shows one symbol, and holds no group that a second library in the program could share.
    assert elf.inspect_library(built.static).exported == ("lathe_api_tiny",)
    listed = subprocess.run(["readelf", "--section-groups", built.static], text=True, capture_output=True, check=True)
    assert "COMDAT" not in listed.stdout


@pytest.mark.sweep
@pytest.mark.arm
@pytest.mark.parametrize("abi", ["armeabi-v7a", "x86_64"])
def test_libraries_of_the_other_abis(abi: str, ndk: Path, cache: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build(ndk, abi, android.DEFAULT_API, cache, monkeypatch)
    check_promises(built)
    assert android.page_alignment(built.shared) == (16384 if abi == "x86_64" else 4096)


MAP = """\
             VMA              LMA     Size Align Out     In      Symbol
             2f0              2f0      2e8     8 .dynsym
             2f0              2f0      2e8     8         <internal>:(.dynsym)
            2e90             2e90       68     8         /cache/9f.o:(.rodata.table)
            2e90             2e90       68     1                 lathe::(anonymous namespace)::table
            70c8             70c8       10     4         /lib/libgcc.a(div.o):(.text.div)
               0                0      5f8     1         <internal>:(.debug_str)
"""


def test_the_maps_of_llvms_linker() -> None:
    assert list(size.entries(MAP)) == [
        (".dynsym", 0x2F0, 0x2E8, "<internal>"),
        (".rodata.table", 0x2E90, 0x68, "/cache/9f.o"),
        (".text.div", 0x70C8, 0x10, "/lib/libgcc.a(div.o)"),
    ]


def test_a_library_for_linux_keeps_no_promise_to_android(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("int x(int n) { return n; }\n")
    command: list[str | Path] = [
        probe("host").cxx,
        "-x",
        "c",
        "-shared",
        "-fPIC",
        "-Wl,-z,max-page-size=4096",
        "-Wl,--hash-style=gnu",
    ]
    library_file = tmp_path / "libx.so"
    subprocess.run([*command, tmp_path / "x.c", "-Wl,--no-as-needed", "-lm", "-o", library_file], check=True)
    with pytest.raises(BuildError) as caught:
        android.check_library(library_file)
    text = str(caught.value)
    for part in (
        "aligned to pages of 4096 bytes",
        "libm.so.6",
        "a library for Android needs libc.so, libm.so, libdl.so only",
        "no DT_HASH symbol table",
    ):
        assert part in text


def test_an_app_for_32_bit_android_gets_the_kernels_for_neon() -> None:
    assert of_compiler({"__arm__", "__ANDROID__", "__ARM_NEON"}) == ARM_ANDROID
    assert ARM_ANDROID.baseline == ("portable",)  # the first processors with NEON have no fused sums


@pytest.mark.sweep
@pytest.mark.arm
def test_an_app_that_is_built_by_an_ndk(ndk: Path, tmp_path: Path) -> None:
    """lathe_add_library follows the toolchain file of the NDK, which it is not told about by Lathe's own."""
    deployment = resources.root() / "examples" / "digits" / "deploy.yml"
    lines = [
        "cmake_minimum_required(VERSION 3.25)",
        "project(app LANGUAGES CXX)",
        "find_package(Lathe REQUIRED CONFIG)",
    ]
    (tmp_path / "CMakeLists.txt").write_text(
        "\n".join([*lines, f"lathe_add_library(digits DEPLOYMENT {deployment} SHARED)", ""])
    )
    command: list[str | Path] = [
        "cmake",
        "-G",
        "Ninja",
        "-S",
        tmp_path,
        "-B",
        tmp_path / "build",
        f"-DLathe_DIR={resources.cmake_dir()}",
    ]
    command += [f"-DCMAKE_TOOLCHAIN_FILE={ndk / 'build' / 'cmake' / 'android.toolchain.cmake'}"]
    run([*command, "-DANDROID_ABI=arm64-v8a", "-DANDROID_PLATFORM=android-23"])
    run(["cmake", "--build", tmp_path / "build", "--target", "digits_lathe"])
    built = tmp_path / "build" / "lathe" / "digits" / "digits" / "lib" / "arm64-v8a" / "libdigits.so"
    android.check_library(built)
    assert any(kernel.endswith("__neon") for kernel in elf.inspect_library(built).kernels)
