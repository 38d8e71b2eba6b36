"""Files of other kinds, and names of files that there are not, where a command expects a deployment file or a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Lathe

COMMANDS = (
    *(["check"], ["build"], ["convert"], ["run"], ["validate"], ["bench"], ["tune"], ["debug"], ["package"]),
    ["quantize", "--inputs", "."],
)


def test_ranges_belong_to_a_deployment_file(lathe: Lathe, digits: Path) -> None:
    model = digits.with_name("digits.onnx")
    result = lathe("quantize", "--inputs", ".", model)
    assert result.code == 2
    assert f"{model}: error: this is a model (onnx), and not a deployment file" in result.stderr
    assert f"lathe init {model}" in result.stderr


@pytest.mark.slow
def test_a_model_alone_is_used_as_init_describes_it(
    lathe: Lathe, digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = tmp_path / "digits.onnx"
    model.write_bytes(digits.with_name("digits.onnx").read_bytes())
    checked = lathe("check", model)
    assert checked.code == 0
    assert f"{model}: note: this is a model (onnx); it is used as `lathe init` would describe it" in checked.stderr
    assert f"to change anything: lathe init {model}" in checked.stderr
    assert lathe("run", model).code == 0
    assert (tmp_path / "build" / "digits" / "report" / "build.json").is_file()
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".yml"] == []
    (tmp_path / "digits.yml").write_text(digits.read_text())
    ambiguous = lathe("check", model)
    assert ambiguous.code == 2
    assert "digits.yml beside it may describe it" in ambiguous.stderr


def test_folders_and_other_kinds_are_told_apart_too(lathe: Lathe, tmp_path: Path) -> None:
    folder = tmp_path / "saved model"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(b"")
    result = lathe("quantize", "--inputs", ".", folder)
    assert result.code == 2
    assert "this is a model (tensorflow)" in result.stderr
    assert f"lathe init '{folder}'" in result.stderr
    kmodel = tmp_path / "net.kmodel"
    kmodel.write_bytes(b"")
    result = lathe("bench", kmodel)
    assert result.code == 2
    assert "this is a kmodel, and not a deployment file" in result.stderr
    assert f"lathe inspect {kmodel}" in result.stderr
    result = lathe("run", kmodel)
    assert result.code == 3
    assert f"{kmodel}: error: 0 bytes are not a kmodel" in result.stderr


def test_a_deployment_in_json_is_read(lathe: Lathe, tmp_path: Path) -> None:
    file = tmp_path / "deploy.json"
    file.write_text('{"models": 1}')
    result = lathe("check", file)
    assert result.code == 2
    assert "a model" not in result.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_misspelt_deployment_file_gets_the_nearest_name(command: list[str], lathe: Lathe, digits: Path) -> None:
    result = lathe(*command, digits.with_name("depoy.yml"))
    assert result.code == 2
    assert "depoy.yml: error: there is no such file\n  fix:  did you mean 'deploy.yml'?" in result.stderr


def test_a_misspelt_model_gets_the_nearest_name(lathe: Lathe, digits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(digits.parent)
    for command in ("init", "inspect"):
        result = lathe(command, "digit.onnx")
        assert result.code in (2, 3)
        assert "fix:  did you mean 'digits.onnx'?" in result.stderr
    digits.write_text(digits.read_text().replace("digits.onnx", "digit.onnx"))
    assert "did you mean 'digits.onnx'?" in lathe("check", "deploy.yml").stderr
    assert "did you mean" not in lathe("check", "nothing-like-it.yml").stderr
