"""Samples that change: what each word does, and that runs with equal seeds have equal bits."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from buildtool.errors import LatheError
from buildtool.training import augmenting, data, fitting
from buildtool.training.augmenting import parsed
from buildtool.workflow import training
from tests.training.with_torch.test_digits import MODEL, SHORT, same


@pytest.fixture
def pictures() -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    torch.manual_seed(5)
    return torch.randint(-128, 128, (64, 2, 5, 7), generator=generator) / 128


def test_flips_turn_about_half(pictures: torch.Tensor) -> None:
    changed = parsed("flip")(pictures)
    turned = (changed == pictures.flip(-1)).flatten(1).all(1)
    kept = (changed == pictures).flatten(1).all(1)
    assert (turned | kept).all()
    assert 16 < turned.sum() < 48


def test_shifts_move_whole_samples(pictures: torch.Tensor) -> None:
    changed = parsed("shift=2")(pictures)
    seen = set()
    for before, after in zip(pictures.numpy(), changed.numpy(), strict=True):
        padded = np.pad(before, ((0, 0), (2, 2), (2, 2)), mode="edge")
        places = [(y, x) for y in range(5) for x in range(5) if np.array_equal(padded[:, y : y + 5, x : x + 7], after)]
        assert len(places) == 1
        seen.update(places)
    assert {y for y, _ in seen} == {x for _, x in seen} == set(range(5))


@pytest.mark.parametrize("text", ["noise=4", "gain=0.5", "shift=1,flip,noise=200e-2,gain=.1"])
def test_what_comes_out_is_what_a_chip_takes(text: str, pictures: torch.Tensor) -> None:
    steps = parsed(text)(pictures) * 128
    assert torch.equal(steps, steps.round())
    assert (steps.min() >= -128, steps.max() <= 127) == (True, True)
    assert not torch.equal(steps, pictures * 128)


def test_gains_are_one_for_a_sample() -> None:
    torch.manual_seed(1)
    factors = parsed("gain=0.25")(torch.full((50, 1, 8), 0.5)) / 0.5
    assert (factors == factors[:, :1, :1]).all()
    assert 0.74 <= factors.min() < 0.85 and 1.15 < factors.max() <= 1.26


def test_equal_seeds_and_resumed_runs_have_equal_bits(tmp_path: Path) -> None:
    digits = data.read("digits")
    changed = replace(SHORT, augmentation=parsed("shift=1,noise=3"))
    whole = fitting.fit(MODEL, "digits", digits, changed, tmp_path / "whole")

    class KillError(Exception):
        pass

    def kill(fitted: fitting.Fitted) -> None:
        if len(fitted.history) == 3:
            raise KillError

    with pytest.raises(KillError):
        fitting.fit(MODEL, "digits", digits, changed, tmp_path / "parts", after=kill)
    parts = fitting.fit(MODEL, "digits", digits, changed, tmp_path / "parts", resume=True)
    assert same(whole.checkpoint, parts.checkpoint)
    plain = fitting.fit(MODEL, "digits", digits, SHORT, tmp_path / "plain")
    assert not same(whole.checkpoint, plain.checkpoint)
    with pytest.raises(LatheError, match="the run had other settings: augmentation was"):
        fitting.fit(MODEL, "digits", digits, SHORT, tmp_path / "parts", resume=True)


def test_what_points_to_places_is_not_moved() -> None:
    for text in ("flip", "shift=1"):
        with pytest.raises(LatheError, match="moves samples, and their boxes stay"):
            augmenting.check(parsed(text), moved="boxes", shape=(3, 8, 8))
    augmenting.check(parsed("noise=1,gain=0.1"), moved="boxes", shape=(3, 8, 8))
    with pytest.raises(LatheError, match="flip of samples of one dimension"):
        augmenting.check(parsed("flip"), moved="", shape=(3, 8))


@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="TensorBoard is not installed")
def test_curves_for_tensorboard(tmp_path: Path) -> None:
    accumulator = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")

    settings = training.FitSettings(2, 32, 0.003, 0, 1)
    fitted = training.fit(
        MODEL, "digits", "digits", settings, tmp_path, policy=None, resume=False, told=lambda _: None, tensorboard=True
    )
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    for tag, key in (("loss", "loss"), ("accuracy", "accuracy")):
        points = [(event.step, event.value) for event in events.Scalars(tag)]
        assert points == [(epoch["number"] + 1, pytest.approx(epoch[key], rel=1e-6)) for epoch in fitted["epochs"]]
