"""The arithmetic and the page of the comparison with other engines; the engines themselves are not run here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.bench.peers import picture, report, rounds, worker
from tests.bench.peers.rounds import Measured, Plan
from tests.bench.peers.suites import SUITES, suite_of
from tests.bench.real import files

START = {"import_ms": 1.0, "load_first_ms": 20.0, "peak_mb": 8.0, "libraries": ["/a.so"]}


def measured(engine: str, wall: list[list[float]], **start: float) -> Measured:
    busy = [[time * 0.99 for time in times] for times in wall]
    return Measured(engine, {**START, **start}, 1.0, wall, busy)


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    engines = [
        measured("lathe", [[2.0, 3.0], [4.0, 4.5], [2.2, 2.1]], load_first_ms=10.0, peak_mb=2.0),
        measured("onnxruntime", [[4.0, 5.0], [9.0, 8.0], [4.1, 4.2]]),
        measured("ncnn", [[5.0, 6.0], [9.9, 9.0], [5.1, 5.2]], peak_mb=4.0),
    ]
    return rounds.results("resnet18", 1, engines, {"lathe": 10, "onnxruntime": 1000, "ncnn": 500})


def test_ratios_are_taken_within_rounds(rows: list[dict[str, Any]]) -> None:
    assert {row["best_peer"] for row in rows} == {"onnxruntime"}
    ratios = {row["engine"]: row["ratio_to_best_peer"] for row in rows}
    assert ratios == {"lathe": 0.5, "onnxruntime": 1.0, "ncnn": 1.244}  # medians of three quotients each


def test_geometric_means(rows: list[dict[str, Any]]) -> None:
    twice = [{**row, "network": "twice", "ratio_to_best_peer": row["ratio_to_best_peer"] * 4} for row in rows]
    (mean,) = report.geomeans([*rows, *twice])
    assert mean == {"threads": 1, "networks": 2, "time": 1.0, "load": 0.5, "memory": 0.5, "library": 0.02}


def test_runs_that_waited_do_not_count() -> None:
    item = measured("lathe", [[1.0, 1.1, 1.2], [1.0, 1.1, 9.0]])
    item.busy[1][2] = 1.0
    assert 9.0 not in rounds.undisturbed(item, 1)
    assert 9.0 in rounds.undisturbed(item, 2), "several threads: processor time tells nothing"


def test_cosine_refuses_what_is_no_result() -> None:
    assert rounds.cosine(np.ones((1, 3)), np.ones(3)) == pytest.approx(1)
    assert rounds.cosine([1, 0], [0, 1]) == 0
    assert rounds.cosine([1, 0], [1, 0, 0]) == 0
    assert rounds.cosine([np.nan, 1], [1, 1]) == 0


def test_the_page_has_every_number(rows: list[dict[str, Any]]) -> None:
    text = report.page(
        {
            "machine": report.machine(),
            "engines": {"lathe": "1", "onnxruntime": "2"},
            "left_out": {"openvino": "no wheel"},
            "plan": vars(Plan()),
            "others": 0.03,
            "results": rows,
            "geomeans": report.geomeans(rows),
        },
        "zoo",
    )
    assert "| resnet18 | 2.60 | 4.60 | 5.60 | onnxruntime | 0.50 |" in text
    assert "openvino: no wheel" in text
    assert "other programs used 3% of it" in text


def test_the_picture_has_a_bar_for_every_ratio(rows: list[dict[str, Any]]) -> None:
    more = [{**row, "threads": 2, "ratio_to_best_peer": 1.25} for row in rows if row["engine"] == "lathe"]
    drawn = picture.picture({"results": [*rows, *more]})
    bars = ElementTree.fromstring(drawn).findall("{*}rect[@class]")
    assert [bar.get("class") for bar in bars].count("two") == 2, "the legend, and the network"
    assert ">0.50<" in drawn
    assert ">1.25<" in drawn
    assert ">2 threads<" in drawn


def test_a_slow_engine_runs_once() -> None:
    times = worker.measure(lambda: [np.zeros(1)], 5, 0.0)
    assert len(times["wall"]) == len(times["busy"]) == 1
    assert len(worker.measure(lambda: [np.zeros(1)], 5, 10.0)["wall"]) == 5


def test_a_worker_that_fails_says_why(tmp_path: Path) -> None:
    source = tmp_path / "inputs.npz"
    np.savez(source, input=np.zeros(1, np.float32))
    failing = rounds.Worker(Path(sys.executable), "lathe", tmp_path / "no.so", 1, source, tmp_path, 0)
    with pytest.raises(rounds.WorkerError, match=r"there is no library"):
        failing.answer()
    failing.close()


def test_suites_have_networks_of_their_own() -> None:
    zoo, real = SUITES["zoo"], SUITES["real"]
    assert not set(zoo.networks) & set(real.networks)
    assert set(real.in_bytes) < set(real.networks)
    assert all(suite_of(network) is real for network in real.networks)


def test_a_network_that_is_not_exported_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    (tmp_path / "vad").mkdir()
    (tmp_path / "vad" / "error.txt").write_text("Traceback\n\nRuntimeError: no such operator\n")
    with pytest.raises(files.NetworkError, match=r"^RuntimeError: no such operator$"):
        files.file("vad")


def test_inputs_keep_the_order_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    (tmp_path / "vad").mkdir()
    np.savez(tmp_path / "vad" / "inputs_0.npz", a=np.zeros(1), b=np.ones(2))
    (tmp_path / "vad" / "case.json").write_text('{"inputs": ["b", "a"]}')
    assert list(files.inputs("vad")) == ["b", "a"]
