"""What goes to a flash memory: packages that tools read, and the bytes that they write."""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import zipfile
from pathlib import Path

import pytest

import buildtool
from buildtool.errors import ConfigError, LatheError, UnsupportedError
from buildtool.targets.k210 import flash
from buildtool.workflow import package_firmware
from tests.cli.conftest import EXAMPLE
from tests.targets.k210.building import as_file, described
from tests.targets.k210.test_generate import digits


def written_by_a_tool(package: bytes) -> bytearray:
    """The flash memory as a tool leaves it that reads addresses as lines of text, and heads programs itself."""
    memory = bytearray(b"\xff" * flash.FLASH_BYTES)
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        listed = re.sub(r'"address": (.*),', r'"address": "\1",', archive.read("flash-list.json").decode())
        for entry in json.loads(listed)["files"]:
            data = archive.read(entry["bin"])
            if entry["sha256Prefix"]:
                data = b"\0" + struct.pack("<I", len(data)) + data
                data += hashlib.sha256(data).digest()
            at = int(entry["address"], 0)
            memory[at : at + len(data)] = data
    return memory


def test_a_package_and_its_contents_say_the_same() -> None:
    models = {"one": b"1" * 70000, "two": b"22"}
    found = flash.parts("net", b"program", models)
    assert [part.address for part in found] == [0, 0x300000, 0x320000]
    raw = flash.contents(found)
    assert len(raw) == 0x320000 + 2
    memory = written_by_a_tool(flash.package(found))
    assert memory[: len(raw)] == raw
    assert set(memory[len(raw) :]) == {0xFF}
    flags, length = struct.unpack_from("<BI", raw)
    assert (flags, raw[5 : 5 + length]) == (0, b"program")
    assert raw[12:44] == hashlib.sha256(raw[:12]).digest()
    assert flash.package(found) == flash.package(flash.parts("net", b"program", models))


def test_a_long_program_moves_the_models() -> None:
    found = flash.parts("net", bytes(0x300000), {"one": b"1"})
    assert found[1].address == 0x310000


@pytest.mark.parametrize(
    ("program", "models", "what"),
    [(0, [1], "the program is empty"), ((6 << 20) + 1, [1], "the program has 6291457 bytes"),
     (1, [5 << 20] * 3, "program and models end at 0x1200000")],
)  # fmt: skip
def test_images_that_do_not_fit_are_an_error(program: int, models: list[int], what: str) -> None:
    with pytest.raises(LatheError, match=what) as caught:
        flash.parts("net", bytes(program), {str(index): bytes(size) for index, size in enumerate(models)})
    assert caught.value.problems[0].rule


@pytest.mark.slow
def test_lathe_package(tmp_path: Path) -> None:
    file = described({"digits": as_file(digits(), tmp_path / "digits.onnx")}, tmp_path)
    options = buildtool.Options(tmp_path / "build")
    built = package_firmware(file, options=options)
    folder = built.folder / "lib" / "k210"
    raw = (folder / "nets.flash.bin").read_bytes()
    program, model = (folder / "digits.bin").read_bytes(), (folder / "digits.kmodel").read_bytes()
    assert raw[5 : 5 + len(program)] == program
    assert raw[0x300000:] == model
    assert written_by_a_tool((folder / "nets.kfpkg").read_bytes())[: len(raw)] == raw
    told = json.loads((built.folder / "report" / "build.json").read_text())["firmware"][0]["flash"]
    assert [(part["name"], part["address"]) for part in told] == [("nets.program.bin", 0), ("digits.kmodel", 0x300000)]

    own = tmp_path / "own.bin"
    own.write_bytes(b"a program of mine")
    package_firmware(file, options=buildtool.Options(tmp_path / "build", program=own))
    assert (folder / "nets.flash.bin").read_bytes()[5:22] == b"a program of mine"
    with pytest.raises(ConfigError, match="the program cannot be read"):
        package_firmware(file, options=buildtool.Options(tmp_path / "build", program=tmp_path / "lost.bin"))
    assert (folder / "nets.kfpkg").is_file()


def test_libraries_are_not_packed(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="packs firmware, and this deployment makes libraries"):
        package_firmware(EXAMPLE / "deploy.yml", options=buildtool.Options(tmp_path))
