"""What framework processes are asked to draw: the model of a seed, or one that a few of its steps were left out of."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

SECONDS = 120  # for one model in all its forms, on a busy machine
ENDED = "the process of the framework"  # how problems begin that no model told


@dataclass(frozen=True)
class Recipe:
    """Each step of a model has random numbers of its own, so that the others stay what they are without it."""

    seed: int
    shape: tuple[int, ...] = ()  # of the input; empty: drawn
    dropped: frozenset[int] = field(default_factory=frozenset)  # steps that are left out

    def rng(self, step: int | str) -> random.Random:
        """The random numbers of a step, or of what has a name."""
        return random.Random(f"{self.seed}/{step}")

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "dropped": sorted(self.dropped)}

    @staticmethod
    def of(told: dict[str, Any]) -> Recipe:
        """The inverse of `as_json`."""
        return Recipe(told["seed"], tuple(told["shape"]), frozenset(told["dropped"]))

    def smaller(self, steps: list[tuple[int, ...]], shape: tuple[int, ...]) -> Iterator[Recipe]:
        """Simpler models, the boldest first. `steps`: the shape behind each step; `shape`: that of the input."""
        there = [step for step in range(len(steps)) if step not in self.dropped]
        for count in (len(there) // 2, len(there) // 4, 1):
            if 0 < count < len(there):
                first = there[:count]
                yield replace(self, shape=steps[first[-1]], dropped=self.dropped | set(first))
                yield replace(self, dropped=self.dropped | set(there[-count:]))
        if len(there) > 1:
            for step in there:
                yield replace(self, dropped=self.dropped | {step})
        for axis, size in enumerate(shape):
            for less in (1, size // 2):
                if 0 < less < size:
                    yield replace(self, shape=(*shape[:axis], less, *shape[axis + 1 :]))


@dataclass(frozen=True)
class Written:
    """What became of a recipe: the shape of the input and those behind each step, and what may be read of the model."""

    shape: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]
    text: str


def serve(write: Callable[[Recipe, Path, list[str]], Written]) -> None:
    """Answers each line on stdin, `{recipe, folder, forms}`, with a line of JSON on stdout, until stdin ends.

    Frameworks take long to load, and some models end their process: what answers is a copy of this one, made before
    the framework computes anything. One that a model ends, or that takes too long for it, is replaced by another copy.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever frameworks print is no answer
    while True:
        child = os.fork()
        if not child:
            _answer(write, answers)
            answers.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not status:
            return
        number = os.waitstatus_to_exitcode(status)
        why = f"took more than {SECONDS} s" if number == -signal.SIGALRM else f"ended ({number})"
        print(json.dumps({"problem": f"{ENDED} {why}"}), file=answers, flush=True)


def _answer(write: Callable[[Recipe, Path, list[str]], Written], answers: TextIO) -> None:
    for line in sys.stdin:
        order = json.loads(line)
        signal.alarm(SECONDS)  # ends the process
        try:
            answer = asdict(write(Recipe.of(order["recipe"]), Path(order["folder"]), order["forms"]))
        except Exception as problem:  # the drawing asks for what the framework refuses
            answer = {"problem": f"{type(problem).__name__}: {str(problem)[:300]}"}
        signal.alarm(0)
        print(json.dumps(answer), file=answers, flush=True)
