"""`--trust-model-code` on the command line reaches the importer, and nothing else does what it does."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

import pytest

from buildtool.importers.pytorch import exporting
from tests.cli.conftest import Lathe, lathe

__all__ = ["lathe"]  # a fixture
COMMANDS = ("build", "convert", "run", "validate", "bench", "tune")
DEPLOYMENT = """\
library_name: net
target_abis: [host]
models:
  net:
    platform: pytorch
    model_file_path: model.pt2
    subgraphs:
      - {input_tensors: [x], input_shapes: ["1,3"], output_tensors: [output], output_shapes: ["1,3"]}
    runtime: cpu
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with compiled code, and the process of PyTorch, which leaves a mark."""
    process = tmp_path / "process.py"
    process.write_text(f"open({str(tmp_path / 'mark')!r}, 'w'); import sys; sys.exit('enough')")
    monkeypatch.setattr(exporting, "_SCRIPT", process)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    with zipfile.ZipFile(tmp_path / "model.pt2", "w") as archive:
        archive.writestr("model/archive_format", b"pt2")
        archive.writestr("model/data/aotinductor/model/model.so", b"")
    (tmp_path / "deploy.yml").write_text(DEPLOYMENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_import_models(command: str, folder: Path, lathe: Lathe) -> None:
    refused = lathe(command, "deploy.yml")
    assert refused.code and "it is compiled code" in refused.stderr and not (folder / "mark").exists()
    trusted = lathe(command, "deploy.yml", "--trust-model-code")
    assert trusted.code and "cannot write this program as ONNX: enough" in trusted.stderr
    assert (folder / "mark").exists()


def test_init(folder: Path, lathe: Lathe) -> None:
    refused = lathe("init", "model.pt2", "-o", "-")
    assert refused.code and "it is compiled code" in refused.stderr and not (folder / "mark").exists()
    trusted = lathe("init", "model.pt2", "-o", "-", "--trust-model-code")
    assert trusted.code and "cannot write this program as ONNX: enough" in trusted.stderr
    assert (folder / "mark").exists()


@pytest.mark.parametrize("command", ["package", "debug", "quantize"])
def test_other_commands_know_it(command: str, lathe: Lathe) -> None:
    assert "--trust-model-code" in lathe(command, "--help").stdout
