"""How often a network is right over a set of samples, by the fast simulator, on all cores."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import RunError, Where
from buildtool.targets.max7800x.simulation.native_simulator import Simulator

_SHARE = 32  # samples that a thread takes at a time


@dataclass(frozen=True)
class Accuracy:
    """What came out."""

    top: int  # right is what has its label among so many
    confusion: NDArray[np.int64]  # [label, answer]
    wrong: tuple[int, ...]  # samples whose label is not among the first `top` answers
    seconds: float

    @property
    def samples(self) -> int:
        return int(self.confusion.sum())

    @property
    def right(self) -> int:
        return self.samples - len(self.wrong)

    @property
    def share(self) -> float:
        return self.right / self.samples

    def as_json(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "right": self.right,
            "share": self.share,
            "top": self.top,
            "wrong": list(self.wrong),
            "confusion": self.confusion.tolist(),
            "seconds": round(self.seconds, 4),
        }


def evaluate(
    simulator: Simulator, samples: Sequence[NDArray[Any]], labels: Sequence[int], *, top: int = 1, workers: int = 0
) -> Accuracy:
    """The largest number of the output is the answer, of equal ones the first. `workers`: threads; 0: one per core.

    RunError where samples and labels do not belong together, or a label is none of the network's answers.
    """
    last = simulator.network.layers[simulator.order[-1]]
    answers = last.out_channels * last.out_size[0] * last.out_size[1]
    _check(simulator.network.name, len(samples), labels, answers, top)
    begun = time.perf_counter()
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        parts = pool.map(lambda part: _ranks(simulator, samples, labels, part), _parts(len(samples)))
        found = [entry for part in parts for entry in part]
    confusion = np.zeros((answers, answers), np.int64)
    for label, (answer, _) in zip(labels, found, strict=True):
        confusion[label, answer] += 1
    wrong = tuple(at for at, (_, rank) in enumerate(found) if rank >= top)
    return Accuracy(top, confusion, wrong, time.perf_counter() - begun)


def _parts(count: int) -> Iterator[range]:
    return (range(start, min(start + _SHARE, count)) for start in range(0, count, _SHARE))


def _ranks(
    simulator: Simulator, samples: Sequence[NDArray[Any]], labels: Sequence[int], part: range
) -> list[tuple[int, int]]:
    """Of each sample the answer, and how many answers come before the label."""
    ranks = []
    for at in part:
        scores, label = simulator.result(samples[at]).reshape(-1), int(labels[at])
        before = scores > scores[label]
        before[:label] |= scores[:label] == scores[label]
        ranks.append((int(scores.argmax()), int(before.sum())))
    return ranks


def _check(name: str, samples: int, labels: Sequence[int], answers: int, top: int) -> None:
    where = Where(model=name)
    if not samples:
        raise RunError("there are no samples", where=where)
    if samples != len(labels):
        raise RunError(f"there are {samples} samples and {len(labels)} labels", where=where)
    if not 1 <= top <= answers:
        raise RunError(f"top {top} of {answers} answers", where=where, rule=f"1 to {answers}")
    unknown = [(at, label) for at, label in enumerate(labels) if not 0 <= label < answers]
    if unknown:
        what = f"sample {unknown[0][0]} has the label {unknown[0][1]}; {len(unknown)} labels are out of range"
        raise RunError(what, where=where, rule=f"0 to {answers - 1}")
