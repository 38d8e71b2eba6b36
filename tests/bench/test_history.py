"""The history of benchmarks: lines are added and replaced, and drawn where they belong."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.bench.history import __main__ as history
from tests.bench.history import chart, records
from tests.bench.history.measure import FIGURES
from tests.bench.history.records import Entry

_SVG = "{http://www.w3.org/2000/svg}"


def entry(commit: str, bytes_: float, machine: str = "a machine", subject: str = "Make it <small> & fast") -> Entry:
    return Entry(commit, "2026-01-31", subject, machine, {"bytes": bytes_, "seconds": 1.5})


def written(folder: Path, *entries: Entry) -> Path:
    file = folder / "history.jsonl"
    for each in entries:
        records.append(each, file)
    return file


def test_one_line_per_commit_in_the_order_of_measuring(tmp_path: Path) -> None:
    file = written(tmp_path, entry("b", 10), entry("a", 11))
    assert [json.loads(line)["commit"] for line in file.read_text().splitlines()] == ["b", "a"]
    assert records.read(file) == [entry("b", 10), entry("a", 11)]
    assert [path.name for path in tmp_path.iterdir()] == ["history.jsonl"]


def test_a_commit_that_is_measured_again_is_replaced_on_the_same_machine_only(tmp_path: Path) -> None:
    file = written(tmp_path, entry("a", 10), entry("a", 20, "another"), entry("a", 12))
    assert records.read(file) == [entry("a", 20, "another"), entry("a", 12)]


def test_no_file_is_an_empty_history(tmp_path: Path) -> None:
    assert records.read(tmp_path / "none.jsonl") == []


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"commit": "a"}',
        json.dumps({**vars(entry("a", 1)), "figures": {"bytes": "many"}}),
        json.dumps({**vars(entry("a", 1)), "commit": 7}),
    ],
)
def test_a_line_that_is_no_entry_is_named(line: str, tmp_path: Path) -> None:
    file = written(tmp_path, entry("a", 10))
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(records.HistoryError, match=r"history.jsonl:2: no entry of the history: .*; remove the line"):
        records.append(entry("b", 11), file)
    assert len(file.read_text().splitlines()) == 2


def test_changes_are_those_since_the_last_entry_of_the_machine() -> None:
    lines = records.changes([entry("a", 100), entry("b", 7, "another"), entry("c", 110)])
    assert lines[0].split() == ["bytes", "110", "+10.0%", "since", "a"]
    assert lines[1].endswith("+0.0% since a")
    assert records.changes([entry("a", 100, "another"), entry("b", 110)])[0].split() == ["bytes", "110"]


def test_only_a_tree_without_changes_is_a_commit(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", tmp_path, *arguments], check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "Begin")
    (tmp_path / "history.jsonl").write_text("")  # the last measurement, not committed yet
    commit, date, subject = records.commit(tmp_path)
    assert (len(commit), len(date), subject) == (7, 10, "Begin")
    (tmp_path / "file").write_text("2")
    with pytest.raises(records.HistoryError, match=r"'file' differs from the last commit.*DRY=1"):
        records.commit(tmp_path)


def test_a_machine_is_told_by_what_times_depend_on() -> None:
    cpuinfo = "processor\t: 0\nmodel name\t: Fast 3\nprocessor\t: 1\nmodel name\t: Fast 3\n"
    assert records.machine(cpuinfo, "g++ 12", 2) == "Fast 3, 2 cores, g++ 12"
    assert records.machine("", "g++ 12", 2) == "unknown processor, 2 cores, g++ 12"


# --- the picture -----------------------------------------------------------------------------------------------------


def test_each_value_is_a_point_and_each_machine_a_line() -> None:
    entries = [entry("a", 100), entry("b", 50), entry("b", 75, "another"), entry("c", 100)]
    root = ElementTree.fromstring(chart.picture(entries, {"bytes": "Bytes", "seconds": "Seconds"}))
    first, second = root.findall(f"{_SVG}g")
    assert (first.get("id"), second.get("id")) == ("bytes", "seconds")
    assert [len((line.get("points") or "").split()) for line in first.findall(f"{_SVG}polyline")] == [3, 1]
    points = first.findall(f"{_SVG}circle")
    x, y = ([float(point.get(axis) or "nan") for point in points] for axis in ("cx", "cy"))
    a, b, c, other = range(4)  # by machine, then by commit
    assert x[a] < x[b] == x[other] < x[c]
    assert y[a] == y[c] < y[other] < y[b]
    assert abs(y[other] - (y[a] + y[b]) / 2) < 0.11
    tip = points[b].find(f"{_SVG}title")
    assert tip is not None
    assert tip.text == "b 2026-01-31 Make it <small> & fast: 50"


def test_a_figure_that_an_old_entry_lacks_has_no_point_there() -> None:
    old = Entry("a", "2026-01-31", "Begin", "a machine", {"seconds": 1.0})
    root = ElementTree.fromstring(chart.picture([old, entry("b", 5)], {"bytes": "Bytes"}))
    assert len(root.findall(f"{_SVG}g/{_SVG}circle")) == 1


@pytest.mark.parametrize("values", [[], [0.0], [5.0], [5.0, 5.0], [1.0, 1e9]])
def test_limits_hold_all_values_and_are_apart(values: list[float]) -> None:
    low, high = chart.limits(values)
    assert low < high
    assert all(low <= value <= high for value in values)


def test_an_empty_history_can_be_drawn() -> None:
    ElementTree.fromstring(chart.picture([], FIGURES))


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_adds_the_commit_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = dict.fromkeys(FIGURES, 2.0)
    monkeypatch.setattr(records, "ROOT", tmp_path)
    monkeypatch.setattr(history, "PICTURE", tmp_path / "build" / "picture.svg")
    monkeypatch.setattr(history, "figures", lambda say: measured)
    seen = [entry("a", 1)]
    monkeypatch.setattr(records, "read", lambda: list(seen))
    monkeypatch.setattr(records, "append", seen.append)
    monkeypatch.setattr(records, "commit", lambda: ("b", "2026-02-01", "Go on"))
    monkeypatch.setattr("sys.argv", ["history"])
    assert history.main() == 0
    assert [(item.commit, dict(item.figures)) for item in seen[1:]] == [("b", measured)]
    assert "Go on" in (tmp_path / "build" / "picture.svg").read_text()
    monkeypatch.setattr("sys.argv", ["history", "--dry"])
    assert history.main() == 0
    assert len(seen) == 2
    assert capsys.readouterr().out.count("digits_bytes") == 2


def test_the_history_of_the_repository_can_be_read() -> None:
    for each in records.read():
        assert each.figures.keys() <= FIGURES.keys()
