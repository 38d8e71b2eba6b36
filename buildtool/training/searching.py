"""Looks for a network that is right more often within the limits of a chip: at random, or by evolution.

The planner decides what fits before anything is trained. What fits is trained for a few epochs, and measured over
samples that are taken from those for training: the held-out ones are never seen here.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from buildtool.builders.package import write_file
from buildtool.errors import ConfigError, LatheError, RunError, UnsupportedError, Where
from buildtool.targets.max7800x.devices import DEVICES
from buildtool.targets.max7800x.simulation.estimate import estimate
from buildtool.training import evaluating, fitting, models, policies, spaces
from buildtool.training.data import Data
from buildtool.training.policies import Policy
from buildtool.training.spaces import Candidate

_ATTEMPTS = 20  # for each candidate that is wanted, until nothing new fits
_PARENTS = 4  # the best of so many


@dataclass(frozen=True)
class Plan:
    """What is looked for, and how."""

    how: Literal["random", "evolution"] = "evolution"
    trials: int = 24
    population: int = 8
    weight_bits: tuple[int, ...] = (8, 4, 2)
    weight_memory: int | None = None  # bytes of weights and biases
    cycles: int | None = None
    abi: str = "max78000"
    settings: fitting.Settings = field(default_factory=lambda: fitting.Settings(epochs=8))


@dataclass(frozen=True)
class Judged:
    """What the planner says of a candidate. `reason`: why it does not fit."""

    candidate: Candidate
    size: int = 0  # bytes of weights and biases
    cycles: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Trial:
    """A candidate that was trained."""

    candidate: Candidate
    size: int
    cycles: int
    accuracy: float  # or what the task is measured by, of the samples that the search measures with

    @property
    def worth(self) -> tuple[float, int, int]:
        return self.accuracy, -self.size, -self.cycles

    def as_json(self) -> dict[str, Any]:
        return {
            "arguments": dict(self.candidate.arguments),
            "bits": dict(self.candidate.bits),
            "weight_bytes": self.size,
            "cycles": self.cycles,
            "accuracy": self.accuracy,
        }


@dataclass(frozen=True)
class Job:
    """What a worker has to know to train candidates."""

    file: Path
    arch: str
    data: Data
    plan: Plan


def judged(job: Job, arguments: Mapping[str, Any], known: Mapping[str, int], rng: np.random.Generator) -> Judged:
    """The candidate with bits for all of its layers, and whether it fits."""
    plan = job.plan
    _, network = models.made(job.file, job.arch, job.data, arguments)
    layers = list(models.layers_of(network))
    candidate = Candidate(arguments, spaces.drawn_bits(layers, known, plan.weight_bits, rng))
    models.quantise(network, candidate.bits)
    size = models.weight_bytes(network, candidate.bits)
    if plan.weight_memory is not None and size > plan.weight_memory:
        return Judged(candidate, size, reason="its weights exceed --weight-memory")
    try:
        with tempfile.TemporaryDirectory() as scratch:
            device = DEVICES[plan.abi]
            on_chip = evaluating.chip_network(job.arch, network, device, job.data.shape, Path(scratch))
    except UnsupportedError as problem:
        return Judged(candidate, size, reason=problem.problems[0].what)
    cycles = estimate(on_chip).cycles
    late = plan.cycles is not None and cycles > plan.cycles
    return Judged(candidate, size, cycles, "it takes more than --cycles" if late else "")


def trained(job: Job, found: Judged) -> Trial:
    """Train a candidate; half of the epochs with its bits."""
    settings = job.plan.settings
    policy = Policy(start_epoch=settings.epochs // 2, overrides=found.candidate.bits)
    with tempfile.TemporaryDirectory() as folder:
        asked = replace(settings, policy=policy, arguments=dict(found.candidate.arguments))
        fitted = fitting.fit(job.file, job.arch, job.data, asked, Path(folder))
    assert fitted.best is not None
    return Trial(found.candidate, found.size, found.cycles, fitted.best.accuracy)


Spread = Callable[[Job, Sequence[Judged]], Iterable[Trial]]


def one_by_one(job: Job, candidates: Sequence[Judged]) -> Iterator[Trial]:
    """In this process."""
    for candidate in candidates:
        yield trained(job, candidate)


@dataclass
class Searched:
    """The result of a search."""

    arch: str
    trials: list[Trial]
    refused: Counter[str]  # reasons of the planner, and how often
    measure: str
    resumed: int = 0

    @property
    def best(self) -> Trial:
        return max(self.trials, key=lambda trial: trial.worth)

    def as_json(self) -> dict[str, Any]:
        return {
            "arch": self.arch,
            "measure": self.measure,
            "best": self.best.as_json(),
            "resumed": self.resumed,
            "refused": dict(self.refused.most_common()),
            "trials": [trial.as_json() for trial in self.trials],
        }


def policy_text(best: Trial, start_epoch: int) -> str:
    """The bits of a trial as a file for `--qat-policy`."""
    return policies.text(best.candidate.bits, start_epoch, 1.0, best.size)


def search(
    file: Path,
    arch: str | None,
    data: Data,
    plan: Plan,
    folder: Path,
    *,
    resume: bool = False,
    spread: Spread = one_by_one,
    told: Callable[[str], None] = lambda _: None,
) -> Searched:
    """Train candidates, generation by generation. `trials.jsonl` in the folder keeps each, for `resume`."""
    name, choices = models.space(file, arch)
    if not choices and len(plan.weight_bits) < 2:
        raise ConfigError(
            f"there is nothing to choose for '{name}'",
            where=Where(file=str(file)),
            rule='`"search": {...}` of the architecture in `models`, or several --weight-bits',
        )
    folder.mkdir(parents=True, exist_ok=True)
    journal = _Journal(folder / "trials.jsonl", _digest(name, data, plan), resume=resume)
    task = models.task(file, arch, data)
    run = _Run(Job(file, name, task.for_search(data), plan), choices, journal, spread, told)
    run.go()
    if not run.trials:
        reason, count = run.refused.most_common(1)[0]
        what = f"none of {run.refused.total()} candidates fits: {reason} ({count} of them)"
        raise UnsupportedError(what, where=Where(file=str(file)), remedy="offer smaller values, or fewer bits")
    return Searched(name, run.trials, run.refused, task.measure, len(journal.known))


class _Run:
    def __init__(
        self, job: Job, choices: spaces.Choices, journal: _Journal, spread: Spread, told: Callable[[str], None]
    ) -> None:
        self.trials: list[Trial] = []
        self.refused: Counter[str] = Counter()
        self._job, self._choices, self._journal, self._spread, self._told = job, choices, journal, spread, told
        self._seen: set[str] = set()
        self._rng = np.random.default_rng(job.plan.settings.seed)

    def go(self) -> None:
        plan = self._job.plan
        while len(self.trials) < plan.trials:
            count = min(plan.trials - len(self.trials), plan.population)
            generation = self._generation(count)
            if not generation:
                return  # nothing that is new fits
            waiting = [one for one in generation if one.candidate.key not in self._journal.known]
            results = {one.candidate.key: self._journal.known.get(one.candidate.key) for one in generation}
            for trial in self._spread(self._job, waiting):
                results[trial.candidate.key] = trial
                self._journal.keep(trial)
                done = sum(value is not None for value in results.values()) + len(self.trials)
                self._told(f"trial {done} of {plan.trials}: {_text(trial)}")
            self.trials += [trial for trial in results.values() if trial is not None]

    def _generation(self, count: int) -> list[Judged]:
        found: list[Judged] = []
        for _ in range(count * _ATTEMPTS):
            arguments, bits = self._drawn()
            one = judged(self._job, arguments, bits, self._rng)
            if one.candidate.key in self._seen:
                continue
            self._seen.add(one.candidate.key)
            if one.reason:
                self.refused[one.reason] += 1
                continue
            found.append(one)
            if len(found) == count:
                break
        return found

    def _drawn(self) -> tuple[dict[str, Any], dict[str, int]]:
        plan = self._job.plan
        if plan.how == "random" or len(self.trials) < plan.population:
            return spaces.drawn(self._choices, self._rng), {}
        ranked = sorted(self.trials, key=lambda trial: trial.worth, reverse=True)
        parents = ranked[: max(2, plan.population // _PARENTS)]
        one, other = (parents[int(self._rng.integers(len(parents)))].candidate for _ in range(2))
        arguments, bits = spaces.child(one, other, self._choices, plan.weight_bits, self._rng)
        return arguments, bits


def _text(trial: Trial) -> str:
    chosen = ", ".join(f"{key} {value}" for key, value in trial.candidate.arguments.items())
    bits = "/".join(str(bits) for bits in trial.candidate.bits.values())
    return f"{trial.accuracy:.2%}, {chosen + ', ' if chosen else ''}bits {bits}, {trial.size} bytes"


def _digest(arch: str, data: Data, plan: Plan) -> str:
    """What has to be equal in a search that continues."""
    settings = {**asdict(replace(plan.settings, arguments={})), "threads": 0}
    return json.dumps([arch, data.name, list(data.shape), {**asdict(plan), "settings": settings, "trials": 0}])


class _Journal:
    """The trials that are known, in a file that outlives the process."""

    def __init__(self, file: Path, digest: str, *, resume: bool) -> None:
        self._file = file
        self.known: dict[str, Trial] = {}
        if resume:
            self._read(digest)
        else:
            write_file(file, (json.dumps({"search": digest}) + "\n").encode())

    def _read(self, digest: str) -> None:
        where = Where(file=str(self._file))
        try:
            lines = self._file.read_text(encoding="utf-8").splitlines()
            if json.loads(lines[0])["search"] != digest:
                remedy = "repeat them, or start a search in another --output"
                raise ConfigError("the search had other settings", where=where, remedy=remedy)
        except LatheError:
            raise
        except FileNotFoundError:
            raise ConfigError("there is no search to resume", where=where) from None
        except (OSError, ValueError, LookupError, TypeError) as problem:
            raise RunError(f"cannot read the trials: {problem}", where=where) from None
        whole = [lines[0]]
        for line in lines[1:]:
            try:
                one = json.loads(line)
                candidate = Candidate(one["arguments"], one["bits"])
                self.known[candidate.key] = Trial(candidate, one["weight_bytes"], one["cycles"], one["accuracy"])
            except (ValueError, LookupError, TypeError):
                continue  # what was being written when the process was killed
            whole.append(line)
        write_file(self._file, ("\n".join(whole) + "\n").encode())

    def keep(self, trial: Trial) -> None:
        with self._file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(trial.as_json()) + "\n")
