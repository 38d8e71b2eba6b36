"""`lathe bench`: what it measures, counts, compares and writes, and how it fails."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from buildtool.builders.objects import ObjectCache
from buildtool.builders.runner import shared_runner
from buildtool.cli.main import run as command
from buildtool.reports import html_page
from tests.benchmark import overhead
from tests.cli.conftest import EXAMPLE, Lathe, lathe

__all__ = ["lathe"]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "bench.md"
SECTIONS = (
    *("Warm Up", "Run without statistics", "Run with statistics", "Sort by Run Order", "Sort by Computation Time"),
    *("Stat by Op Type", "Stat by MACs", "Summary"),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built for the host once for all tests of this file."""
    folder = tmp_path_factory.mktemp("digits")
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, folder / name)
    assert command(["build", str(folder / "deploy.yml"), "-o", str(folder / "build"), "--abi", "host", "-q"]) == 0
    return folder


def on(project: Path, *more: object) -> list[object]:
    return ["bench", project / "deploy.yml", "--output", project / "build", "--abi", "host", "--num-threads", 1, *more]


def measured(lathe: Lathe, project: Path, *more: object) -> dict[str, Any]:
    return lathe(*on(project, "--round", 12, "--peak", "50,20", "--json", *more)).document


@pytest.mark.slow
def test_the_eight_sections_in_their_order(lathe: Lathe, project: Path) -> None:
    result = lathe(*on(project, "--round", 12))
    assert result.code == 0, result.stderr
    places = [result.stdout.index(f"\n{title}") for title in SECTIONS]
    assert places == sorted(places)
    assert "energy" in result.stdout


def test_the_figures_fit_each_other(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    document = measured(lathe, project, "--trace", tmp_path / "trace.json")
    (item,) = document["measurements"]
    assert (item["model"], item["abi"], item["unit"], item["warmup"]["round"]) == ("digits", "host", "seconds", 10)
    assert len(item["rounds_ms"]) == item["plain"]["round"] == item["observed"]["round"] == 12
    assert item["plain"]["min"] <= item["plain"]["median_interval"][0] <= item["plain"]["median"]
    nodes = item["nodes"]
    assert [node["op"] for node in nodes].count("conv2d") == 2
    assert nodes[-1]["cumulative"] == pytest.approx(100)
    assert all(node["start_ms"] <= node["end_ms"] for node in nodes)
    assert sum(entry["avg_ms"] for entry in item["operators"]) == pytest.approx(sum(node["avg_ms"] for node in nodes))
    conv = nodes[[node["op"] for node in nodes].index("conv2d")]
    assert (conv["macs"], conv["filter"], conv["output"]) == (8 * 8 * 8 * 9, [8, 3, 3, 1], [1, 8, 8, 8])
    assert conv["bytes"] == 4 * (64 + 8 * 9 + 8 + 8 * 64)
    assert conv["gmacs"] == pytest.approx(conv["macs"] / conv["avg_ms"] / 1e6)
    assert item["macs"]["total"] == sum(node["macs"] for node in nodes) == 23_680
    assert item["peak"]["source"] == "given"
    ideal = max(conv["macs"] / 50, conv["bytes"] / 20)
    assert conv["share_of_peak"] == pytest.approx(ideal / (conv["median_ms"] * 1e6), rel=1e-3)
    slices = [event for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if event["ph"] == "X"]
    assert [event["cat"] for event in slices] == [node["op"] for node in nodes]
    assert all(later["ts"] >= event["ts"] for event, later in itertools.pairwise(slices))


def test_results_beside_each_other(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    (tmp_path / "before.json").write_text(json.dumps(measured(lathe, project)))
    other = project / "build" / "digits"
    document = measured(lathe, project, "--compare", tmp_path / "before.json", "--against", other, "--pairs", 6)
    (compared,), (against,) = document["compared"], document["against"]
    assert compared["found"] and compared["before"] > 0
    assert against["pairs"] == len(against["ratios"]) == 6
    assert against["interval"][0] <= against["ratio"] <= against["interval"][1]
    assert against["own"]["round"] == 72
    shown = lathe(*on(project, "--round", 2, "--compare", tmp_path / "before.json")).stdout
    assert "Compared with the earlier run" in shown and "alternately" in shown


def test_the_result_reaches_the_page(lathe: Lathe, project: Path) -> None:
    report = project / "build" / "digits" / "report"
    document = measured(lathe, project)
    assert json.loads((report / "benchmark.json").read_text()) == document
    shown = html_page.data_of((report / "index.html").read_bytes())
    assert shown["benchmark"]["measurements"] == document["measurements"]
    assert str(project) not in json.dumps(shown["benchmark"]["measurements"])


@pytest.mark.slow
def test_single_operators(lathe: Lathe, project: Path) -> None:
    (group,) = lathe(*on(project, "--filter", "conv2d/8x8.*avx|conv2d/8x8.*neon", "--json")).document["operators"]
    (row,) = group["results"]
    assert row["name"].startswith("conv2d/8x8x1-k3x3-o8-relu/conv2d_f32_")
    assert (row["macs"], row["input_bytes"]) == (8 * 8 * 8 * 9, 256)
    assert row["median_ns"] >= row["min_ns"] > 0
    assert row["iterations"] >= 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--filter", "no such"], "no operator of 'digits' matches"),
        (["--filter", "("], "--filter cannot be '('"),
        (["--peak", "fast"], "--peak cannot be 'fast'"),
        (["--compare", "{project}/deploy.yml"], "not a result of lathe bench"),
        (["--compare", "{project}/missing.json"], "cannot be read"),
        (["--against", "{project}"], "not a build to compare with"),
    ],
)
def test_options_that_bench_cannot_take_are_errors(lathe: Lathe, project: Path, words: list[str], said: str) -> None:
    result = lathe(*on(project, *(word.format(project=project) for word in words)))
    assert result.code != 0
    assert said in result.stderr


@pytest.mark.slow
def test_every_example_of_the_page_works_in_order(
    lathe: Lathe, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) == 7
    for line in lines:
        line, _, written = line.partition(" > ")
        if "aarch64" in line:
            continue  # below, where there is an emulator
        result = lathe(*shlex.split(line)[1:], "--round", 5)
        assert result.code == 0, f"{line}\n{result.stderr}"
        if written:
            Path(written).write_text(result.stdout)
    assert json.loads(Path("run.json").read_text())["traceEvents"]


@pytest.mark.arm
@pytest.mark.slow
def test_emulators_count(lathe: Lathe, project: Path) -> None:
    arm = ["--abi", "aarch64-linux-gnu", "--cpu", "cortex-a53", "--json"]
    words = ["bench", project / "deploy.yml", "--output", project / "arm", *arm]
    first, second = (lathe(*words).document["measurements"][0] for _ in range(2))
    assert first["unit"] == "instructions"
    assert "not seconds" in first["note"]
    assert "plain" not in first
    inside = sum(node["instructions"] for node in first["nodes"])
    assert inside == pytest.approx(first["instructions"], rel=0.1)  # reading the clock around each node counts, too
    assert [node["instructions"] for node in first["nodes"]] == [node["instructions"] for node in second["nodes"]]
    assert all(node["instructions"] >= node["bound"] for node in first["nodes"])
    (group,) = lathe(*words, "--filter", "conv2d").document["operators"]
    alone = sorted(row["instructions"] for row in group["results"])
    inside_network = sorted(node["instructions"] for node in first["nodes"] if node["op"] == "conv2d")
    assert len(alone) == 2 and alone == pytest.approx(inside_network, rel=0.05)


@pytest.mark.arm
def test_without_the_plugin_the_note_says_what_the_seconds_are(
    lathe: Lathe, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from buildtool.benchmark import counting
    from buildtool.errors import ToolchainError

    def none(cache: ObjectCache) -> Path:
        raise ToolchainError("g++ is missing")

    monkeypatch.setattr(counting, "count_plugin", none)
    words = ["bench", project / "deploy.yml", "--output", project / "arm", "--abi", "aarch64-linux-gnu", "--round", 2]
    result = lathe(*words, "--json")
    (item,) = result.document["measurements"]
    assert (item["unit"], item["peak"]) == ("seconds", None)
    assert "do not represent any processor" in item["note"] and "g++ is missing" in item["note"]
    assert "do not represent any processor" in result.stderr


def energy_of(folder: Path, project: Path, wraps: bool) -> dict[str, int]:
    """What `lathe_run` reads from meters that count while it runs."""
    zone, part = folder / "intel-rapl:0", folder / "intel-rapl:0:0"
    for place in (zone, part):
        place.mkdir(parents=True)
        (place / "name").write_text("package-0\n")
        (place / "max_energy_range_uj").write_text("1000000\n")
    (zone / "energy_uj").write_text("999000\n")
    stop = threading.Event()

    def count() -> None:
        after = 500 if wraps else 999_700
        while not stop.is_set():
            new = zone / "new"
            new.write_text(f"{after}\n")
            stop.wait(0.05)
            new.replace(zone / "energy_uj")

    meter = threading.Thread(target=count)
    build = project / "build" / "digits"
    program = shared_runner("host", ObjectCache())
    line = [program, "--library", build / "lib/host/libdigits.so", "--model", build / "model/host/digits.pb"]
    line += ["--data", build / "model/host/digits.data", "--rounds", "60000", "--powercap", folder, "--json", "-"]
    meter.start()
    try:
        done = subprocess.run([str(word) for word in line], capture_output=True, text=True, check=True)
    finally:
        stop.set()
        meter.join()
    energy: dict[str, int] = json.loads(done.stdout)["timings"]["energy_uj"]
    return energy


@pytest.mark.parametrize(("wraps", "counted"), [(False, 700), (True, 1500)])
def test_energy_is_that_of_the_rounds(project: Path, tmp_path: Path, wraps: bool, counted: int) -> None:
    assert energy_of(tmp_path, project, wraps) == {"package-0": counted}


@pytest.mark.slow
def test_measuring_costs_nothing(project: Path) -> None:
    """The plain rounds beside a bare loop: where it were shown to be more than 2 % slower, this would fail."""
    found = overhead.measure(project / "build" / "digits", threads=1, pairs=10, rounds=5000)
    _, low, _ = found.ratio(found.plain)
    assert low < 1.02
