"""The examples of docs/reference/commands.md do what the page says."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from buildtool import lathe_runtime
from tests.cli.conftest import EXAMPLE, Lathe

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "commands.md"


def examples() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.startswith("lathe ")]


@pytest.mark.slow
def test_every_example_works_in_order(lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXAMPLE / "digits.onnx", tmp_path)
    assert len(examples()) > 15
    for line in examples():
        result = lathe(*shlex.split(line)[1:])
        assert result.code == 0, f"{line}\n{result.stderr}"
    desk, board = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    pixels = np.zeros((1, 1, 8, 8), np.float32)
    exec(compile(desk, str(PAGE), "exec"), {"image": pixels})
    for name in ("libdigits.so", "digits.pb", "digits.data"):  # as they lie on a board
        for file in sorted((tmp_path / "build" / "digits").rglob(name))[:1]:
            shutil.copy(file, tmp_path)
    monkeypatch.setitem(sys.modules, "lathe_runtime", lathe_runtime)  # which has that name in its wheel
    exec(compile(board, str(PAGE), "exec"), {"pixels": pixels})


def test_every_command_has_a_section(lathe: Lathe) -> None:
    sections = re.findall(r"^## ([a-z-]+)", PAGE.read_text(), re.MULTILINE)
    listed = re.findall(r"^  ([a-z][a-z-]*)  ", lathe("--help").stdout, re.MULTILINE)
    assert sections == listed
