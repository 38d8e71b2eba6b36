"""Searches within the limits of a chip: what fits is trained, equal seeds find the same, and a killed one continues."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from buildtool.errors import LatheError
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.training import data, evaluating, fitting, models, policies, searching, spreading, tasks
from buildtool.training.fitting import Settings
from buildtool.training.searching import Plan, Searched
from buildtool.workflow import training

MODEL = Path(__file__).resolve().parents[3] / "examples" / "digits" / "chip_model.py"
PLAN = Plan(trials=5, population=2, weight_memory=1500, settings=Settings(epochs=2, batch=64))
WANTED = training.SearchSettings("evolution", 5, 2, "8,4,2", 1500, None, "max78000", 1, "")


def found(folder: Path, plan: Plan = PLAN, **ways: Any) -> Searched:
    return searching.search(MODEL, "digits", data.read("digits"), plan, folder, **ways)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    return found(tmp_path_factory.mktemp("whole"))


def test_what_was_trained_fits_and_differs(whole: Searched) -> None:
    assert len({trial.candidate.key for trial in whole.trials}) == 5
    assert all(0 < trial.size <= 1500 for trial in whole.trials)
    assert "its weights exceed --weight-memory" in whole.refused
    assert whole.best.accuracy == max(trial.accuracy for trial in whole.trials)
    for trial in whole.trials:
        _, network = models.made(MODEL, "digits", data.read("digits"), trial.candidate.arguments)
        assert list(trial.candidate.bits) == list(models.layers_of(network))


def test_a_killed_search_continues_with_the_same_results(whole: Searched, tmp_path: Path) -> None:
    class KilledError(Exception):
        pass

    seen: list[str] = []

    def kill(text: str) -> None:
        seen.append(text)
        if len(seen) == 3:
            raise KilledError

    with pytest.raises(KilledError):
        found(tmp_path, told=kill)
    with (tmp_path / "trials.jsonl").open("a") as stream:
        stream.write('{"arguments": {"width"')  # what was being written
    resumed = found(tmp_path, resume=True)
    assert resumed.resumed == 3
    assert resumed.trials == whole.trials
    with pytest.raises(LatheError, match="the search had other settings"):
        found(tmp_path, replace(PLAN, cycles=10**6), resume=True)
    with pytest.raises(LatheError, match="there is no search to resume"):
        found(tmp_path / "other", resume=True)


def test_processes_give_the_same_results(whole: Searched, tmp_path: Path) -> None:
    apart = found(tmp_path, spread=spreading.spread_over(2, ""))
    assert apart.trials == whole.trials


@pytest.fixture
def cluster() -> Iterator[str]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp", host="127.0.0.1"
    ) as made:
        yield made.scheduler_address


def test_a_dask_cluster_gives_the_same_results(whole: Searched, cluster: str, tmp_path: Path) -> None:
    assert found(tmp_path, spread=spreading.spread_over(1, cluster)).trials == whole.trials


def test_random_search_draws_others(whole: Searched, tmp_path: Path) -> None:
    plan = replace(PLAN, how="random", trials=2, settings=replace(PLAN.settings, seed=9))
    assert {trial.candidate.key for trial in found(tmp_path, plan).trials} != {
        trial.candidate.key for trial in whole.trials[:2]
    }


def test_nothing_fits(tmp_path: Path) -> None:
    with pytest.raises(LatheError) as caught:
        found(tmp_path, replace(PLAN, weight_memory=60))
    assert "none of " in caught.value.render()
    assert "its weights exceed --weight-memory" in caught.value.render()
    with pytest.raises(LatheError, match="it takes more than --cycles"):
        found(tmp_path, replace(PLAN, cycles=100, weight_memory=None))


def test_the_winner_is_trained_by_fit(tmp_path: Path) -> None:
    settings = training.FitSettings(2, 64, 0.003, 0, 1)
    document = training.search(
        MODEL, None, "digits", settings, WANTED, tmp_path / "searched", resume=False, told=lambda _: None
    )
    assert json.loads((tmp_path / "searched" / "digits-search.json").read_text()) == document
    page = (tmp_path / "searched" / "digits-search.html").read_text()
    assert f"{document['best']['weight_bytes']:,}" in page
    policy = Path(document["policy"])
    assert policies.read(policy).overrides == document["best"]["bits"]
    chosen = [f"{name}={value}" for name, value in document["best"]["arguments"].items()]
    fitted = training.fit(
        MODEL, None, "digits", settings, tmp_path, policy=policy, resume=False, told=lambda _: None, arguments=chosen
    )
    checkpoint = Path(fitted["checkpoint"])
    assert models.arguments_of(checkpoint) == document["best"]["arguments"]
    # The arguments are in the checkpoint: nobody has to repeat them.
    measured = training.evaluate(MODEL, None, "digits", checkpoint, bits=None, top=1, abi="max78000")
    assert measured["weight_bits"] == list(document["best"]["bits"].values())
    assert measured["layers_compared"] == 4


def test_bits_for_a_memory(tmp_path: Path) -> None:
    digits = data.read("digits")
    fitted = fitting.fit(MODEL, "digits", digits, Settings(epochs=6), tmp_path)
    sizes, losses = [], []
    for memory in (2000, 1000, 500):
        document = training.search_bits(
            MODEL, None, "digits", fitted.checkpoint, weight_bits="8,4,2", weight_memory=memory, abi="max78000",
            start_epoch=3, folder=tmp_path / str(memory),
        )  # fmt: skip
        assert document["weight_bytes"] <= memory
        sizes.append(document["weight_bytes"])
        losses.append(document["loss"])
        policy = policies.read(Path(document["policy"]))
        assert (policy.start_epoch, policy.overrides) == (3, document["bits"])
        _, network = evaluating.loaded(MODEL, None, digits, fitted.checkpoint, None)
        models.quantise(network, document["bits"], document["shift_quantile"])
        right = fitting.measured(tasks.Task(), network, digits)
        assert right == document["accuracy"]
        on_chip = evaluating.chip_network("digits", network, MAX78000, digits.shape, tmp_path)
        held = [layer.kernel.weights.size * layer.kernel.bits // 8 for layer in on_chip.layers if layer.kernel]
        assert document["weight_bytes"] == sum(held) + 8 + 16 + 10
    assert sizes == sorted(sizes, reverse=True)
    assert losses == sorted(losses)
    refused: dict[str, int | None] = {
        "the weights do not fit 100 bytes": 100,
        "bits are searched for a memory": None,
    }
    for told, limit in refused.items():
        with pytest.raises(LatheError, match=told):
            training.search_bits(
                MODEL, None, "digits", fitted.checkpoint, weight_bits="8,4", weight_memory=limit, abi="max78000",
                start_epoch=3, folder=tmp_path,
            )  # fmt: skip


def test_a_student_learns_what_its_teacher_says(tmp_path: Path) -> None:
    """With labels that count nothing, it learns from the teacher alone."""
    digits = data.read("digits")
    teacher = fitting.fit(MODEL, "digits", digits, Settings(epochs=8), tmp_path / "teacher")
    asked = training.Teacher("digits", teacher.checkpoint, 2.0, 1.0, 0.0, None)
    unlike = replace(digits, labels=np.zeros_like(digits.labels))
    np.savez(tmp_path / "unlike.npz", samples=unlike.samples, labels=np.arange(len(unlike.labels)) % 10)
    settings = training.FitSettings(8, 32, 0.003, 0, 1)
    told: list[str] = []
    ways: dict[str, Any] = {"policy": None, "teacher": asked, "arguments": ["width=4"]}
    training.fit(
        MODEL,
        None,
        str(tmp_path / "unlike.npz"),
        settings,
        tmp_path / "student",
        resume=False,
        told=told.append,
        **ways,
    )
    student = tmp_path / "student" / "digits.pth.tar"
    right = training.evaluate(MODEL, None, "digits", student, bits=None, top=1, abi=None)["accuracy"]
    assert right > 0.85  # the labels it saw are right once in ten times
    again = training.fit(
        MODEL, None, str(tmp_path / "unlike.npz"), settings, tmp_path / "again", resume=False, told=told.append, **ways
    )
    first, second = (torch.load(file, weights_only=True)["state_dict"] for file in (student, again["checkpoint"]))
    assert all(torch.equal(first[name], second[name]) for name in first)
    with pytest.raises(LatheError, match="the run had other settings: distillation was"):
        training.fit(
            MODEL, None, str(tmp_path / "unlike.npz"), settings, tmp_path / "again", resume=True, told=told.append,
            policy=None, teacher=replace(asked, temperature=1.0), arguments=["width=4"],
        )  # fmt: skip
