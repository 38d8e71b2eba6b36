"""Runs a model on samples and lets estimators see every tensor of it: here, or in several processes."""

from __future__ import annotations

import itertools
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from buildtool.devices.in_process import LoadedModel, load_library
from buildtool.errors import RunError, Where
from buildtool.quant.estimators import Settings
from buildtool.quant.observed import Observed
from buildtool.running.inputs import TensorSpec
from buildtool.running.metrics import Array
from buildtool.validation.samples import Reader, Sample

PART = 8  # samples that a worker gets at once


@dataclass(frozen=True)
class Task:
    """What every worker has to know."""

    library: Path
    identifier: str
    model: str
    tensors: Mapping[str, str]  # what each value of the library is called in the result
    inputs: tuple[TensorSpec, ...]
    kind: str  # of the estimators
    settings: Settings
    whole: frozenset[str] = frozenset()  # of `tensors`, by their names in the result: nothing of them is cut off

    def nothing(self) -> Observed:
        """Of no samples at all."""
        return Observed(self.kind, self.settings, self.whole)


class Watched:
    """A model that is loaded, and can be looked into."""

    def __init__(self, task: Task, threads: int) -> None:
        self._task = task
        self._reader = Reader(task.inputs)
        self._model: LoadedModel = load_library(
            task.library, task.model, threads=threads, identifier=task.identifier, keep_all=True
        )

    def run(self, sample: Sample, see: Callable[[str, Array], None]) -> None:
        """Show all tensors of one sample."""
        self._model.run(self._reader.inputs(sample))
        for value, name in self._task.tensors.items():
            try:
                see(name, self._model.value(value))
            except ValueError as problem:
                raise RunError(
                    f"{problem}, where the input is {sample if not isinstance(sample, Mapping) else 'of the script'}",
                    where=Where(model=self._task.model, value=name),
                    rule="ranges are measured from finite values",
                    remedy="remove this sample; `lathe run --trap-nan` reports the node that produced them",
                ) from problem


def observe(task: Task, samples: Iterable[Sample], observed: Observed, workers: int) -> Iterator[int]:
    """Let `observed` see these samples, in their order; gives how many it has seen since the last time."""
    if workers == 1:
        watched = Watched(task, threads=0)
        for sample in samples:
            watched.run(sample, observed.update)
            yield 1
        return
    parts = _parts(samples)
    running: deque[Future[tuple[int, Observed]]] = deque()
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_start, initargs=(task,)) as pool:
        try:
            running.extend(pool.submit(_part, part) for part in itertools.islice(parts, 2 * workers))
            while running:
                count, seen = running.popleft().result()
                running.extend(pool.submit(_part, part) for part in itertools.islice(parts, 1))
                observed.merge(seen)
                yield count
        except BrokenProcessPool as problem:
            what = "a worker crashed or was killed"
            raise RunError(what, remedy="start again: finished samples are kept") from problem
        finally:
            pool.shutdown(cancel_futures=True)


def _parts(samples: Iterable[Sample]) -> Iterator[Sequence[Sample]]:
    left = iter(samples)
    while part := list(itertools.islice(left, PART)):
        yield part


# What a worker process works at, and its model, which is loaded once.
_tasks: list[Task] = []
_watched: list[Watched] = []


def _start(task: Task) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: whoever started the workers ends them
    _tasks[:] = [task]


def _part(samples: Sequence[Sample]) -> tuple[int, Observed]:
    """What is seen of these samples."""
    (task,) = _tasks
    if not _watched:
        _watched.append(Watched(task, threads=1))
    observed = task.nothing()
    for sample in samples:
        _watched[0].run(sample, observed.update)
    return len(samples), observed
