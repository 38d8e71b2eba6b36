"""`lathe check` and `lathe schema`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from onnx import helper

from buildtool.config import description_schema, json_schema
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportedModel, ImportRequest
from tests.cli.conftest import Lathe


def test_a_right_file_passes(lathe: Lathe, digits: Path) -> None:
    result = lathe("check", digits)
    assert result.code == 0
    assert "no mistakes" in result.stdout
    document = lathe("check", "--config", digits, "--json").document
    assert document["problems"] == []
    assert document["models"] == ["digits"]


def test_all_problems_come_at_once_with_their_places(lathe: Lathe, digits: Path) -> None:
    text = digits.read_text()
    digits.write_text(text.replace("runtime: cpu", "runtime: cpuu").replace("library_name:", "libary_name:"))
    result = lathe("check", digits, "--json")
    assert result.code == 2
    problems = result.document["problems"]
    assert len(problems) == 2
    assert all(problem["where"]["line"] > 0 for problem in problems)
    assert any("library_name" in problem.get("remedy", "") for problem in problems)


def test_files_are_looked_at_unless_told_otherwise(lathe: Lathe, digits: Path) -> None:
    digits.with_name("digits.onnx").write_bytes(b"other")
    result = lathe("check", digits)
    assert result.code == 3
    assert "checksum" in result.stderr
    assert lathe("check", digits, "--no-files").code == 0
    digits.with_name("digits.onnx").unlink()
    assert "no file" in lathe("check", digits).stderr


def test_known_targets_that_are_not_built_yet_are_an_error_as_in_build(lathe: Lathe, digits: Path) -> None:
    digits.write_text(digits.read_text().replace("runtime: cpu", "runtime: hta"))
    built = lathe("build", digits)
    assert built.code == 4
    for options in ((), ("--no-models",), ("--no-files",)):
        result = lathe("check", digits, *options)
        assert result.code == 4
        assert result.stderr == built.stderr
        assert ":14: error: 'runtime' 'hta' is known but not built yet" in result.stderr


def test_schema_goes_to_stdout_or_to_a_file(lathe: Lathe, tmp_path: Path) -> None:
    assert json.loads(lathe("schema").stdout) == json_schema()
    file = tmp_path / "schema.json"
    assert lathe("schema", "--output", file).code == 0
    assert json.loads(file.read_text()) == json_schema()
    assert json.loads(lathe("schema", "--platform", "ai8x").stdout) == description_schema("ai8x")
    assert "did you mean 'ai8x'?" in lathe("schema", "--platform", "ai8").stderr


SUBGRAPH = """\
    subgraphs:
      - input_tensors: [{input}]
        input_shapes: ["{shape}"]
        input_data_formats: [{order}]
        output_tensors: [{output}]
        output_shapes: ["{result}"]
        output_data_formats: [NONE]
    runtime: cpu
"""
RIGHT = {
    "file": "digits.onnx",
    "platform": "onnx",
    "input": "image",
    "shape": "1,1,8,8",
    "order": "NCHW",
    "output": "probabilities",
    "result": "1,10",
}


@dataclass
class Many:
    """A deployment of models that each differ in something from a right one."""

    folder: Path
    text: str = "library_name: many\ntarget_abis: [host]\nmodels:\n"

    def add(self, name: str, content: bytes | None = None, **wrong: str) -> int:
        """One more model; returns the line of its name."""
        if content is not None:
            wrong["file"] = f"{name}.onnx"
            (self.folder / wrong["file"]).write_bytes(content)
        words = RIGHT | wrong
        line = self.text.count("\n") + 1
        self.text += f"  {name}:\n    platform: {words['platform']}\n    model_file_path: {words['file']}\n"
        self.text += SUBGRAPH.format(**words)
        return line

    def written(self) -> Path:
        file = self.folder / "many.yml"
        file.write_text(self.text)
        return file


@pytest.fixture
def many(digits: Path, monkeypatch: pytest.MonkeyPatch) -> Many:
    monkeypatch.setenv("LATHE_CACHE_DIR", str(digits.parent / "cache"))
    return Many(digits.parent)


def test_the_mistakes_of_all_models_come_at_once(lathe: Lathe, digits: Path, many: Many) -> None:
    model = digits.with_name("digits.onnx").read_bytes()
    many.add("right")
    many.add("empty", b"")
    many.add("truncated", model[: len(model) // 2])
    many.add("platform", platform="tflite")
    many.add("pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n")
    many.add("page", b"\n<!DOCTYPE html>\n<html>")
    missing = many.add("missing", file="digit.onnx")
    name = many.add("name", input="imag", output="nothing")
    shape = many.add("shape", shape="1,1,9,9")
    order = many.add("order", order="NHWC")
    operator = helper.make_node("NoSuchOperator", ["image"], ["probabilities"], name="odd")
    sides = [helper.make_tensor_value_info(one, 1, [1, 1, 8, 8]) for one in ("image", "probabilities")]
    graph = helper.make_graph([operator], "g", sides[:1], sides[1:])
    many.add("unknown", helper.make_model(graph).SerializeToString(), result="1,1,8,8")
    file = many.written()
    result = lathe("check", file, "--json")
    assert result.code == 3
    problems = result.document["problems"]
    models = {one["where"]["model"]: f"{one['what']} {one['remedy']}" for one in problems if "model" in one["where"]}
    assert list(models) == ["empty", "truncated", "platform", "pointer", "page", "unknown"]
    assert "an ONNX model, and no model of tflite write platform: onnx" in models["platform"]
    assert "Git LFS" in models["pointer"]
    assert "HTML" in models["page"]
    assert "NoSuchOperator" in models["unknown"]
    lines = {one["where"]["line"]: one["what"] for one in problems if one["where"].get("file") == str(file)}
    assert list(lines) == [missing + 2, name + 4, name + 7, shape + 5, order + 5]
    assert "there is no file" in lines[missing + 2]
    assert "no tensor 'imag'" in lines[name + 4]
    assert "[1, 1, 9, 9]" in lines[shape + 5]
    assert "as NHWC" in lines[order + 5]
    assert "no tensor 'nothing'" in lines[name + 7]
    assert len(problems) == 11


def test_models_are_not_opened_where_that_is_not_wanted(lathe: Lathe, many: Many) -> None:
    many.add("name", input="imag")
    file = many.written()
    assert lathe("check", file).code == 3
    assert lathe("check", file, "--no-models").code == 0
    assert lathe("check", file, "--no-files").code == 0
    many.add("missing", file="digit.onnx")
    many.written()
    assert lathe("check", file, "--no-models").code == 3


@pytest.mark.slow
def test_a_model_is_imported_again_only_where_something_has_changed(
    lathe: Lathe, many: Many, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported: list[str] = []

    def counting(platform: str, request: ImportRequest) -> ImportedModel:
        imported.append(request.name)
        return import_model(platform, request)

    monkeypatch.setattr("buildtool.requests.model_sources.import_model", counting)
    many.add("first")
    file = many.written()
    assert [lathe("check", file).code, lathe("check", file).code] == [0, 0]
    assert imported == ["first"]
    many.add("second", (many.folder / "digits.onnx").read_bytes())
    many.add("wrong", input="imag")
    many.written()
    assert [lathe("check", file).code, lathe("check", file).code] == [3, 3]
    assert imported == ["first", "second", "wrong", "wrong"]
    (many.folder / "second.onnx").write_bytes(b"")
    assert lathe("check", file).code == 3
    assert imported[4:] == ["second", "wrong"]


def test_check_passes_only_where_a_build_begins(lathe: Lathe, many: Many) -> None:
    many.add("first")
    many.add("second", (many.folder / "digits.onnx").read_bytes(), shape="1,8,8,1")
    file = many.written()
    built = lathe("build", file, "--dry-run")
    assert built.code == 3
    checked = lathe("check", file)
    assert (checked.code, checked.stderr) == (built.code, built.stderr)
