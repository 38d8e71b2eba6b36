"""The commands of docs/how-to/reports.md do what the page says; its tabs and pictures are those that there are."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from buildtool.reports import html_page
from tests.cli.conftest import EXAMPLE, Lathe, lathe

__all__ = ["lathe"]
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "reports.md"
SCRIPT = ROOT / "buildtool" / "reports" / "templates" / "build_page.js"


@pytest.mark.slow
def test_every_command_works(lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) == 8
    for line in lines:
        result = lathe(*shlex.split(line)[1:])
        assert result.code == 0, f"{line}\n{result.stderr}"
    data = html_page.data_of(Path("build/digits/report/index.html").read_bytes())
    assert data["benchmark"] and data["validation"] and data["layers"]
    graph = html_page.data_of(data["pages"]["graphs"]["digits"].encode())
    assert len(graph["measured"][0]["boxes"]) == graph["graphs"][-1]["nodes"]
    spreads = [value["spread"] for value in graph["layers"][0]["values"].values()]
    assert all(sum(spread["counts"]) > 0 for spread in spreads)
    assert any("spread" in value for value in graph["values"] if "constant" in value)
    assert json.loads(Path("run.json").read_text())["traceEvents"]
    assert html_page.data_of(Path("differences.html").read_bytes())["graphs"]


def test_the_page_names_every_tab() -> None:
    shown = re.findall(r'^    \["\w+", "(\w+)",', SCRIPT.read_text(), re.MULTILINE)
    named = re.findall(r"^\| (\w+) \|", PAGE.read_text().partition("## Graph")[0], re.MULTILINE)
    assert len(shown) == 10
    assert named == ["tab", *shown]
