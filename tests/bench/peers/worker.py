"""One engine with one model in a process of its own, told by lines on standard input what to do.

    python -m tests.bench.peers.worker ENGINE MODEL THREADS INPUT OUTPUT

It answers in lines of JSON: first what loading took (a `Start`), then for each line `run COUNT SECONDS` the
milliseconds of that many runs, fewer where the time is up, but at least one. It ends with its standard input.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TextIO

import numpy as np

from tests.bench.peers.engines import ENGINES, Run

WARM_RUNS = 5
WARM_SECONDS = 3.0


def peak_memory() -> float:
    """The largest resident memory so far, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmHWM")


def forget_peak() -> None:
    """Peaks of what ran before (importing NumPy) do not count. Some kernels refuse; then the baseline is higher."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def mapped_libraries() -> set[str]:
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[5] for line in lines if line.endswith(".so") or ".so." in line}


def pin(threads: int) -> None:
    """To as many processors as threads, the last ones: the first ones serve interrupts."""
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, allowed[-threads:])


def measure(run: Run, count: int, seconds: float) -> dict[str, list[float]]:
    """Wall and processor time of each run, in ms."""
    wall: list[float] = []
    busy: list[float] = []
    end = time.perf_counter() + seconds
    while not wall or (len(wall) < count and time.perf_counter() < end):
        busy_start, start = time.process_time(), time.perf_counter()
        run()
        wall.append((time.perf_counter() - start) * 1e3)
        busy.append((time.process_time() - busy_start) * 1e3)
    return {"wall": wall, "busy": busy}


def start(engine: str, model: Path, threads: int, source: Path, output: Path) -> tuple[Run, dict[str, object]]:
    with np.load(source) as stored:
        feeds = dict(stored)
    pin(threads)
    before = mapped_libraries()
    forget_peak()
    baseline = peak_memory()
    begin = time.perf_counter()
    load = ENGINES[engine]()
    imported = time.perf_counter()
    run = load(model, threads, feeds)
    results = run()
    loaded = time.perf_counter()
    measure(run, WARM_RUNS, WARM_SECONDS)
    peak = peak_memory() - baseline
    np.savez(output, *results)
    return run, {
        "import_ms": (imported - begin) * 1e3,
        "load_first_ms": (loaded - imported) * 1e3,
        "peak_mb": peak,
        "libraries": sorted(mapped_libraries() - before),
    }


def main() -> None:
    engine, model, threads, source, output = sys.argv[1:]
    answers = _own_standard_output()
    run, told = start(engine, Path(model), int(threads), Path(source), Path(output))
    _answer(answers, told)
    for line in sys.stdin:
        _, count, seconds = line.split()
        _answer(answers, measure(run, int(count), float(seconds)))


def _own_standard_output() -> TextIO:
    """What engines print goes to standard error; only answers go to the parent."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _answer(answers: TextIO, content: dict[str, object] | dict[str, list[float]]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
