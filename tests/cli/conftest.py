"""How the tests of commands call `lathe`: in this process, where nothing is measured and nothing is killed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from buildtool.cli.main import run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits"


@dataclass(frozen=True)
class Result:
    """What a command left."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        loaded: dict[str, Any] = json.loads(self.stdout)
        return loaded


Lathe = Callable[..., Result]


@pytest.fixture
def lathe(capsys: pytest.CaptureFixture[str]) -> Lathe:
    """Runs a command line. A traceback on stderr fails the test whatever it expects."""

    def call(*arguments: object) -> Result:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    """A deployment file of its own, with the model beside it."""
    folder = tmp_path / "source"
    folder.mkdir()
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, folder / name)
    return folder / "deploy.yml"
