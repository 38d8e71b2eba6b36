"""Where words go, and tables that read well anywhere."""

from __future__ import annotations

import io
import json
import logging
import sys

import pytest

from buildtool.cli import output
from buildtool.cli.output import QUIET, VERBOSE, Output, wants_colour
from buildtool.cli.progress import Line, TerminalProgress
from buildtool.errors import ConfigError, Problem, Where
from buildtool.reports import build as build_report
from buildtool.reports.table import Table


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def table() -> Table:
    found = Table(["abi", "bytes"], right=frozenset({"bytes"}))
    found.add("host", "91,432")
    found.add("arm", 7)
    return found


def test_plain_tables_are_aligned() -> None:
    assert table().render() == "abi    bytes\nhost  91,432\narm        7\n"
    assert Table(["a"]).render() == ""


def test_tables_on_a_terminal_say_the_same() -> None:
    shown = table().render(colour=True, width=80)
    assert all(word in shown for word in ("abi", "host", "91,432"))
    assert Table(["a"]).render(width=80) == ""


def test_a_row_must_fit() -> None:
    with pytest.raises(ValueError, match="1 cells do not fit 2 columns"):
        table().add("x")


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())


def test_json_and_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    Output(json=True).document({"a": 1}, "text")
    assert json.loads(capsys.readouterr().out) == {"a": 1}
    Output(verbosity=QUIET).document({"a": 1}, "text")
    Output(verbosity=QUIET).note(Problem("odd"))
    assert capsys.readouterr() == ("", "")
    Output().note(Problem("odd", Where(file="x.yml", line=3)))
    assert capsys.readouterr().err == "x.yml:3: note: odd\n"


def test_errors_are_coloured_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    output.report_error(ConfigError("wrong"), as_json=False)
    assert "\033[1;31merror:\033[0m wrong" in terminal.getvalue()


def test_progress_goes_to_the_log_where_there_is_no_terminal(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("buildtool")  # commands of earlier tests have set it up
    monkeypatch.setattr(logger, "propagate", True)
    monkeypatch.setattr(logger, "handlers", [])
    with caplog.at_level(logging.INFO, "buildtool"), TerminalProgress(Output(verbosity=VERBOSE)) as progress:
        progress.stage("compile")
        progress.step("one.cc")
        progress.stage("link")
    assert [record.message.partition(":")[0] for record in caplog.records] == ["compile", "compile", "link"]


def test_progress_on_a_terminal_leaves_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with TerminalProgress(Output()) as progress:
        progress.stage("compile")
        progress.step("one.cc")
    assert "compile" in terminal.getvalue()


def test_long_work_has_times_and_no_raw_lines() -> None:
    line = Line()
    line.begin("compile")
    line.began = 100.0
    assert line.words(101.0) == "compile"
    line.step("$ /usr/bin/cmake -S . -B build")
    line.step("-- Configuring done")
    line.step("[3/12] Building CXX object one.cc.o")
    assert line.words(101.0) == "compile: 3 of 12"
    assert line.words(106.0) == "compile: 3 of 12 (6 s, about 18 s left)"
    line.begin("reference of digits")
    line.began = 100.0
    assert line.words(170.4) == "reference of digits (70 s)"
    line.step("2 of 8: conv1")
    assert line.words(110.0) == "reference of digits: 2 of 8: conv1 (10 s, about 30 s left)"


def test_a_build_without_libraries_shows_its_models() -> None:
    model = {"name": "m", "platform": "onnx", "source_nodes": 9, "nodes": 4, "data_bytes": 12345, "plans": []}
    document = {"library": "l", "models": [model], "libraries": [], "archive": "", "folder": "f", "seconds": 0.25}
    parts = build_report.parts(document)
    assert "12,345" in parts[0].render()  # type: ignore[union-attr]
    assert parts[-1] == "l: f in 0.2 s"


_NAME = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\u202egnp.exe"


def test_names_of_strangers_do_not_steer_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Not in errors, notes, lines and tables; what is said stays readable."""
    out = Output()
    output.report_error(ConfigError(f"no operator {_NAME}", where=Where(node=_NAME)), as_json=False)
    out.note(Problem(f"a note of {_NAME}"))
    out.say(_NAME)
    names = Table(["name"], title=f"of {_NAME}")
    names.add(_NAME)
    out.show(f"a model of {_NAME}\n\tand more", names)
    told = "".join(capsys.readouterr())
    assert not [char for char in told if char not in "\n\t" and not char.isprintable()]
    assert told.count(r"\x1b[2J\x1b]0;owned\x07\x9b31m\r\u202egnp.exe") == 7
    assert "\n\tand more" in told
