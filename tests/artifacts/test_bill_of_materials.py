"""The manifest and the bill of materials: complete, true to the files, equal wherever they are made."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from buildtool.artifacts import bill_of_materials
from buildtool.builders.built import BuiltLibrary, LibraryInfo, SizeReport
from buildtool.reports.documents import MANIFEST

KERNELS = ("relu_f32_plain__portable",)


def _documents(folder: Path) -> dict[str, bytes]:
    """What a build in this folder would write."""
    ops = folder / "ops" / "native" / "ops" / "shift"
    ops.mkdir(parents=True)
    for name, text in {"net.yml": "models", "net.onnx": "graph", "ops/native/ops/shift/op.yaml": "op: shift"}.items():
        (folder / name).write_text(text)
    saved = folder / "saved"
    (saved / "variables").mkdir(parents=True)
    (saved / "saved_model.pb").write_bytes(b"pb")
    (saved / "variables" / "variables.index").write_bytes(b"index")
    static = folder / "libnet.a"
    static.write_bytes(b"archive")
    shared = folder / "libnet.so"
    shared.write_bytes(b"shared")
    info = LibraryInfo(shared, "net", "1.0", "x86-64", KERNELS, ("lathe_api_net",), ("libc.so.6",), "GLIBC_2.17", 6)
    library = BuiltLibrary("net", "host", shared, static, shared, info, SizeReport(()), "g++ 12")
    inputs = bill_of_materials.inputs_of(folder / "net.yml", [[folder / "net.onnx"], [saved]], [folder / "ops"])
    origin = bill_of_materials.Origin("net", "1.0", "f" * 64, tuple(inputs))
    outputs: dict[str, bytes | Path] = {
        "lib/host/libnet.so": shared,
        "model/net.pb": b"container",
        "report/build.json": b"{}",
        "debug/host/libnet.so": shared,
    }
    return bill_of_materials.files(origin, [library], outputs)


def test_the_manifest_lists_inputs_with_roles_and_checksums_and_outputs(tmp_path: Path) -> None:
    manifest = json.loads(_documents(tmp_path)[MANIFEST])
    assert [(item["role"], item["name"]) for item in manifest["inputs"]] == [
        ("deployment", "net.yml"),
        ("model", "net.onnx"),
        ("model", "saved/saved_model.pb"),
        ("model", "saved/variables/variables.index"),
        ("operator", "ops/native/ops/shift/op.yaml"),
    ]
    assert manifest["inputs"][1]["sha256"] == hashlib.sha256(b"graph").hexdigest()
    assert [item["path"] for item in manifest["outputs"]] == ["lib/host/libnet.so", "model/net.pb"]
    assert manifest["outputs"][1] == {
        "path": "model/net.pb",
        "bytes": 9,
        "sha256": hashlib.sha256(b"container").hexdigest(),
    }
    (library,) = manifest["libraries"]
    assert library["kernels"] == list(KERNELS)
    assert library["needed"] == ["libc.so.6"]
    assert manifest["tools"]["compilers"] == {"host": "g++ 12"}
    assert {"numpy", "onnx"} <= set(manifest["tools"]["packages"])


@pytest.mark.slow
def test_the_bill_is_a_cyclonedx_document(tmp_path: Path) -> None:
    # This validator compiles grammars when it is imported: for 3 s, which every run of any tests would wait.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = _documents(tmp_path)[bill_of_materials.SBOM].decode()
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(text) is None
    bill = json.loads(text)
    kinds = {part["name"]: part["type"] for part in bill["components"]}
    assert kinds["net.onnx"] == "machine-learning-model"
    assert kinds["lathe-runtime"] == "library"
    assert [part["name"] for part in bill["metadata"]["component"]["components"]] == [
        "lib/host/libnet.so",
        "model/net.pb",
    ]


def test_equal_builds_write_equal_documents(tmp_path: Path) -> None:
    assert _documents(tmp_path / "a") == _documents(tmp_path / "b" / "elsewhere")
    assert str(tmp_path) not in "".join(text.decode() for text in _documents(tmp_path / "c").values())


def test_the_provenance_is_a_statement_about_every_output_and_input(tmp_path: Path) -> None:
    documents = _documents(tmp_path)
    statement = json.loads(documents[bill_of_materials.PROVENANCE])
    assert (statement["_type"], statement["predicateType"]) == (
        "https://in-toto.io/Statement/v1",
        "https://slsa.dev/provenance/v1",
    )
    manifest = json.loads(documents[MANIFEST])
    made = {item["name"]: item["digest"]["sha256"] for item in statement["subject"]}
    assert made == {item["path"]: item["sha256"] for item in manifest["outputs"]}
    definition = statement["predicate"]["buildDefinition"]
    read = {item["name"]: item["digest"]["sha256"] for item in definition["resolvedDependencies"]}
    assert read == {item["name"]: item["sha256"] for item in manifest["inputs"]}
    assert definition["externalParameters"] == {"deployment": "net.yml", "library": "net"}
    assert statement["predicate"]["runDetails"]["builder"]["version"]["compiler host"] == "g++ 12"
