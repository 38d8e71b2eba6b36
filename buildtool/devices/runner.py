"""What it means to run a model: what goes in, what comes out. `lathe_run.py` does it on a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from buildtool.errors import Problem
from buildtool.settings import GpuSettings
from buildtool.tensors.files import figures

Array = npt.NDArray[Any]
HOST_COPY = "copy"  # in the place of a kernel: the machine moves a tensor to a GPU or back


@dataclass(frozen=True)
class GpuFiles:
    """What a GPU has found out: read before a run, and written behind it."""

    tuned: tuple[Path, ...] = ()  # what tuning found; the first one that is for the GPU counts
    milliseconds: int = 0  # how long what is not tuned yet is tuned before the run
    write_tuned: Path | None = None  # empty where nothing is tuned
    write_programs: Path | None = None


@dataclass(frozen=True)
class Job:
    """One run of one model of a library."""

    program: Path  # lathe_run, for the ABI and kind of the library
    library: Path | None  # the shared library; None: it is linked into the program
    symbol: str  # the one function of the library
    model: str  # its name in the library
    model_file: Path | None  # None: inside the library
    data_file: Path | None
    inputs: Mapping[str, Array]
    outputs: Sequence[str]
    rounds: int = 1
    profile: bool = False  # whether as many runs are timed node by node, too
    threads: int = -1
    timeout: float = 600.0
    warmup: int = 0  # runs before those that are timed
    markers: bool = False  # whether one more run tells an emulator where nodes begin and end
    values_file: Path | None = None  # where values that the run computed go; validation/values.py reads it
    value_names: Sequence[str] = ()  # which; empty: all
    affinity: int = 0  # cores that it may use: 0 all, 1 big ones, 2 little ones, 3 the fastest, 4 the slowest
    trace: int = 0  # whether it tells what happens: 1 stages, 2 every node of one run more
    symbols: Path | None = None  # the library with all its symbols
    gpu: GpuSettings | None = None  # of a library with parts for a GPU
    gpu_programs: Path | None = None  # where programs of a GPU are kept, on devices that are this machine
    gpu_files: GpuFiles = GpuFiles()
    variables: Mapping[str, str] = field(default_factory=dict)  # beside those of the device


@dataclass(frozen=True)
class NodeTime:
    """What one node took in all profiled runs."""

    name: str
    op: str
    kernel: str
    nanoseconds: int  # the least
    index: int = 0  # in the order of `Graph.walk()`
    first: int = 0
    median: int = 0
    mean: int = 0
    deviation: int = 0
    start: int = 0  # of a run that took as long as most, since it began
    end: int = 0


@dataclass(frozen=True)
class ThreadTime:
    """What one thread did of a loop that several shared, in the run that `NodeTime.start` is of."""

    thread: int  # 0: the one that runs the nodes
    slices: int
    start: int
    end: int


@dataclass(frozen=True)
class RunResult:
    """What a run gave."""

    outputs: Mapping[str, Array]
    milliseconds: float  # of one run, the median of all rounds
    memory: Mapping[str, int] = field(default_factory=dict)
    device: Mapping[str, str] = field(default_factory=dict)
    nodes: tuple[NodeTime, ...] = ()  # of a job that asks for them
    threads: tuple[ThreadTime, ...] = ()  # of such a job
    create: int = 0  # nanoseconds until the model was ready to run
    warmup: tuple[int, ...] = ()  # nanoseconds of every run
    rounds: tuple[int, ...] = ()
    observed: tuple[int, ...] = ()  # of the runs that were timed node by node
    energy: Mapping[str, int] = field(default_factory=dict)  # microjoules of all `rounds`, by meter
    value_names: tuple[str, ...] = ()  # the contents of its `values_file`, in order
    process_peak: int = 0  # bytes of memory that the process had at most
    affinity: Mapping[str, Any] = field(default_factory=dict)  # policy, kinds of cores, those wanted, those used
    log: tuple[str, ...] = ()  # what it told
    gpu: Mapping[str, Any] = field(default_factory=dict)  # what ran the model's parts for a GPU; empty: it has none

    def save(self, name: str, folder: Path) -> Path:
        """Write an output as `<folder>/<name>.npy`."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name.replace('/', '_')}.npy"
        np.save(file, self.outputs[name])
        return file

    def summary(self) -> list[dict[str, Any]]:
        """The outputs in figures."""
        return [{"name": name, **figures(array)} for name, array in self.outputs.items()]


def notes_on_gpu(gpu: Mapping[str, Any], device: str) -> list[Problem]:
    """That parts for a device ran on the CPU instead: what was measured or compared then is not the device."""
    if not gpu.get("reason"):
        return []
    what = "a model for a device" if gpu["kind"] == "cpu" else "some parts of a model for a device"
    return [Problem(f"{what} ran on the CPU of {device}", rule=gpu["reason"])]


def notes_on_cores(affinity: Mapping[str, Any], device: str) -> list[Problem]:
    """What a user should know of the cores that were asked for and not given."""
    if not affinity.get("policy"):
        return []
    if not affinity["kinds"]:
        return [Problem(f"{device} does not report the speed of its cores: all were used")]
    if affinity["kinds"] == 1:
        return [Problem(f"{device} has one kind of core: all were used")]
    if not set(affinity["cores"]) <= set(affinity["wanted"]):
        cores = ", ".join(map(str, affinity["wanted"]))
        return [Problem(f"{device} does not allow the program to select the cores {cores}: all allowed ones were used")]
    return []
