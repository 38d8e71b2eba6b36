"""`lathe train`, as far as it gets without torch."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from buildtool.errors import LatheError
from buildtool.workflow import training

SETTINGS = training.FitSettings(5, 32, 0.003, 0, 1)
MODEL = Path("model.py")


def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def test_torch_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    no_torch(monkeypatch)
    for call in (
        lambda: training.fit(MODEL, None, "digits", SETTINGS, tmp_path, policy=None, resume=False, told=print),
        lambda: training.evaluate(MODEL, None, "digits", MODEL, bits=None, top=1, abi=None),
        lambda: training.export(MODEL, None, "digits", MODEL, tmp_path, bits=None, abi="max78002"),
    ):
        with pytest.raises(LatheError) as caught:
            call()
        assert caught.value.render() == (
            'error: training needs torch, which is not installed\n  fix:  pip install "lathe-build[train]"'
        )


def test_other_chips_are_refused() -> None:
    with pytest.raises(LatheError, match="there is no training for 'cortex-m4'"):
        training.evaluate(MODEL, None, "digits", MODEL, bits=None, top=1, abi="cortex-m4")


def test_quantisation_begins_before_the_end(tmp_path: Path) -> None:
    policy = tmp_path / "qat.yaml"
    policy.write_text("start_epoch: 5\n")
    with pytest.raises(LatheError, match="quantisation begins with epoch 5, and there are 5"):
        training.fit(MODEL, None, "digits", SETTINGS, tmp_path, policy=policy, resume=False, told=print)
