"""The digits of the example: trained, killed, resumed, evaluated, exported, built."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from buildtool.errors import LatheError
from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.devices import DEVICES
from buildtool.targets.max7800x.simulation import simulate
from buildtool.training import data, evaluating, fitting, models
from buildtool.training.fitting import Settings
from buildtool.training.policies import Policy
from buildtool.workflow import training

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "digits"
MODEL = EXAMPLE / "chip_model.py"
SHORT = Settings(epochs=4, policy=Policy(start_epoch=2, weight_bits=4))


def state(file: Path) -> dict[str, np.ndarray]:
    tree = torch.load(file, weights_only=True)
    return {name: tensor.numpy() for name, tensor in tree["state_dict"].items()}


def same(one: Path, other: Path) -> bool:
    first, second = state(one), state(other)
    return list(first) == list(second) and all(np.array_equal(first[name], second[name]) for name in first)


def test_digits_from_training_to_files_for_the_chip(tmp_path: Path) -> None:
    settings = training.FitSettings(24, 32, 0.003, 0, 1)
    policy = EXAMPLE / "qat.yaml"
    told: list[str] = []
    fitted = training.fit(MODEL, "digits", "digits", settings, tmp_path, policy=policy, resume=False, told=told.append)
    assert len(told) == 24
    assert fitted["best"]["quantised"]
    assert fitted["best"]["accuracy"] >= 0.97
    assert json.loads((tmp_path / "digits.json").read_text()) == fitted
    assert "98." in (tmp_path / "digits.html").read_text() or "97." in (tmp_path / "digits.html").read_text()
    checkpoint = Path(fitted["best"]["checkpoint"])
    for abi, device in DEVICES.items():
        found = training.evaluate(MODEL, "digits", "digits", checkpoint, bits=None, top=1, abi=abi)
        assert found["accuracy"] == fitted["best"]["accuracy"]
        assert (found["weight_bits"], found["layers_compared"]) == ([4, 4, 8], 4)
        assert np.trace(np.array(found["confusion"])) == round(found["accuracy"] * 360)
        files = training.export(MODEL, "digits", "digits", checkpoint, tmp_path / abi, bits=None, abi=abi)
        read = description.read(files[0], device=device, weights=files[1], sample=files[2])
        _, network = evaluating.loaded(MODEL, "digits", data.read("digits"), checkpoint, None)
        sample = np.load(files[2])
        assert np.array_equal(
            simulate.run(read.network, sample).result.reshape(-1),
            evaluating.outputs_of(network, sample[None])[-1].reshape(-1),
        )


def test_a_killed_run_continues_with_the_same_bits(tmp_path: Path) -> None:
    """Killed within the first, and within the first quantised epoch."""
    digits = data.read("digits")
    whole = fitting.fit(MODEL, "digits", digits, SHORT, tmp_path / "whole")

    class KilledError(Exception):
        pass

    for epochs in (1, 3):
        seen: list[str] = []

        def kill(text: str, seen: list[str] = seen, epochs: int = epochs) -> None:
            seen.append(text)
            if len(seen) == epochs:
                raise KilledError

        folder = tmp_path / str(epochs)
        with pytest.raises(KilledError):
            fitting.fit(MODEL, "digits", digits, SHORT, folder, told=kill)
        resumed = fitting.fit(MODEL, "digits", digits, SHORT, folder, resume=True)
        assert resumed.resumed == epochs
        assert resumed.history == whole.history
        assert same(resumed.checkpoint, whole.checkpoint)
        assert same(resumed.best_checkpoint, whole.best_checkpoint)


def test_seeds_give_equal_bits_and_others_do_not(tmp_path: Path) -> None:
    digits, settings = data.read("digits"), Settings(epochs=1)
    runs = [
        fitting.fit(MODEL, "digits", digits, replace(settings, seed=seed), tmp_path / str(number)).checkpoint
        for number, seed in enumerate((5, 5, 6))
    ]
    assert same(runs[0], runs[1])
    assert not same(runs[0], runs[2])


def test_floats_are_quantised_after_training_on_request(tmp_path: Path) -> None:
    digits = data.read("digits")
    fitted = fitting.fit(MODEL, "digits", digits, Settings(epochs=6), tmp_path)
    floats = training.evaluate(MODEL, "digits", "digits", fitted.checkpoint, bits=None, top=1, abi=None)
    assert floats["weight_bits"] == [0, 0, 0]
    found = training.evaluate(MODEL, "digits", "digits", fitted.checkpoint, bits=8, top=2, abi="max78000")
    assert found["weight_bits"] == [8, 8, 8]
    assert found["accuracy"] >= floats["accuracy"]
    with pytest.raises(LatheError, match="the weights are floats"):
        training.evaluate(MODEL, "digits", "digits", fitted.checkpoint, bits=None, top=1, abi="max78000")


MISTAKES = {
    "syntax": ("def digits(:\n", "the file fails: SyntaxError"),
    "raises": ("raise ValueError('no')\n", "the file fails: ValueError: no"),
    "no list": ("x = 1\n", "the file has several architectures, or none"),
    "no function": ("models = [{'name': 'digit'}]\n", "the file has no architecture 'digit'"),
    "no network": ("models = [{'name': 'a'}]\ndef a():\n    return 3\n", "'a' gives no network"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_of_model_files_are_named(case: str, tmp_path: Path) -> None:
    text, told = MISTAKES[case]
    file = tmp_path / "model.py"
    file.write_text(text)
    with pytest.raises(LatheError) as caught:
        models.made(file, None, data.read("digits"))
    assert told in caught.value.render()


def test_other_mistakes_are_named(tmp_path: Path) -> None:
    digits = data.read("digits")
    fitted = fitting.fit(MODEL, "digits", digits, SHORT, tmp_path)
    cases = {
        "the network has no layer 'conv9'": lambda: fitting.fit(
            MODEL, "digits", digits, replace(SHORT, policy=Policy(overrides={"conv9": 4})), tmp_path
        ),
        "the run had other settings: batch was 32": lambda: fitting.fit(
            MODEL, "digits", digits, replace(SHORT, batch=16), tmp_path, resume=True
        ),
        "there is no run to resume": lambda: fitting.fit(
            MODEL, "digits", digits, SHORT, tmp_path / "other", resume=True
        ),
        "the checkpoint was trained for its own bits": lambda: evaluating.loaded(
            MODEL, "digits", digits, fitted.checkpoint, 8
        ),
        "this file is no checkpoint of PyTorch": lambda: evaluating.loaded(MODEL, "digits", digits, MODEL, None),
        "cannot read the file": lambda: evaluating.loaded(MODEL, "digits", digits, tmp_path / "no", None),
        "top 11 of 10 answers": lambda: training.evaluate(
            MODEL, "digits", "digits", fitted.checkpoint, bits=None, top=11, abi=None
        ),
    }
    for told, call in cases.items():
        with pytest.raises(LatheError, match=told):
            call()
