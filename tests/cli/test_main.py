"""The command itself: help at once, errors as one message, exit codes, and what a pipe or an interrupt does."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from buildtool.cli import main as entry
from buildtool.cli.main import COMMANDS, run
from buildtool.settings import RunSettings
from tests.cli.conftest import Lathe

SCRIPT = Path(sys.executable).with_name("lathe")
HEAVY = ("numpy", "onnx", "pydantic", "yaml", "rich", "jinja2", "google.protobuf")


def test_help_is_there_at_once() -> None:
    """Seconds of the processor: those of the clock would count what other tests do meanwhile."""
    seconds = []
    for _ in range(5):
        before = os.times()
        done = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True, check=True)
        after = os.times()
        used = after.children_user - before.children_user + after.children_system - before.children_system
        seconds.append(used)
    assert all(name in done.stdout for name in COMMANDS)
    assert min(seconds) < 0.3


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from buildtool.cli.main import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(done.stderr.split())


def test_the_list_of_commands_is_how_their_help_begins(lathe: Lathe) -> None:
    listed = {name: " ".join(lathe(name, "--help").stdout.split()) for name in COMMANDS}
    for name, summary in COMMANDS.items():
        assert summary in listed[name]


@pytest.mark.parametrize("command", [*COMMANDS, "dev new-op"])
def test_every_command_explains_itself(lathe: Lathe, command: str) -> None:
    result = lathe(*command.split(), "--help")
    assert result.code == 0
    assert result.stdout.startswith(f"Usage: lathe {command}")


def test_no_help_names_types(lathe: Lathe) -> None:
    for command in COMMANDS:
        text = lathe(command, "--help").stdout
        assert not re.search(
            r"<(path|str|int|float|text|int range|float range|list.*)>|\{[A-Z.]+\}|INTEGER|TEXT|FLOAT", text
        ), text


def test_many_options_have_topics(lathe: Lathe) -> None:
    sections = re.findall(r"^([A-Z].*):$", lathe("run", "--help").stdout, re.MULTILINE)
    assert {"Arguments", "Deployment and build", "Devices", "GPU", "Inner values", "Output of the command"} <= set(
        sections
    )
    assert "Options:" in lathe("where", "--help").stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["va"], ["validate"]),
        (["run", "--restart"], ["--restart-round"]),
        (["build", "deploy.yml", "--runtime", "g"], ["gpu"]),
        (["validate", "--reference", ""], ["auto", "onnxruntime", "litert", "numpy"]),
        (["build", "dep"], []),
        (["nothing", "x"], []),
    ],
)
def test_shells_complete(lathe: Lathe, words: list[str], expected: list[str]) -> None:
    assert lathe("completion", "words", "--", *words).stdout.split() == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(lathe: Lathe, shell: str) -> None:
    assert "lathe completion words --" in lathe("completion", shell).stdout
    assert lathe("completion", "tcsh").code == 2


def test_bash_completes(tmp_path: Path) -> None:
    script = 'eval "$(lathe completion bash)"; COMP_WORDS=(lathe bui); COMP_CWORD=1; _lathe; echo "${COMPREPLY[@]}"'
    path = f"{SCRIPT.parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.stdout == "build\n", done.stderr


def test_no_arguments_show_the_help_and_version_the_version(lathe: Lathe) -> None:
    assert "Commands:" in lathe().stdout
    assert lathe("--version").stdout.startswith("lathe 0.")


def test_dashes_and_underscores_are_alike(lathe: Lathe) -> None:
    for option in ("--target-abis", "--target_abis", "--abi"):
        result = lathe("build", "nowhere.yml", option, "host", "--json")
        assert (result.code, result.document["error"]) == (2, "ConfigError")
    assert "fix:  write" in lathe("dev", "new_op", "HardTanh").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["buidl"], "Did you mean 'build'"),
        (["build", "--outptu", "x"], "--output"),
        (["build"], "no deployment file is given"),
        (["build", "a.yml", "--config", "b.yml"], "two deployment files"),
        (["run", "a.yml", "--round", "none"], "must be an integer"),
        (["run", "a.yml", "--input", "image"], "NAME=FILE"),
        (["convert", "a.yml", "--emit", "plans"], "allowed: ir, plan, source"),
        (["validate", "a.yml", "--reference", "torch"], "allowed: auto, onnxruntime, litert, numpy"),
    ],
)
def test_wrong_command_lines_are_one_message(lathe: Lathe, arguments: list[str], message: str) -> None:
    result = lathe(*arguments)
    assert result.code == 2
    assert message in result.stderr
    assert result.stdout == ""
    document = lathe(*arguments, "--json").document
    assert document["exit_code"] == 2


def test_a_defect_is_reported_without_a_traceback(
    lathe: Lathe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def broken(arguments: list[str]) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(entry, "application", broken)
    result = lathe("check", "x.yml")
    assert result.code == 70
    assert "ZeroDivisionError: on purpose" in result.stderr
    (report,) = tmp_path.glob("lathe-report-*.txt")
    assert str(report) in result.stderr
    assert "Traceback" in report.read_text()
    assert lathe("check", "--json").document["error"] == "InternalError"


def test_lathe_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LATHE_DEBUG", "1")
    assert run(["check", "nowhere.yml"]) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("problem", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (
            OSError(28, "No space left on device", "/full/file"),
            7,
            "/full/file: error: writing failed: No space left",
        ),
        (PermissionError(13, "Permission denied", "/closed"), 7, "permissions"),
        (MemoryError(), 7, "memory"),
    ],
)
def test_errors_of_the_operating_system_have_a_code_and_a_message(
    lathe: Lathe, monkeypatch: pytest.MonkeyPatch, problem: BaseException, code: int, message: str
) -> None:
    def broken(arguments: list[str]) -> None:
        raise problem

    monkeypatch.setattr(entry, "application", broken)
    result = lathe("check", "x.yml")
    assert result.code == code
    assert message in result.stderr


def test_a_closed_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen([SCRIPT, "schema"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    _, stderr = process.communicate(timeout=60)
    assert stderr == ""
    assert process.returncode == 141


def test_sigterm_ends_with_its_own_code(tmp_path: Path) -> None:
    code = (
        "import time, buildtool.cli.main as entry\n"
        "def slow(arguments):\n    print('ready', flush=True)\n    time.sleep(30)\n"
        "entry.application = slow\nentry.main()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 143
    process.stdout.close()


def test_quiet_says_nothing_and_json_one_document(lathe: Lathe, digits: Path) -> None:
    assert lathe("check", digits, "--quiet").stdout == ""
    result = lathe("check", digits, "--json", "-v")
    assert json.loads(result.stdout)["library"] == "digits"


@pytest.mark.parametrize(("words", "rounds"), [([], 100), (["--round", "7"], 7)])
def test_run_with_benchmark_takes_as_many_rounds_as_bench(
    words: list[str], rounds: int, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[RunSettings] = []
    monkeypatch.setattr("buildtool.cli.run.report_benchmark", lambda *given: taken.append(given[3]))
    monkeypatch.setattr("buildtool.cli.bench.report_benchmark", lambda *given: taken.append(given[3]))
    assert run(["run", str(digits), "--benchmark", *words]) == 0
    assert run(["bench", str(digits), *words]) == 0
    assert [(one.rounds, one.warmup) for one in taken] == [(rounds, taken[1].warmup)] * 2
