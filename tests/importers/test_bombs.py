"""Small files that ask for much are refused, or read, within 5 seconds and 1 GiB; larger ones have their share more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from buildtool import budget
from buildtool.errors import ModelFileError, Where
from tests.importers.bombs import BOMBS

_ROOT = Path(__file__).parents[2]
#: Those that are within bounds because what they state is never made.
_HARMLESS = frozenset({"loops_in_loops", "many_large_constants", "filled_tensors"})


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.importers.bombs", name, str(tmp_path)]
    took = json.loads(subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True).stdout)
    assert took["seconds"] <= 5 + took["file"] * budget.SECONDS_PER_BYTE, took
    assert took["bytes"] <= 2**30, took
    assert bool(took["said"]) != (name in _HARMLESS), took
    assert "InternalError" not in took["said"], took


def test_what_is_left_over_all_of_a_file() -> None:
    with budget.limited(Where(file="model.onnx"), 100), budget.limited(Where(file="inner.onnx"), 10**9):
        budget.nodes(budget.NODES)
        budget.nodes(25)
        with pytest.raises(ModelFileError, match=r"model.onnx: .* nodes out of proportion") as refused:
            budget.nodes(1)
    assert refused.value.problems[0].rule == "reading a file of 100 bytes may make or take at most 20,025 nodes"


def test_bytes_are_counted_over_all_tensors() -> None:
    with budget.limited(Where(), 1 << 20):
        budget.made(512 << 20)
        budget.made(32 << 20)
        with pytest.raises(ModelFileError, match="at most 544 MiB of tensors"):
            budget.made(1)


def test_a_slow_machine_may_have_more_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter([0.0, 4.1, 0.0, 4.1, 100.0])
    monkeypatch.setattr("buildtool.budget.time.thread_time", lambda: next(spent))
    with budget.limited(Where(), 0), pytest.raises(ModelFileError, match=budget.VARIABLE):
        budget.spend_time()
    monkeypatch.setenv(budget.VARIABLE, "50")
    with budget.limited(Where(), 0):
        budget.spend_time()
        with pytest.raises(ModelFileError, match=r"at most 50.0 seconds"):
            budget.spend_time()


def test_outside_of_a_budget_nothing_is_counted() -> None:
    budget.nodes(10**9)
    budget.made(10**15)
    budget.spend_time()
