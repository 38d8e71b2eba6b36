"""Two builds beside each other: figures, tables, the page, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from buildtool.cli.main import run as command
from buildtool.errors import ConfigError
from buildtool.reports import build_comparison, html_page
from buildtool.reports.table import Table
from buildtool.workflow.comparing import compare
from tests.cli.conftest import EXAMPLE, Lathe, lathe
from tests.reports.test_build_page import write_results
from tests.reports.test_graph_page import CHROMIUM, browse

__all__ = ["lathe"]
FEWER = "    graph_optimize_options: [remove_dead_code, move_transposes, merge_transposes]\n    runtime: cpu"


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `old/digits`, built with few passes, and `new/digits`."""
    folder = tmp_path_factory.mktemp("builds")
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, folder / name)
    text = (folder / "deploy.yml").read_text()
    (folder / "old.yml").write_text(text.replace("    runtime: cpu", FEWER))
    for name, output in (("old.yml", "old"), ("deploy.yml", "new")):
        words = ["build", str(folder / name), "-o", str(folder / output), "--abi", "host", "-q"]
        assert command(words) == 0
    return folder


@pytest.fixture(scope="module")
def measured(builds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, as if both had been measured and validated."""
    folder = tmp_path_factory.mktemp("measured")
    for name, factor in (("old", 2.0), ("new", 1.0)):
        shutil.copytree(builds / name, folder / name)
        report = folder / name / "digits" / "report"
        write_results(report, "digits")
        benchmark = json.loads((report / "benchmark.json").read_text())
        (item,) = benchmark["measurements"]
        item["nodes"][0]["median_ms"] = factor
        item["plain"] = {**item["plain"], "median": factor, "median_interval": [0.9 * factor, 1.1 * factor]}
        (report / "benchmark.json").write_text(json.dumps(benchmark))
        result = {"output": "probabilities", "abi": "host", "cosine": 1 - factor / 1000, "passed": True}
        (report / "validation.json").write_text(json.dumps({"reference": "onnxruntime", "results": [result]}))
    return folder


def figures(document: dict[str, Any]) -> dict[str, tuple[float, float]]:
    return {figure["what"]: (figure["before"], figure["after"]) for figure in document["figures"]}


@pytest.mark.slow
def test_sizes_kernels_and_nodes(builds: Path) -> None:
    document = compare(builds / "old/digits", builds / "new/digits")
    found = figures(document)
    for what in ("library for host", "digits: nodes", "digits: weights", "kernels for host"):
        before, after = found[what]
        assert before > after > 0
    assert document["kernels"]["host"]["added"] == []
    assert any(name.startswith("batch_norm_") for name in document["kernels"]["host"]["removed"])
    assert document["sizes"]["host"]["batch_norm"][1] is None
    assert document["operators"]["digits"]["relu"] == [2, None]
    assert document["speed"] == []
    same = compare(builds / "new/digits", builds / "new/digits")
    assert all(before == after for before, after in figures(same).values())


@pytest.mark.slow
def test_times_and_agreement(measured: Path) -> None:
    document = compare(measured / "old/digits", measured / "new/digits")
    assert figures(document)["digits on host, digits"] == (2.0, 1.0)
    assert figures(document)["probabilities on host: cosine"] == (0.998, 0.999)
    (row,) = document["speed"]
    assert (row["ratio"], row["verdict"]) == (0.5, "faster")
    assert [node["difference"] for node in row["nodes"]] == [-1.0]


def test_people_see_what_differs(measured: Path) -> None:
    document = compare(measured / "old/digits", measured / "new/digits")
    shown = build_comparison.parts(document)
    text = "\n".join(part if isinstance(part, str) else part.render(width=80) for part in shown)
    tables = [part.render(width=80) for part in shown if isinstance(part, Table)]
    assert max(len(line) for table in tables for line in table.splitlines()) <= 80
    assert "-50.0 %" in text and "faster" in text and "removed batch_norm_" in text
    titles = [part.title for part in shown if isinstance(part, Table)]
    assert "host: bytes by operator" in titles
    same = build_comparison.parts(compare(measured / "new/digits", measured / "new/digits"))
    assert not any(isinstance(part, Table) and part.title.endswith("by operator") for part in same)


def test_the_page_has_both_graphs(measured: Path, tmp_path: Path) -> None:
    document = compare(measured / "old/digits", measured / "new/digits")
    build_comparison.write_page(tmp_path / "page.html", document)
    data = html_page.data_of((tmp_path / "page.html").read_bytes())
    assert data["figures"] == document["figures"]
    graph = html_page.data_of(data["graphs"]["digits"].encode())
    before, after = graph["graphs"]
    assert (before["title"], after["title"], graph["beside"]) == ("before", "after", 0)
    for part in (before, after):
        nodes = [graph["nodes"][number] for number in part["items"]]
        assert nodes[0]["op"] == "image" and len(nodes) == part["nodes"] + 2
        assert all(graph["values"][number]["name"] for node in nodes for number in node["inputs"])


def test_the_command(lathe: Lathe, builds: Path, tmp_path: Path) -> None:
    words = ["inspect", builds / "new/digits", "--compare", builds / "old/digits"]
    assert "digits: nodes" in lathe(*words, "--page", tmp_path / "page.html").stdout
    assert (tmp_path / "page.html").read_bytes().startswith(b"<!DOCTYPE html>")
    assert lathe(*words, "--json").document["kind"] == "comparison"
    for wrong in (["inspect", builds / "new/digits", "--page", "x.html"], ["inspect", "ops", "--compare", builds]):
        result = lathe(*wrong)
        assert result.code == 2 and "lathe inspect build/NEW --compare build/OLD" in result.stderr


def test_a_folder_that_is_no_build_is_refused(builds: Path) -> None:
    with pytest.raises(ConfigError, match="does not contain a build"):
        compare(builds, builds / "new/digits")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_draws_it(measured: Path, tmp_path: Path) -> None:
    document = compare(measured / "old/digits", measured / "new/digits")
    page = tmp_path / "page.html"
    build_comparison.write_page(page, document)
    drawn = {
        part: browse(page, "--dump-dom", fragment=f"#{part}").partition('id="data"')[0] for part in ("sizes", "speed")
    }
    assert drawn["sizes"].count('class="bar less"') > 1
    assert "faster" in drawn["speed"] and "&lt;" not in drawn["speed"]
    assert 'class="bar less"' in drawn["speed"]
