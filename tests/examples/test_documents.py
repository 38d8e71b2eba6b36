"""The deployment files and commands that the documents show are accepted as they stand there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LATHE = Path(sys.executable).with_name("lathe")
MODEL = ROOT / "examples" / "digits" / "digits.onnx"


def _blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/tutorials/getting-started.md"])
def test_deployment_is_accepted(page: str, tmp_path: Path) -> None:
    (deployment,) = _blocks(page, "yaml")
    (tmp_path / "deploy.yml").write_text(deployment)
    shutil.copy(MODEL, tmp_path)
    done = subprocess.run([LATHE, "check", "deploy.yml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/tutorials/getting-started.md", "CONTRIBUTING.md"])
def test_commands_and_targets_exist(page: str) -> None:
    """Each `lathe VERB` is a command and each `make TARGET` is a target."""
    commands = subprocess.run([LATHE, "--help"], capture_output=True, text=True, check=True).stdout
    targets = (ROOT / "Makefile").read_text()
    lines = [line.strip() for block in _blocks(page, "sh") for line in block.splitlines()]
    verbs = [line.split()[1] for line in lines if line.startswith("lathe ")]
    goals = [line.split()[1] for line in lines if line.startswith("make ")]
    assert verbs or goals
    assert [verb for verb in verbs if not re.search(rf"^ +{verb} ", commands, re.MULTILINE)] == []
    assert [goal for goal in goals if not re.search(rf"^{goal}:", targets, re.MULTILINE)] == []
