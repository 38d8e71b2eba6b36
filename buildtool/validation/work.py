"""Computes samples: in this process, in several of this machine, or on the workers of a Dask cluster."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from buildtool import resources
from buildtool.devices.choose import devices_for, runs_here
from buildtool.devices.in_process import load_library
from buildtool.digests import sha256_of
from buildtool.errors import ConfigError, RunError, Where
from buildtool.running import clusters
from buildtool.running.inputs import TensorSpec, check_names, fit
from buildtool.running.library_on_device import Built, LibraryOnDevice
from buildtool.running.metrics import Array
from buildtool.runtime import DeviceOptions
from buildtool.settings import RunSettings
from buildtool.validation.plugin import Plugin

LONGEST = 64  # units that are computed between two entries of the journal


@dataclass(frozen=True)
class Task:
    """What every worker has to know. Paths mean the same files to all of them."""

    script: Path
    built: Built
    abi: str
    model: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[str, ...]
    settings: RunSettings

    def files(self) -> list[Path]:
        """What decides the result: the library, its models, the script."""
        folder = self.built.folder / "model" / self.abi
        models = [folder / f"{self.model}{suffix}" for suffix in (".pb", ".data")]
        return [self.script, self.built.file_of(self.abi, "shared"), *(file for file in models if file.is_file())]


class Runs(Protocol):
    """A model that is ready to run."""

    def __call__(self, inputs: Mapping[str, Array]) -> Mapping[str, Array]: ...


def work(task: Task, units: Sequence[int]) -> dict[int, str]:
    """The records of these units."""
    plugin, run = _ready(task)
    return {unit: plugin.record(unit, run(fed(plugin, unit, task.inputs))) for unit in units}


def fed(plugin: Plugin, unit: int, specs: Sequence[TensorSpec]) -> dict[str, Array]:
    """What the network gets for a unit, in the types and shapes that it takes."""
    given = plugin.inputs(unit)
    check_names(given, specs)
    where = Where(file=str(plugin.file))
    missing = [spec.name for spec in specs if spec.name not in given]
    if missing:
        raise ConfigError(f"preprocess returned nothing for the input '{missing[0]}'", where=where)
    return {spec.name: fit(np.asarray(_as(given[spec.name], spec)), spec, where) for spec in specs}


def _as(value: Any, spec: TensorSpec) -> Array:
    """Lists of numbers have no type of their own, and NumPy makes doubles of them."""
    return np.asarray(value, None if isinstance(value, np.ndarray) else spec.dtype.numpy)


_ready_tasks: dict[str, tuple[Plugin, Runs]] = {}


def _ready(task: Task) -> tuple[Plugin, Runs]:
    """The script and the model, loaded once per process."""
    key = f"{task!r} {hashlib.sha256(task.script.read_bytes()).hexdigest()}"
    if key not in _ready_tasks:
        _ready_tasks.clear()
        _ready_tasks[key] = Plugin(task.script), _model(task)
    return _ready_tasks[key]


def _model(task: Task) -> Runs:
    """In this process where it runs the ABI itself and no device is named, else one run of a program per unit."""
    if runs_here(task.abi) and not task.settings.devices and not task.settings.cpu:
        library = task.built.file_of(task.abi, "shared")
        identifier = task.built.identifier
        return load_library(library, task.model, threads=1, identifier=identifier, device=_wishes(task)).run
    device = devices_for(task.abi, task.settings)[0]
    stand = LibraryOnDevice(task.built, task.abi, "shared", replace(task.settings, rounds=1, threads=1), device)
    return lambda inputs: stand.run(task.model, inputs, task.outputs).outputs


def _wishes(task: Task) -> DeviceOptions:
    gpu = task.settings.gpu
    return DeviceOptions(
        check=gpu.check,
        perf_hint=gpu.perf_hint,
        priority_hint=gpu.priority_hint,
        rebuilds_programs=not gpu.reuses_programs,
        storage_path=resources.cache_dir() / "gpu-programs",  # nothing is kept there before it exists
    )


def ran_on(task: Task) -> Mapping[str, Any]:
    """What runs the model's parts for a GPU, as a run tells it; empty where it has none."""
    if not task.built.runs_on_gpus(task.abi):
        return {}
    device = devices_for(task.abi, task.settings)[0]
    with LibraryOnDevice(task.built, task.abi, "shared", replace(task.settings, rounds=1, threads=1), device) as stand:
        return stand.run(task.model, {}, ()).gpu


def chunks(units: Sequence[int], workers: int) -> list[list[int]]:
    """Parts that are long enough to be worth sending, and short enough that little is lost."""
    size = max(1, min(LONGEST, len(units) // (4 * workers)))
    return [list(units[start : start + size]) for start in range(0, len(units), size)]


def here(task: Task, parts: Sequence[Sequence[int]], workers: int) -> Iterator[dict[int, str]]:
    """On this machine, as the results come."""
    if workers == 1:
        yield from map(functools.partial(work, task), parts)
        return
    waiting = iter(parts)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            running = {pool.submit(work, task, part) for part in itertools.islice(waiting, 2 * workers)}
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
                running |= {pool.submit(work, task, part) for part in itertools.islice(waiting, len(done))}
        except BrokenProcessPool as problem:
            what = "a worker crashed or was killed"
            raise RunError(what, remedy="start again: finished samples are kept") from problem
        finally:
            pool.shutdown(cancel_futures=True)


def on_cluster(task: Task, parts: Iterable[Sequence[int]], address: str) -> Iterator[dict[int, str]]:
    """On the workers of a Dask cluster that runs already."""
    client = clusters.client(address)
    try:
        futures = client.map(functools.partial(work, task), [list(part) for part in parts], pure=False, retries=1)
        for future in clusters.dask().as_completed(futures):
            yield future.result()
    except ModuleNotFoundError as problem:
        remedy = "install lathe-build on them, of the same version"
        raise RunError(f"the workers of the cluster have no '{problem.name}'", remedy=remedy) from problem
    finally:
        client.close()


def as_units(records: Mapping[int, str]) -> list[str]:
    """All records in order."""
    return [records[unit] for unit in sorted(records)]


def digest_of(task: Task, plugin: Plugin) -> str:
    """What a journal is of."""
    digest = hashlib.sha256(json.dumps([task.model, task.abi, plugin.samples, plugin.units]).encode())
    for file in task.files():
        digest.update(bytes.fromhex(sha256_of(file)))
    return digest.hexdigest()
