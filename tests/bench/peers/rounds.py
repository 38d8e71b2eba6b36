"""The parent's side: starts workers, tells them in turn to run, and makes numbers of what they answer.

Other programs disturb a machine for longer than one inference takes. So all engines run inside of each round, one
directly after the other, in an order that rotates, and engines are compared within rounds.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.ir.operator import Array
from tests.bench.peers.environment import ROOT

SMALLEST_COSINE = {"fp32": 0.9999, "int8": 0.98}  # in 8 bits each engine has rounded in its own way
REFERENCE = "onnxruntime"
_PAUSE = 0.03  # lets the threads of the engine before go to sleep
_DISTURBED = 1.05  # a run on one thread that took longer than this times its processor time had to wait


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    rounds: int = 10
    runs: int = 6  # of an engine in a round
    seconds: float = 0.4  # of an engine in a round; a slow engine runs once
    loads: int = 3  # fresh processes per engine
    patience: float = 3.0  # seconds that a round waits for a quiet machine
    dtype: str = "fp32"  # what is computed with: fp32 or int8
    priority: int = 0  # of the workers, as of nice; less than 0 needs root


@dataclass
class Measured:
    """One engine on one network."""

    engine: str
    start: dict[str, Any]
    cosine: float
    wall: list[list[float]] = field(default_factory=list)  # ms per run, by round
    busy: list[list[float]] = field(default_factory=list)

    def minima(self) -> list[float]:
        return [min(times) for times in self.wall]


class Worker:
    """A process that holds one engine with one model. `WorkerError` with the end of its log where it fails."""

    def __init__(
        self, python: Path, engine: str, model: Path, threads: int, source: Path, folder: Path, priority: int
    ) -> None:
        self._log = folder / f"{engine}.log"
        self.output = folder / f"{engine}.npz"
        arguments = [engine, str(model), str(threads), str(source), str(self.output)]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                ["nice", "-n", str(priority), str(python), "-m", "tests.bench.peers.worker", *arguments],
                cwd=ROOT,
                env={**os.environ, "OMP_NUM_THREADS": str(threads)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                bufsize=1,
                start_new_session=True,
            )
        if priority:
            _rank_session(self._process.pid, priority)

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            lines = self._log.read_text(errors="replace").strip().splitlines()
            raise WorkerError("\n".join(lines[-3:]) if lines else f"it ended with {self._process.returncode}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def run(self, runs: int, seconds: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"run {runs} {seconds}\n")
        return self.answer()

    def close(self) -> None:
        self._process.communicate()


@dataclass(frozen=True)
class Outcome:
    """All engines on one network."""

    measured: list[Measured]
    failures: dict[str, str]  # engine -> why it has no numbers
    others: list[float]  # before each round, how much of the machine other programs used: 0..1


class WorkerError(Exception):
    """An engine could not be loaded or stopped working."""


def measure(
    engines: Mapping[str, tuple[Path, Path]],
    threads: int,
    source: Path,
    folder: Path,
    plan: Plan,
    expected: Sequence[Array] | None = None,
) -> Outcome:
    """All engines (name -> Python and model) on one network. `expected`: the outputs, if not those of REFERENCE."""
    failures: dict[str, str] = {}
    workers: dict[str, Worker] = {}
    starts: dict[str, list[dict[str, Any]]] = {engine: [] for engine in engines}
    for attempt in range(plan.loads):
        for engine, (python, model) in engines.items():
            if engine in failures:
                continue
            worker = Worker(python, engine, model, threads, source, folder, plan.priority)
            try:
                starts[engine].append(worker.answer())
            except WorkerError as problem:
                failures[engine] = str(problem)
                continue
            if attempt + 1 == plan.loads:
                workers[engine] = worker
            else:
                worker.close()
    try:
        if expected is None and REFERENCE not in workers:
            raise WorkerError(f"{REFERENCE}, with which all are compared, has no output: {failures.get(REFERENCE, '')}")
        wanted = _outputs(workers[REFERENCE]) if expected is None else expected
        measured = _judged(workers, starts, failures, wanted, SMALLEST_COSINE[plan.dtype])
        others = _rounds(workers, measured, plan) if measured else []
    finally:
        for worker in workers.values():
            worker.close()
    return Outcome(measured, failures, others)


def _judged(
    workers: Mapping[str, Worker],
    starts: Mapping[str, list[dict[str, Any]]],
    failures: dict[str, str],
    expected: Sequence[Array],
    least: float,
) -> list[Measured]:
    """The engines whose output is the expected one; the others become failures."""
    measured = []
    for engine, worker in workers.items():
        found = _outputs(worker)
        similarity = min(map(cosine, found, expected)) if len(found) == len(expected) else 0.0
        if similarity < least:
            failures[engine] = f"its output differs from the expected one: cosine {similarity:.6f}"
        else:
            measured.append(Measured(engine, _typical(starts[engine]), similarity))
    return measured


def _outputs(worker: Worker) -> list[Array]:
    with np.load(worker.output) as stored:
        return [stored[name] for name in stored.files]


def _rounds(workers: Mapping[str, Worker], measured: Sequence[Measured], plan: Plan) -> list[float]:
    others = []
    for number in range(plan.rounds):
        others.append(_wait_for_quiet(plan.patience))
        shift = number % len(measured)
        for item in [*measured[shift:], *measured[:shift]]:
            time.sleep(_PAUSE)
            told = workers[item.engine].run(plan.runs, plan.seconds)
            item.wall.append(told["wall"])
            item.busy.append(told["busy"])
    return others


def _rank_session(pid: int, priority: int) -> None:
    """Linux may share the processors out among sessions first; then nice counts inside of each session only."""
    try:
        Path(f"/proc/{pid}/autogroup").write_text(str(priority))
    except OSError:
        return


def cosine(a: Any, b: Any) -> float:
    a, b = (np.asarray(array, np.float64).reshape(-1) for array in (a, b))
    if a.shape != b.shape or not np.isfinite(a).all():
        return 0.0
    length = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / length if length else float(np.array_equal(a, b))


def _typical(starts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Medians over the processes."""
    keys = ("import_ms", "load_first_ms", "peak_mb")
    middle = {key: statistics.median(start[key] for start in starts) for key in keys}
    return {**middle, "libraries": starts[0]["libraries"]}


def _wait_for_quiet(patience: float) -> float:
    """Until other programs use less than a quarter of the machine, or `patience` is over. What they use."""
    end = time.monotonic() + patience
    load = _load_of_others()
    while time.monotonic() < end and load > 0.25:
        load = _load_of_others()
    return load


def _load_of_others(seconds: float = 0.1) -> float:
    def times() -> tuple[int, int]:
        values = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(values), values[3] + values[4]

    total, idle = times()
    time.sleep(seconds)
    total_after, idle_after = times()
    return 1 - (idle_after - idle) / max(1, total_after - total)


def undisturbed(item: Measured, threads: int) -> list[float]:
    """Runs that did not have to wait for a processor, as far as that can be told: on one thread."""
    pairs = [pair for wall, busy in zip(item.wall, item.busy, strict=True) for pair in zip(wall, busy, strict=True)]
    clean = [wall for wall, busy in pairs if wall <= busy * _DISTURBED] if threads == 1 else []
    return clean if len(clean) >= 5 else [wall for wall, _ in pairs]


def results(
    network: str, threads: int, measured: Sequence[Measured], sizes: Mapping[str, int], dtype: str = "fp32"
) -> list[dict[str, Any]]:
    """Rows of the result file. The ratio is the median over the rounds of the ratio of the fastest runs."""
    typical = {item.engine: statistics.median(item.minima()) for item in measured}
    peers = {engine: value for engine, value in typical.items() if not engine.startswith("lathe")}
    best = min(peers, key=lambda engine: peers[engine], default=None)
    base = next((item.minima() for item in measured if item.engine == best), None)
    rows = []
    for item in measured:
        ratio = None
        if base is not None:
            ratio = statistics.median(own / peer for own, peer in zip(item.minima(), base, strict=True))
        rows.append(
            {
                "network": network,
                "dtype": "fp32" if item.engine == "lathe_fp32" else dtype,
                "threads": threads,
                "engine": item.engine,
                "median_ms": round(statistics.median(undisturbed(item, threads)), 3),
                "min_ms": round(min(item.minima()), 3),
                "runs": sum(len(times) for times in item.wall),
                "best_peer": best,
                "ratio_to_best_peer": None if ratio is None else round(ratio, 3),
                "cosine": round(item.cosine, 7),
                "import_ms": round(item.start["import_ms"], 1),
                "load_first_ms": round(item.start["load_first_ms"], 1),
                "peak_mb": round(item.start["peak_mb"], 1),
                "library_bytes": sizes[item.engine],
            }
        )
    return rows
