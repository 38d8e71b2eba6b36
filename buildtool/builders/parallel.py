"""Several ABIs at a time: threads that wait for programs, and one count of jobs that all of them share."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

from buildtool.builders.process import Processes

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(work: Callable[[Item], Result], items: Sequence[Item], processes: Processes) -> list[Result]:
    """`work` on all items at once, in threads; one after the other in a dry run, so that its commands are in order.

    The first failure ends what the others run, and is raised.
    """
    if processes.dry_run or len(items) < 2:
        return [work(item) for item in items]
    with shared_jobs(len(items)) as variables, ThreadPoolExecutor(len(items)) as threads:
        processes.variables.update(variables)
        futures = [threads.submit(work, item) for item in items]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            failed = [future for future in futures if future.done() and future.exception()]
            return [future.result() for future in failed or futures]
        except BaseException:
            processes.stop()
            raise
        finally:
            for name in variables:
                processes.variables.pop(name, None)


@contextlib.contextmanager
def shared_jobs(programs: int) -> Iterator[dict[str, str]]:
    """Variables with which so many ninjas together run as many jobs as there are cores, and two more.

    It is the protocol of GNU make: each program may run one job, and takes a letter out of a pipe for every other one.
    A ninja before 1.13 does not know it. Where the make or ninja that started Lathe shares its jobs, those are shared.
    """
    if "--jobserver-auth=fifo:" in os.environ.get("MAKEFLAGS", ""):
        yield {}
        return
    jobs = len(os.sched_getaffinity(0)) + 2
    with tempfile.TemporaryDirectory(prefix="lathe-jobs-") as folder:
        pipe = Path(folder) / "jobs"
        os.mkfifo(pipe)
        handle = os.open(pipe, os.O_RDWR)
        try:
            os.write(handle, b"+" * max(0, jobs - programs))
            yield {"MAKEFLAGS": f" -j{jobs} --jobserver-auth=fifo:{pipe}"}
        finally:
            os.close(handle)
