"""A fixed share of what `make first-hour` tries."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.first_hour.__main__ import table
from tests.first_hour.models import CASES, Model, models
from tests.first_hour.trying import CHECKED, FAILED, REFUSED, attempt
from tests.importers import healthy_sources

EVERY, MOST = 9, 60


@pytest.mark.slow
@pytest.mark.parametrize("framework", healthy_sources.REQUESTS)
def test_what_init_writes_is_accepted(framework: str, tmp_path: Path) -> None:
    cases = (model for model in models(CASES, tmp_path, (framework,)))
    outcomes = [attempt(model, "host", tmp_path, build=False) for model in itertools.islice(cases, 0, MOST, EVERY)]
    assert len(outcomes) >= 3
    assert not [one for one in outcomes if one.result == FAILED]
    assert sum(one.result == CHECKED for one in outcomes) >= len(outcomes) / 2


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["k210", "max78000"])
def test_chips_ask_for_ranges(chip: str, tmp_path: Path) -> None:
    (model,) = itertools.islice(models(CASES, tmp_path, ("keras",)), 1)
    outcome = attempt(model, chip, tmp_path)
    assert (outcome.result, outcome.step) == (REFUSED, "check")
    assert f"lathe quantize {tmp_path / 'deployment.yml'} --inputs SAMPLES" in outcome.message
    measured = attempt(model, chip, tmp_path, build=False, ranges=True)
    assert (measured.result, measured.step, measured.code) == (REFUSED, "check", 4)  # no chip has a celu
    assert not list(tmp_path.glob("*.ranges"))


def test_a_crash_is_no_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    model = Model("onnx", CASES, "broken", tmp_path / "model.onnx")
    refused = attempt(model, "host", tmp_path)
    assert (refused.result, refused.step, refused.code) == (REFUSED, "init", 3)
    with monkeypatch.context() as patch:
        patch.setattr("tests.first_hour.trying.run", lambda arguments: 70)
        failed = attempt(model, "host", tmp_path)
    assert (failed.result, failed.code) == (FAILED, 70)
    assert table([refused, failed])[1].split() == ["onnx", "cases", "host", "2", "0", "1", "1", "0"]
