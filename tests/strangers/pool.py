"""Processes that judge models. One that dies or takes too long is a finding, and another takes its place."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.strangers.judge import Verdict

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120.0  # for one model, on a busy machine


class Worker:
    """One process, started on first need."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._process: subprocess.Popen[str] | None = None

    def judge(self, job: Mapping[str, Any]) -> Verdict:
        """The verdict on a job of worker.py."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            answers, _, _ = select.select([process.stdout], [], [], SECONDS)
            line = process.stdout.readline() if answers else ""
        except BrokenPipeError:
            line, answers = "", [process.stdout]
        if line:
            return Verdict(*json.loads(line))
        self.end()
        if not answers:
            return Verdict("crashed", "process", f"no answer within {SECONDS:.0f} s")
        return Verdict("crashed", "process", f"it ended with {process.returncode}")

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            command = [sys.executable, "-m", "tests.strangers.worker", str(self._library)]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self._process = subprocess.Popen(command, cwd=ROOT, text=True, **pipes)
        return self._process


def judge_all(
    jobs: Iterable[Mapping[str, Any]],
    library: Path,
    processes: int,
    found: Callable[[Mapping[str, Any], Verdict, Worker], None],
) -> None:
    """Judges all jobs; `found` is called with each verdict, one at a time, and may use the worker that gave it.

    An interrupt ends it after the jobs in progress.
    """
    waiting: Iterator[Mapping[str, Any]] = iter(jobs)
    lock, answers, ended = threading.Lock(), threading.Lock(), threading.Event()

    def work() -> None:
        worker = Worker(library)
        try:
            while True:
                with lock:
                    job = None if ended.is_set() else next(waiting, None)
                if job is None:
                    return
                verdict = worker.judge(job)
                with answers:
                    found(job, verdict, worker)
        finally:
            worker.end()

    with ThreadPoolExecutor(processes) as threads:
        try:
            for done in [threads.submit(work) for _ in range(processes)]:
                done.result()
        finally:
            ended.set()
