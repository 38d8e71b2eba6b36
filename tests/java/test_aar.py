"""The Android archive: what stands where, and that equal builds give equal bytes."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from xml.etree import ElementTree

import pytest

from buildtool.builders import aar
from buildtool.builders.java import Binding, JavaParts, zipped
from buildtool.codegen import java
from buildtool.codegen.java import JavaLibrary
from buildtool.errors import ConfigError, ToolchainError

DIGITS = JavaLibrary("digits", "digits", "digits")
BINDINGS = {
    "arm64-v8a": Binding(b"arm64 binding", 21, 26),
    "host": Binding(b"host binding", 0, 0),
    "x86_64": Binding(b"x86_64 binding", 24, 26),
}
CONTENTS: dict[str, bytes] = {
    "include/lathe/digits.h": b"the header",
    "include/mace/public/mace.h": b"another",
    "model/digits.pb": b"a graph",
    "model/digits.data": b"weights",
    "model/arm64-v8a/digits.pb": b"a planned graph",
    "model/digits_index.html": b"a page",
    "report/build.json": b"{}",
    **{f"lib/{abi}/libdigits.so": abi.encode() for abi in BINDINGS},
    "lib/arm64-v8a/libdigits.a": b"static",
}


@dataclass(frozen=True)
class Source:
    name: str = "digits"
    graph_in_library: bool = False
    data_in_library: bool = False


@dataclass(frozen=True)
class Model:
    source: Source = Source()


@dataclass(frozen=True)
class Program:
    """As much of a TargetProgram as an archive looks at."""

    library: Source = Source()
    models: tuple[Model, ...] = (Model(),)


def packed(program: Program | None = None, **changed: object) -> dict[str, bytes]:
    parts = JavaParts(DIGITS, b"a jar", {**BINDINGS, **changed.get("bindings", {})})  # type: ignore[dict-item]
    data = aar.archive(CONTENTS, parts, program or Program())  # type: ignore[arg-type]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_archive_has_exactly_these_paths() -> None:
    files = packed()
    assert list(files) == sorted(files)
    native = "prefab/modules/digits"
    assert set(files) == {
        *("AndroidManifest.xml", "R.txt", "classes.jar", "proguard.txt", "prefab/prefab.json", f"{native}/module.json"),
        *("assets/digits/digits.pb", "assets/digits/digits.data"),
        *(f"{native}/include/lathe/digits.h", f"{native}/include/mace/public/mace.h"),
        *(
            f"{native}/libs/android.{abi}/{name}"
            for abi in ("arm64-v8a", "x86_64")
            for name in ("abi.json", "libdigits.so")
        ),
        *(f"jni/{abi}/libdigits_jni.so" for abi in ("arm64-v8a", "x86_64")),
    }
    assert files["assets/digits/digits.pb"] == b"a graph"
    assert files[f"{native}/libs/android.x86_64/libdigits.so"] == b"x86_64"
    assert files["jni/x86_64/libdigits_jni.so"] == b"x86_64 binding"
    assert b"lathe.digits.**" in files["proguard.txt"]
    manifest = ElementTree.fromstring(files["AndroidManifest.xml"])
    assert manifest.get("package") == "lathe.digits"
    assert list(manifest[0].attrib.values()) == ["24"]  # the highest of the ABIs


def test_prefab_finds_the_keys_of_its_schema_and_no_others() -> None:
    """Its reader (schema version 2) refuses a file with a key that it does not know."""
    files = {name: json.loads(data) for name, data in packed().items() if name.endswith(".json")}
    assert files["prefab/prefab.json"] == {"schema_version": 2, "name": "digits", "dependencies": []}
    assert files["prefab/modules/digits/module.json"] == {"export_libraries": [], "library_name": "libdigits"}
    described = files["prefab/modules/digits/libs/android.arm64-v8a/abi.json"]
    assert described == {"abi": "arm64-v8a", "api": 21, "ndk": 26, "stl": "none", "static": False}


@pytest.mark.parametrize(
    ("source", "assets"), [(Source(graph_in_library=True), {"digits.data"}), (Source("digits", True, True), set())]
)
def test_models_inside_of_the_library_are_no_assets(source: Source, assets: set[str]) -> None:
    files = packed(Program(source, (Model(source),)))
    assert {name.rpartition("/")[2] for name in files if name.startswith("assets/")} == assets


def test_a_zip_file_does_not_depend_on_time_or_order() -> None:
    files = {"b.so": b"\x7fELF" * 100, "a/c.txt": b"text"}
    assert zipped(files) == zipped(dict(reversed(files.items())))
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == ["a/c.txt", "b.so"]
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert [entry.external_attr >> 16 for entry in entries] == [0o100644, 0o100755]


def test_an_archive_is_for_android() -> None:
    with pytest.raises(ConfigError, match=r"built for host, aarch64-linux-gnu[\s\S]*--abi arm64-v8a"):
        aar.android_abis(["host", "aarch64-linux-gnu"])
    with pytest.raises(ToolchainError, match=r"x86_64 is not for Android[\s\S]*__ANDROID_API__"):
        packed(bindings={"x86_64": Binding(b"", 0, 0)})


def test_packages_are_words_of_java() -> None:
    assert JavaLibrary("int", "native", "native").package == "lathe.native_"
    assert JavaLibrary("my-net", "my_net", "mace").folder == "lathe/my_net"
    sources = java.sources(JavaLibrary("my-net", "my_net", "mace"))
    assert sorted(sources) == [f"lathe/my_net/{name}.java" for name in java.CLASSES]
    assert b'System.loadLibrary("mace_jni");' in sources["lathe/my_net/Native.java"]
