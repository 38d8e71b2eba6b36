"""WebAssembly modules: what they hold, what they need, and how their files are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.builders import wasm
from buildtool.builders.objects import ObjectCache
from buildtool.builders.runner import operator_runner, static_runner
from buildtool.errors import BuildError, ToolchainError, UnsupportedError
from tests.builders.conftest import Build, lowered, source

_FORMATS = re.compile(r'Fail\([^;]*?"((?:[^"\\]|\\.)*)"', re.DOTALL)
_FIELD = re.compile(r"%(?!%)[^a-zA-Z%]*(?:ll|l|z|h)*[a-zA-Z]")
_KNOWN = re.compile(r"%(\.\d+)?(ll|l|z)?[sduc]")


@pytest.mark.slow
@pytest.mark.parametrize("abi", ["wasm32", "wasm32-simd", "wasm32-relaxed-simd-threads"])
def test_a_module_holds_its_kernels_and_imports_three_functions(build: Build, abi: str) -> None:
    built = build(source(), abi)
    expected = {name for model in lowered(source(), abi)[0][0].models for names in model.plan.kernels for name in names}
    assert set(built.info.kernels) == expected
    assert (built.info.library, built.info.machine) == ("tiny", "WebAssembly")
    assert "lathe_api_tiny" in built.info.exported
    assert built.archive is None
    assert built.shared.name == "tiny.wasm"
    assert built.info.bytes_stripped == built.shared.stat().st_size < 100_000
    assert wasm.inspect_library(built.unstripped).kernels == built.info.kernels


def test_the_sizes_of_a_module_add_up(build: Build) -> None:
    built = build(source(code=True), "wasm32")
    assert built.sizes.total == built.shared.stat().st_size
    assert set(built.sizes.kernels) >= set(built.info.kernels)
    assert all(size > 0 for size in built.sizes.kernels.values())
    assert built.sizes.group("models") > 0
    assert 0 < built.sizes.group("file") < 0.2 * built.sizes.total


def test_a_module_with_another_import_or_export_is_refused(build: Build, tmp_path: Path) -> None:
    built = build(source(), "wasm32")
    with pytest.raises(BuildError, match=r"the module exports .*lathe_api_tiny"):
        wasm.check_library(built.shared, "lathe_api_other")
    changed = tmp_path / "tiny.wasm"
    changed.write_bytes(built.shared.read_bytes().replace(b"\x05lathe\x03now", b"\x05lathf\x03now"))
    with pytest.raises(BuildError, match=r"the module imports lathf\.now"):
        wasm.check_library(changed, "lathe_api_tiny")


def test_a_module_that_is_cut_off_is_an_error(build: Build, tmp_path: Path) -> None:
    whole = build(source(), "wasm32").shared.read_bytes()
    file = tmp_path / "cut.wasm"
    for end in (0, 4, 8, 9, 40, 200, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:end])
        if end == 8:
            assert wasm.inspect_library(file).kernels == ()  # a module of no sections
            continue
        with pytest.raises(BuildError, match="not a WebAssembly module, or it is damaged"):
            wasm.inspect_library(file)


def test_formats_of_messages_are_those_that_a_module_knows() -> None:
    """native/wasm/format.cc has no others, and a message with one would end there."""
    seen = 0
    for folder in ("runtime", "kernel", "ops"):
        for file in (resources.native_dir() / folder).rglob("*.[ch]*"):
            for text in _FORMATS.findall(file.read_text()):
                for field in _FIELD.findall(text):
                    seen += 1
                    assert _KNOWN.fullmatch(field), f"{file.name}: {field} in {text!r}"
    assert seen > 30


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ToolchainError, match=r"'clang\+\+' is missing: this machine cannot build for wasm32"
    ) as missing:
        wasm.toolchain("wasm32")
    assert "apt-get install clang-19" in missing.value.problems[0].remedy
    monkeypatch.undo()
    monkeypatch.setattr(wasm, "WASI_ROOT", tmp_path)
    wasm._toolchain.cache_clear()
    with pytest.raises(ToolchainError, match="the C library of WebAssembly is missing") as missing:
        wasm.toolchain("wasm32")
    wasm._toolchain.cache_clear()
    assert "apt-get install wasi-libc" in missing.value.problems[0].remedy


def test_programs_around_native_libraries_are_refused(cache: ObjectCache, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="single operators cannot be timed on wasm32"):
        operator_runner("wasm32", cache)
    with pytest.raises(UnsupportedError, match="nothing is linked with a module"):
        static_runner("wasm32-simd", "tiny", tmp_path / "none.a", cache)
