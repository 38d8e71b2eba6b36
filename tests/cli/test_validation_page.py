"""The commands of docs/how-to/validation.md do what the page says."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLE, Lathe, Result

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "validation.md"


@pytest.mark.slow
def test_every_command_works(lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("accuracy.yml", "accuracy.py", "digits.onnx", "test.npz"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) == 8
    told: dict[str, Result] = {}
    for line in lines:
        # Tests of the workflow start processes; here the words are what counts.
        told[line] = lathe(*shlex.split(line.replace("--workers 2", "--workers 1"))[1:])
        assert told[line].code == 0, f"{line}\n{told[line].stderr}"
    report = Path("build/digits/report")
    assert "no layer diverges" in told["lathe validate accuracy.yml --layers"].stdout
    assert {path.name for path in (report / "layers/host/digits").iterdir()} == {"layers.json", "log.csv", "drift.svg"}
    assert "0.991667" in told["lathe validate accuracy.yml --accuracy"].stdout
    assert (report / "accuracy.json").is_file()
    assert "<testcase" in Path("outputs.xml").read_text()
    assert Path("values/host/digits/values.json").is_file()
