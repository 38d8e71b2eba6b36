"""The one page of a build: what it holds, that hostile names stay text, that it is the same each time; in a browser."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import buildtool
from buildtool.reports import build_page, html_page, training
from tests.cli.conftest import EXAMPLE
from tests.reports.test_graph_page import CHROMIUM, HOSTILE, browse

NAME = HOSTILE.replace("\ud800", "")  # chromium draws it, but cannot write it to a file


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a build that was converted, which is all that most of the page needs."""
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(EXAMPLE, folder / "source")
    converted = folder / "source" / "deploy.yml"
    buildtool.convert(converted, buildtool.Overrides(("host",)), buildtool.Options(folder / "first"))
    buildtool.convert(converted, buildtool.Overrides(("host",)), buildtool.Options(folder / "second"))
    return folder


def measurement(name: str) -> dict[str, Any]:
    spread = {"percentiles": {"99": 1.2}, "median_interval": [1.0, 1.1], "confidence": 0.95, "std": 0.1}
    run = {"round": 2, "first": 1.0, "curr": 1.1, "min": 1.0, "max": 1.2, "avg": 1.05, "median": 1.05, **spread}
    node = {"index": 0, "name": name, "op": "conv2d", "kernel": "k", "macs": 1000, "bytes": 100, "output": [1, 2]}
    times = dict.fromkeys(("start_ms", "first_ms", "std_ms"), 0.0) | dict.fromkeys(
        ("end_ms", "avg_ms", "median_ms"), 1.0
    )
    node |= {**times, "percent": 100.0, "cumulative": 100.0, "gmacs": 2.0, "gb_s": 1.0, "share_of_peak": 0.5}
    peak = {"gmacs": {"f32": 50.0}, "reading": [{"bytes": 1024, "gb_s": 90.0}], "source": "measured"}
    return {
        "model": name,
        "abi": "host",
        "device": name,
        "threads": 1,
        "unit": "seconds",
        "note": name,
        "plain": run,
        "observed": run,
        "rounds_ms": [1.0, 1.1],
        "create_ms": 0.5,
        "peak": peak,
        "nodes": [node | {"limit": "computing"}],
        "properties": {"device": name},
        "share_of_peak": 0.5,
        "operators": [{"op": "conv2d", "avg_ms": 1.0, "percent": 100.0}],
        "macs": {"total": 1000},
        "energy": {"known": False},
    }


def write_results(report: Path, name: str) -> None:
    document = {"measurements": [measurement(name)], "compared": [], "against": [], "folder": "/somewhere"}
    (report / "benchmark.json").write_text(json.dumps(document))
    result = {"model": name, "abi": "host", "output": name, "similarity": 0.5, "passed": False}
    (report / "validation.json").write_text(
        json.dumps({"reference": name, "results": [result], "folder": "/somewhere"})
    )


def test_it_holds_everything_and_is_the_same_each_time(build: Path) -> None:
    first, second = ((build / place / "digits/report/index.html").read_bytes() for place in ("first", "second"))
    assert first == second
    data = html_page.data_of(first)
    assert data["build"]["models"][0]["name"] == "digits"
    assert list(data["pages"]["graphs"]) == ["digits"]
    assert "conv2d" in data["pages"]["graphs"]["digits"]
    (memory,) = data["memory"]
    assert memory["size"] >= memory["lower_bound"] > 0
    assert all(offset >= 0 and offset + size <= memory["size"] for _, _, offset, size, _, _ in memory["values"])
    assert all(0 <= begin <= end < memory["steps"] for *_, begin, end in memory["values"])
    assert data["benchmark"] is None
    shell = first.partition(b'<script type="application/json"')[0]
    assert not re.search(rb"(src|href)=|@import|https?://", shell)


def test_later_measurements_are_written_into_the_page(build: Path, tmp_path: Path) -> None:
    shutil.copytree(build / "first/digits", tmp_path / "digits")
    page = tmp_path / "digits/report/index.html"
    before = page.read_bytes()
    write_results(tmp_path / "digits/report", "some")
    build_page.refresh(tmp_path / "digits")
    data = html_page.data_of(page.read_bytes())
    assert data["benchmark"]["measurements"][0]["model"] == "some"
    assert data["validation"]["results"][0]["passed"] is False
    assert b"/somewhere" not in page.read_bytes()
    for name in ("benchmark.json", "validation.json"):
        (tmp_path / "digits/report" / name).unlink()
    build_page.refresh(tmp_path / "digits")
    assert page.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"<html>", b'<script type="application/json" id="data">[1]</script>', None])
def test_a_page_that_is_not_ours_stays(tmp_path: Path, content: bytes | None) -> None:
    page = tmp_path / "report/index.html"
    page.parent.mkdir()
    if content is not None:
        page.write_bytes(content)
    build_page.refresh(tmp_path)
    assert (page.read_bytes() if page.exists() else None) == content


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_draws_it(build: Path, tmp_path: Path) -> None:
    shutil.copytree(build / "first/digits", tmp_path / "digits")
    page = tmp_path / "digits/report/index.html"
    write_results(page.parent, NAME)
    build_page.refresh(tmp_path / "digits")
    drawn = {part: browse(page, "--dump-dom", fragment=f"#{part}") for part in ("speed", "memory", "validation")}
    for dom in drawn.values():
        body = dom.partition('id="data"')[0]
        assert "<title>taken</title>" not in dom
        assert "<img" not in body
    speed = drawn["speed"].partition('id="data"')[0]
    assert speed.count("<svg") == 4
    assert "Roofline" in speed and "onerror=" in speed  # the name, as text
    assert drawn["memory"].count('class="area') > 5
    assert ">failed<" in drawn["validation"]
    shot = tmp_path / "page.png"
    browse(page, f"--screenshot={shot}", fragment="#graph")  # a page inside of the page
    assert shot.stat().st_size > 15_000  # an empty one is far smaller


CHIPS = {
    "emulated": [
        {"model": "net", "abi": "cortex-m4", "device": "board", "macs": 100, "instructions": 250, "arena_bytes": 2048}
        | {"stack_bytes": 64, "code_bytes": 1024, "constant_bytes": 512}
    ],
    "estimates": [
        {
            "model": "net",
            "abi": "k210",
            "estimate": {
                "cycles": 800, "macs": 4000, "hertz": 400e6, "rough": True, "seconds": 2e-6,
                "layers": [{"layer": 0, "name": "conv<b>", "cycles": 800, "rough": True, "macs": 4000}
                           | {"processors": 64, "busy": 0.25}],
            },
        }
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_draws_what_chips_took(build: Path, tmp_path: Path) -> None:
    shutil.copytree(build / "first/digits", tmp_path / "digits")
    page = tmp_path / "digits/report/index.html"
    (page.parent / "benchmark.json").write_text(json.dumps({"measurements": [], **CHIPS}))
    build_page.refresh(tmp_path / "digits")
    body = browse(page, "--dump-dom", fragment="#speed").partition('id="data"')[0]
    assert "net on cortex-m4" in body and "2.500 instructions for each" in body
    assert "net on k210" in body and "about estimated, at 400 MHz" in body
    assert "0 conv&lt;b&gt;" in body and "conv<b>" not in body


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_draws_training(tmp_path: Path) -> None:
    epochs = [{"number": at, "loss": 1 / (at + 1), "accuracy": 0.5, "quantised": at > 1} for at in range(4)]
    run = {"arch": "net", "measure": "accuracy", "resumed": 0, "epochs": epochs, "best": epochs[3]}
    page = tmp_path / "net.html"
    page.write_bytes(training.of_fit(run))
    body = browse(page, "--dump-dom").partition('id="data"')[0]
    assert body.count("<svg") == 2 and body.count("<circle") == 8
    assert body.count('class="legend"') == 2
