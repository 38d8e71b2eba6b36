"""Trains the candidates of a search in several processes of this machine, or on the workers of a Dask cluster."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from buildtool.errors import RunError
from buildtool.running import clusters
from buildtool.training import searching
from buildtool.training.searching import Job, Judged, Spread, Trial


def spread_over(workers: int, scheduler: str) -> Spread:
    """How candidates are trained. `scheduler`: the address of a cluster that runs already."""
    if scheduler:
        return functools.partial(_on_cluster, scheduler)
    return searching.one_by_one if workers == 1 else functools.partial(_here, workers)


def _here(workers: int, job: Job, candidates: Sequence[Judged]) -> Iterator[Trial]:
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(searching.trained, job, one) for one in candidates]):
                yield future.result()
        except BrokenProcessPool as problem:
            what = "a worker crashed or was killed"
            raise RunError(what, remedy="start again with --resume: finished trials are kept") from problem
        finally:
            pool.shutdown(cancel_futures=True)


def _on_cluster(address: str, job: Job, candidates: Sequence[Judged]) -> Iterator[Trial]:
    """Paths mean the same files to all workers."""
    client = clusters.client(address)
    try:
        futures = client.map(functools.partial(searching.trained, job), candidates, pure=False, retries=1)
        for future in clusters.dask().as_completed(futures):
            yield future.result()
    except ModuleNotFoundError as problem:
        remedy = "install lathe-build[train] on them, of the same version"
        raise RunError(f"the workers of the cluster have no '{problem.name}'", remedy=remedy) from problem
    finally:
        client.close()
