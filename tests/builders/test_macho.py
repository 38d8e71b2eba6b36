"""Archives for Apple's systems: the reader on objects of Clang, the layout for Xcode; built with zig where it is there.

Nothing of it is executed: there is no emulator for these systems.
"""

from __future__ import annotations

import importlib.util
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

import buildtool
from buildtool.builders import macho
from buildtool.codegen import xcframework
from buildtool.codegen.library import render
from buildtool.errors import BuildError, LatheError
from buildtool.settings import Options, Overrides
from buildtool.targets.processors import AARCH64, of_compiler
from tests.cli.conftest import EXAMPLE

CLANG = shutil.which("clang++-19") or shutil.which("clang++")
AR = shutil.which("llvm-ar-19") or shutil.which("llvm-ar")
ZIG = importlib.util.find_spec("ziglang")
SOURCE = """
namespace lathe { [[gnu::visibility("hidden")]] int Inner(int x) { return x * 3; } }
extern "C" double sin(double);
extern "C" int lathe_api_x(int x) { return lathe::Inner(x) + (int)sin(x); }
"""
NOTE = (
    '\n__asm__(".section __DATA,__lathe\\n.ascii \\"format 1\\\\nlibrary x\\\\nkernel a__neon\\\\nkernel b\\\\n\\"");\n'
)


def compiled(folder: Path, source: str, target: str = "arm64-apple-macos11", name: str = "x") -> Path:
    if CLANG is None:
        pytest.skip("clang++ is not installed")
    (folder / f"{name}.cc").write_text(source)
    flags = [f"--target={target}", "-std=c++17", "-O1", "-fno-exceptions"]
    subprocess.run([CLANG, *flags, "-c", folder / f"{name}.cc", "-o", folder / f"{name}.o"], check=True)
    return folder / f"{name}.o"


@pytest.mark.parametrize(
    ("target", "machine", "platform"),
    [
        ("arm64-apple-macos11", "arm64", ("macos", "")),
        ("x86_64-apple-macos10.12", "x86_64", ("macos", "")),
        ("arm64-apple-ios15", "arm64", ("ios", "")),
        ("arm64-apple-ios15-simulator", "arm64", ("ios", "simulator")),
    ],
)
def test_what_an_object_says(target: str, machine: str, platform: tuple[str, str], tmp_path: Path) -> None:
    found = macho.read(compiled(tmp_path, SOURCE + NOTE, target))
    assert (found.machine, found.platform) == (machine, platform)
    assert found.exported == ("lathe_api_x",)
    assert found.undefined == ("_sin",)
    assert found.note["kernel"] == ["a__neon", "b"]
    assert next(section for section in found.sections if section.name == "__text").size > 0
    macho.check_library(tmp_path / "x.o", "lathe_api_x")


@pytest.mark.skipif(AR is None, reason="llvm-ar is not installed")
def test_an_archive_with_one_object(tmp_path: Path) -> None:
    file = compiled(tmp_path, SOURCE + NOTE, name="an_object_with_a_long_name")
    archive = tmp_path / "libx.a"
    subprocess.run([str(AR), "qc", "--format=darwin", archive, file], check=True)
    assert macho.is_library(archive) and macho.is_library(file)
    info = macho.inspect_library(archive)
    assert (info.library, info.machine, info.kernels) == ("x", "arm64, macos", ("a__neon", "b"))
    assert info.exported == ("lathe_api_x",)
    elf = tmp_path / "elf.o"
    subprocess.run([str(CLANG), "-c", tmp_path / "an_object_with_a_long_name.cc", "-o", elf], check=False)
    if elf.is_file():
        assert not macho.is_library(elf)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ('extern "C" int other(int x) { return x; }', "the library shows other"),
        ("int* made() { return new int; }", "the library needs __Znwm"),
        ("int made(); int kept = made();", "the library runs code when it is loaded"),
    ],
)
def test_broken_promises_are_told(source: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        macho.check_library(compiled(tmp_path, SOURCE + source), "lathe_api_x")
    assert what in str(caught.value)


def test_damaged_files_are_errors_and_nothing_else(tmp_path: Path) -> None:
    data = compiled(tmp_path, SOURCE + NOTE).read_bytes()
    file, told = tmp_path / "damaged.o", 0
    damaged = [data[:length] for length in range(0, len(data), 7)]
    damaged += [data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :] for at in range(0, len(data), 3)]
    damaged += [b"!<arch>\n" + data[:200], b"!<arch>\n" + b"x" * 200, b""]
    for contents in damaged:
        file.write_bytes(contents)
        try:
            macho.read(file)
        except BuildError:
            told += 1
    assert told > len(data) // 7 // 2


def test_models_inside_the_archive(tmp_path: Path) -> None:
    if CLANG is None:
        pytest.skip("clang++ is not installed")
    (tmp_path / "model0.pb").write_bytes(b"graph")
    (tmp_path / "model0.data").write_bytes(bytes(100))
    model = {"model_file": "model0.pb", "data_file": "model0.data", "data_size": 100, "data": 0}
    context = {"library": "x", "abi": "mac", "version": "1", "kernels": ["k"], "models": [model]}
    (tmp_path / "weights.S").write_bytes(render("macho/weights.S", context))
    command = [CLANG, "--target=arm64-apple-macos11", "-c", "weights.S", "-o", "weights.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = macho.read(tmp_path / "weights.o")
    assert found.exported == ()
    assert {symbol.name for symbol in found.symbols if symbol.defined} >= {"_lathe_model_0", "_lathe_data_0"}
    assert found.note == {"format": ["1"], "library": ["x"], "version": ["1"], "kernel": ["k"]}
    assert next(section for section in found.sections if section.name == "__const").size == 64 + 100


def test_the_layout_for_xcode(tmp_path: Path) -> None:
    slices = [
        xcframework.Slice(Path("a/libx.a"), "arm64", "macos"),
        xcframework.Slice(Path("b/libx.a"), "arm64", "ios", "simulator"),
    ]
    files = xcframework.files("x", "x", slices, {"lathe/x.h": b"header"})
    (document,) = [data for name, data in files.items() if name == "x.xcframework/Info.plist"]
    assert isinstance(document, bytes)
    read = plistlib.loads(document)
    assert [entry["LibraryIdentifier"] for entry in read["AvailableLibraries"]] == [
        "macos-arm64",
        "ios-arm64-simulator",
    ]
    assert [entry.get("SupportedPlatformVariant") for entry in read["AvailableLibraries"]] == [None, "simulator"]
    for entry in read["AvailableLibraries"]:
        folder = f"x.xcframework/{entry['LibraryIdentifier']}"
        assert {f"{folder}/libx.a", f"{folder}/Headers/lathe/x.h", f"{folder}/Headers/module.modulemap"} < set(files)


def test_the_compiler_decides_the_format() -> None:
    assert of_compiler({"__aarch64__"}) == AARCH64
    apple = of_compiler({"__aarch64__", "__APPLE__", "__MACH__"})
    assert (apple.object_format, apple.isas) == ("macho", AARCH64.isas)


TOOLCHAIN = """
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR {machine})
set(CMAKE_CXX_COMPILER {zig} c++ -target {target}-macos)
find_program(CMAKE_AR NAMES llvm-ar-19 llvm-ar)
find_program(CMAKE_RANLIB NAMES llvm-ranlib-19 llvm-ranlib)
"""


IOS = """
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_CXX_COMPILER {zig}/zig c++ -target {target} -isystem {zig}/lib/libc/include/any-darwin-any)
find_program(CMAKE_AR NAMES llvm-ar-19 llvm-ar)
find_program(CMAKE_RANLIB NAMES llvm-ranlib-19 llvm-ranlib)
"""


@pytest.mark.slow
@pytest.mark.skipif(ZIG is None, reason="ziglang is not installed: pip install ziglang")
def test_an_xcframework_for_devices_and_the_simulator(tmp_path: Path) -> None:
    assert ZIG is not None and ZIG.submodule_search_locations is not None
    names = {"ios-arm64": "aarch64-ios.15.0", "ios-arm64-simulator": "aarch64-ios.15.0-simulator"}
    files = []
    for name, target in names.items():
        files.append(tmp_path / f"{name}.cmake")
        files[-1].write_text(IOS.format(zig=ZIG.submodule_search_locations[0], target=target))
    overrides = Overrides(tuple(names), toolchains=tuple(files))
    report = buildtool.build(EXAMPLE / "deploy.yml", overrides, Options(output=tmp_path / "build"))
    frame = report.folder / "digits.xcframework"
    slices = plistlib.loads((frame / "Info.plist").read_bytes())["AvailableLibraries"]
    assert [(part["LibraryIdentifier"], part.get("SupportedPlatformVariant")) for part in slices] == [
        ("ios-arm64", None),
        ("ios-arm64-simulator", "simulator"),
    ]
    for name, platform in zip(names, (("ios", ""), ("ios", "simulator")), strict=True):
        found = macho.read(frame / name / "libdigits.a")
        assert (found.machine, found.platform, found.exported) == ("arm64", platform, ("lathe_api_digits",))
        assert {"__text", "__lathe"} <= {section.name for section in found.sections}
        assert all(symbol.startswith("_") for symbol in found.undefined)


@pytest.mark.slow
@pytest.mark.skipif(ZIG is None, reason="ziglang is not installed: pip install ziglang")
@pytest.mark.parametrize(("machine", "target"), [("arm64", "aarch64"), ("x86_64", "x86_64")])
def test_a_library_for_macos(machine: str, target: str, tmp_path: Path) -> None:
    assert ZIG is not None and ZIG.submodule_search_locations is not None
    zig = Path(ZIG.submodule_search_locations[0]) / "zig"
    (tmp_path / "macos.cmake").write_text(TOOLCHAIN.format(machine=machine, zig=zig, target=target))
    overrides = Overrides((f"macos-{machine}",), toolchains=(tmp_path / "macos.cmake",))
    report = buildtool.build(EXAMPLE / "deploy.yml", overrides, Options(output=tmp_path / "build"))
    archive = report.folder / f"lib/macos-{machine}/libdigits.a"
    info = macho.inspect_library(archive)
    assert (info.library, info.machine, info.exported) == ("digits", f"{machine}, macos", ("lathe_api_digits",))
    assert set(info.kernels) == set(report.library_for(f"macos-{machine}").kernels)
    (library,) = report.libraries
    assert library.sizes["total"] == archive.stat().st_size
    assert all(part["bytes"] >= 0 for part in library.sizes["parts"])
    slice_ = report.folder / f"digits.xcframework/macos-{machine}"
    assert (slice_ / "libdigits.a").read_bytes() == archive.read_bytes()
    assert (slice_ / "Headers/lathe/digits.h").is_file()
    again = buildtool.build(EXAMPLE / "deploy.yml", overrides, Options(output=tmp_path / "again"))
    assert (again.folder / f"lib/macos-{machine}/libdigits.a").read_bytes() == archive.read_bytes()
    with pytest.raises(LatheError, match="no device runs libraries for Apple's systems"):
        buildtool.run(EXAMPLE / "deploy.yml", overrides, Options(output=tmp_path / "build"))
