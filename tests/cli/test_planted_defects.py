"""Whose fault it is: a handler that raises what nobody meant is a defect of ours, and no mistake of the model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from buildtool.errors import ModelFileError, UnsupportedError
from buildtool.importers import pytorch
from buildtool.importers.assembly import assemble
from buildtool.importers.request import ImportRequest
from buildtool.importers.step import Step
from tests.cli.conftest import Lathe
from tests.importers.healthy_sources import FRAMEWORKS, sources
from tests.importers.hostile_nodes import Source
from tests.importers.pytorch.test_pytorch import program

_DEFECTS = (AttributeError, TypeError, AssertionError, MemoryError)


def _plain(framework: str, folder: Path, lathe: Lathe, deployment: Path) -> Source:
    """A small model whose first node a handler imports, and its deployment file. Its files are in the folder."""
    folder.mkdir()
    for source in sources(framework, folder):
        if _is_plain(source) and lathe("init", source.request.model_file, "--output", deployment).code == 0:
            return source
    raise AssertionError(f"no model of {framework} is as plain as that")


def _is_plain(source: Source) -> bool:
    if len(source.model.nodes) > 2 or source.model.nodes[0].title in source.registry.evaluators():
        return False
    try:
        return len(assemble(source.model, source.registry, source.request).graph.nodes) == len(source.model.nodes)
    except (ModelFileError, UnsupportedError):
        return False


def _as_program(source: Source, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ONNX file as what PyTorch makes of a program."""

    def export(kind: object, request: ImportRequest, target: Path, where: object) -> None:
        shutil.copy(source.request.model_file, target)

    monkeypatch.setattr(pytorch, "export", export)
    return program(folder)


@pytest.mark.slow
@pytest.mark.parametrize("framework", [*FRAMEWORKS, "pytorch"])
def test_a_handler_that_raises_what_nobody_meant_is_a_defect(
    framework: str, lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = tmp_path / "deploy.yml"
    source = _plain("onnx" if framework == "pytorch" else framework, tmp_path / "model", lathe, deployment)
    if framework == "pytorch":
        deployment = tmp_path / "program.yml"
        assert lathe("init", _as_program(source, tmp_path, monkeypatch), "--output", deployment).code == 0
    convert = ("convert", deployment, "--output", tmp_path / "build")
    assert lathe(*convert).code == 0
    reports = tmp_path / "reports"
    reports.mkdir()
    monkeypatch.setenv("TMPDIR", str(reports))
    monkeypatch.setattr("tempfile.tempdir", None)
    title = source.model.nodes[0].title
    for kind in _DEFECTS:

        def broken(step: Step, kind: type[Exception] = kind) -> NoReturn:
            raise kind("on purpose")

        monkeypatch.setitem(source.registry.handlers(), title, broken)  # type: ignore[arg-type]
        result = lathe(*convert)
        assert result.code == 70, result.stderr
        assert f"{title}: {kind.__name__}: on purpose" in result.stderr
        assert "model is invalid" not in result.stderr and "export it again" not in result.stderr
        (report,) = reports.glob("lathe-report-*.txt")
        assert f"please report it with the file {report}" in result.stderr
        assert "in broken" in report.read_text(encoding="utf-8")
        report.unlink()
