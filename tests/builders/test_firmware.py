"""Programs for bare chips: what is compiled, and the error where that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.builders import firmware
from buildtool.builders.built import BuiltFirmware
from buildtool.builders.objects import ObjectCache
from buildtool.codegen.source_tree import Image, SourceTree
from buildtool.errors import BuildError, ToolchainError
from buildtool.targets.protocol import CrossCompiler, FirmwareProgram, LibrarySource

HERE = CrossCompiler("x86_64-linux-gnu-", ("gcc",), ())  # the compiler of this machine will do
MAIN = b"#include <stdint.h>\nextern const uint8_t number[];\nint main(void) { return number[0] == 7 ? 0 : 1; }\n"
DATA = (
    b'    .data\n    .globl number\nnumber:\n    .incbin "parts/seven"\n    .section .note.GNU-stack, "", @progbits\n'
)


def build(files: dict[str, bytes], images: tuple[Image, ...], cache: ObjectCache) -> list[BuiltFirmware]:
    program = FirmwareProgram("chip", "board", LibrarySource("net", "net", ()), ())
    tree = SourceTree("net", files, images={"board": images})
    return list(firmware.build_all([program], tree, [firmware.find(HERE, "board")], cache=cache, owner="test"))


def test_images_are_made_of_sources_in_the_tree(tmp_path: Path) -> None:
    files = {"main.c": MAIN, "parts/data.S": DATA, "parts/seven": b"\7"}
    sources = ("main.c", "parts/data.S")
    images = tuple(Image(name, sources, ("-O1",), ("-no-pie",)) for name in ("one", "two"))
    cache = ObjectCache(tmp_path)
    (built,) = build(files, images, cache)
    assert [image.name for image in built.images] == ["one", "two"]
    assert built.images[0].elf[:4] == b"\x7fELF"
    assert built.images[0].elf == built.images[1].elf
    assert built.images[0].binary.endswith(b"\7")
    assert built.images[0].memory_bytes > 100
    assert sum(" -c main.c " in line for line in cache.processes.commands) == 1
    (again,) = build(files, images, ObjectCache(tmp_path / "elsewhere"))
    assert again.images[0].elf == built.images[0].elf


def test_a_compile_error_shows_the_compiler_s_message(tmp_path: Path) -> None:
    image = Image("one", ("main.c",), (), ())
    with pytest.raises(BuildError) as caught:
        build({"main.c": b"int main(void) { return nothing; }\n"}, (image,), ObjectCache(tmp_path))
    (problem,) = caught.value.problems
    assert problem.what == "compiling main.c for board failed"
    assert "'nothing' undeclared" in problem.rule


def test_a_link_error_shows_the_linker_s_message(tmp_path: Path) -> None:
    image = Image("one", ("main.c",), (), ())
    with pytest.raises(BuildError, match=r"linking one\.elf failed"):
        build({"main.c": b"int other(void); int main(void) { return other(); }\n"}, (image,), ObjectCache(tmp_path))


def test_a_missing_c_library_is_told_with_its_package() -> None:
    compiler = CrossCompiler("x86_64-linux-gnu-", ("a-compiler", "a-c-library"), ("-nostdinc",))
    with pytest.raises(ToolchainError) as caught:
        firmware.find(compiler, "board")
    assert "the C library of 'x86_64-linux-gnu-gcc' is missing: this machine cannot build" in str(caught.value)
    assert "apt-get install a-compiler a-c-library" in str(caught.value)


def test_a_missing_compiler_is_told_with_its_package() -> None:
    with pytest.raises(ToolchainError) as caught:
        firmware.find(CrossCompiler("z80-", ("gcc-z80",)), "board")
    assert "'z80-gcc' is missing" in str(caught.value)
    assert "apt-get install gcc-z80" in str(caught.value)
