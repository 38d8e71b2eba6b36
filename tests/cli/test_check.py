"""`lathe check` and `lathe schema`."""

from __future__ import annotations

import json
from pathlib import Path

from buildtool.config import json_schema
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


def test_what_is_known_but_not_built_is_a_note(lathe: Lathe, digits: Path) -> None:
    digits.write_text(digits.read_text().replace("runtime: cpu", "runtime: dsp"))
    result = lathe("check", digits)
    assert result.code == 0
    assert "note: " in result.stderr
    assert lathe("check", digits, "--json").document["notes"]
    built = lathe("build", digits)
    assert built.code == 4
    assert "dsp" in built.stderr


def test_schema_goes_to_stdout_or_to_a_file(lathe: Lathe, tmp_path: Path) -> None:
    assert json.loads(lathe("schema").stdout) == json_schema()
    file = tmp_path / "schema.json"
    assert lathe("schema", "--output", file).code == 0
    assert json.loads(file.read_text()) == json_schema()
