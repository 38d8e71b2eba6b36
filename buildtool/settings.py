"""What a caller may say about a build or a run, and how it hears of the progress. No stage is known here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from buildtool.errors import Problem


class Progress(Protocol):
    """Who wants to know what is going on."""

    def stage(self, name: str) -> None:
        """A stage begins, and the one before it is over."""

    def step(self, text: str) -> None:
        """Something inside the stage begins, or says something."""

    def note(self, problem: Problem) -> None:
        """Something the user should know although nothing is wrong."""


class Silent:
    """Nobody wants to know."""

    def stage(self, name: str) -> None:
        pass

    def step(self, text: str) -> None:
        pass

    def note(self, problem: Problem) -> None:
        pass


class Noted:
    """Passes everything on, and keeps the notes; these are passed on unless that is not wanted."""

    def __init__(self, progress: Progress, *, passes_on: bool = True) -> None:
        self._progress = progress
        self._passes_on = passes_on
        self.notes: list[Problem] = []

    def stage(self, name: str) -> None:
        self._progress.stage(name)

    def step(self, text: str) -> None:
        self._progress.step(text)

    def note(self, problem: Problem) -> None:
        self.notes.append(problem)
        if self._passes_on:
            self._progress.note(problem)


@dataclass(frozen=True)
class Overrides:
    """What holds instead of the keys of the same names in the deployment file."""

    target_abis: tuple[str, ...] = ()
    library_name: str | None = None
    model_graph_format: str | None = None
    model_data_format: str | None = None
    messages: bool | None = None
    mace_compat: str | None = None
    paddle_compat: str | None = None
    all_ops: bool | None = None
    runtime: str | None = None  # of every model
    toolchains: tuple[
        Path, ...
    ] = ()  # CMake toolchain files: they are the targets, by the names that target_abis gives
    op_paths: tuple[Path, ...] = ()  # beside those of the file
    fallback: str = ""  # cpu: where layers go that an accelerator cannot do
    # beside a description of a network that is given instead of a deployment file:
    weights: Path | None = None
    sample: Path | None = None
    cnn: tuple[str, ...] = ()  # KEY or KEY=VALUE of the section `cnn`


@dataclass(frozen=True)
class Options:
    """Where results go, and what is written beside them."""

    output: Path = Path("build")
    emit: frozenset[str] = frozenset()  # ir, plan, source
    after: str = ""  # with ir: the graph behind the first run of this pass, too
    allow_unverified: bool = False
    trust_model_code: bool = False  # whether code in the models' files may run with the rights of the caller
    archive: bool = True  # whether the build is packed, too
    java: bool = False  # whether Java gets classes, and what ties them to the library
    aar: bool = False  # whether all of that is packed for Android, too
    flash: bool = False  # whether firmware is packed for the flash memory of a board, too
    program: Path | None = None  # with `flash`: instead of the program that the build makes
    self_check: bool = True  # whether a library for this machine runs with and without shared memory, once each
    live: bool = False  # whether the page of the build can run the models
    debuggable: bool = False  # whether the unstripped twins tell debuggers of lines, types and frames


@dataclass(frozen=True)
class DeviceSpec:
    """A device that a user names, and how to reach it."""

    kind: str  # local, qemu, dsp-sim, ssh, adb
    name: str = ""  # in a device file
    cpu: str = ""  # what an emulator imitates
    address: str = ""  # of ssh: a host; of adb: a serial, and where it is empty all that are connected
    username: str = ""  # where it is empty, ssh decides
    port: int = 0  # where it is 0, ssh decides
    jump: str = ""  # the host that leads to the device, as `ssh -J` takes it
    identity: Path | None = None  # the key that logs in, where it is no usual one
    ssh_config: Path | None = None  # instead of the user's
    target_abis: tuple[str, ...] = ()  # where it is empty, the device tells
    target_socs: tuple[str, ...] = ()


@dataclass(frozen=True)
class GpuSettings:
    """How parts of models run that were built for a GPU. Hints: 0 as the driver likes, 1 low, 2 normal, 3 high."""

    perf_hint: int = 3  # how fast the GPU runs
    priority_hint: int = 3  # whether it does this before other work
    check: bool = False  # whether a kernel fails that reads or writes outside of a tensor
    reuses_programs: bool = True  # those that were built in an earlier run


@dataclass(frozen=True)
class RunSettings:
    """How models are run and validated."""

    model: str | None = None  # all, where it is None
    inputs: Mapping[str, Path] = field(default_factory=dict)  # the rest gets random numbers
    output_folder: Path | None = None
    rounds: int = 1
    profile: bool = False  # whether as many runs are timed node by node, too
    threads: int = -1  # one per core
    seed: int = 0
    cpu: str = ""  # what an emulator imitates
    timeout: float = 600.0
    reference: str = "auto"  # onnxruntime, litert, numpy
    reference_python: Path | None = None  # an interpreter that has the framework of the model
    all_variants: bool = False
    kinds: tuple[str, ...] = ("shared", "static")
    devices: tuple[DeviceSpec, ...] = ()  # empty: this machine, or an emulator
    target_socs: tuple[str, ...] = ()  # only devices with one of these chips; `random`: one device; `all`: any
    warmup: int = 0  # runs before those that are timed
    restarts: int = 1  # how often the program is started anew for all of that
    affinity: int = 0  # cores: 0 all, 1 big ones, 2 little ones, 3 as many of the fastest as threads, 4 of the slowest
    trace: int = 0  # 1: the program tells what it does; 2: every node, too
    gpu: GpuSettings = GpuSettings()

    def on_chips(self, wanted: tuple[str, ...]) -> RunSettings:
        """The settings with the chips that a deployment wants, unless others are given."""
        return self if self.target_socs else replace(self, target_socs=wanted)


@dataclass(frozen=True)
class BenchSettings:
    """What is measured beyond the runs of a library, and where that goes."""

    compare: Path | None = None  # an earlier result
    against: Path | None = None  # another library: the folder of a build, or a deployment file
    pairs: int = 10  # how often both libraries take their turns
    only: str = ""  # regular expression: single operators whose names it matches, instead of the whole model
    peak: tuple[float, float] = (0.0, 0.0)  # GMAC/s and GB/s of the processor, where they need not be measured
    trace: Path | None = None  # a file for Perfetto
    power: tuple[float, float] | None = None  # of a simulated chip: watts always, and for each processor that works


@dataclass(frozen=True)
class DebugSettings:
    """How gdb is started."""

    commands: tuple[str, ...] = ()  # what it does first, with the library loaded
    batch: bool = False  # whether it ends after them
    program: str = ""  # instead of the gdb that is found
    server: Path | None = None  # a gdbserver for the device, where that has none


@dataclass(frozen=True)
class CalibrationSettings:
    """Which samples a model sees, and how the ranges of its tensors follow from them."""

    inputs: Path  # a folder, a file or a script
    samples: int | None = None  # only the first ones
    estimator: str = "min-max"
    bits: int = 8
    percentile: float | None = None  # percent of the numbers (of the samples, for `enhance`) outside on each side
    ratio: float = 10.0  # of `enhance`
    momentum: float = 0.9  # of the moving average
    output: Path | None = None  # the range file; None: the one that the deployment names, or one beside it


@dataclass(frozen=True)
class CheckpointSettings:
    """How the weights of a checkpoint become whole numbers."""

    method: str = "QUANTILE"
    scale: float = 0.85
    deviations: float = 2.0
    description: Path | None = None  # says how many bits each layer has
    fuse_batch_norm: bool = False
    arch: str = ""  # of the network once it is fused; empty: as it is
    quantises: bool = True


@dataclass(frozen=True)
class Corrections:
    """How weights and biases are changed before they are stored in a few bits."""

    bias: bool = False  # whether biases take up what the rounding of weights and inputs shifts on average
    rounding: bool = False  # whether weights of a layer are rounded together, so that its results change least
    output: Path | None = None  # the file; None: the one that the deployment names, or one beside the ranges

    @property
    def wanted(self) -> bool:
        return self.bias or self.rounding


@dataclass(frozen=True)
class Budget:
    """What storing a network in a few bits may cost."""

    decibels: float | None = None  # the least ratio of signal to noise at the outputs
    points: float | None = None  # hundredths of the first figure of the accuracy script that may be lost


@dataclass(frozen=True)
class Labour:
    """Who computes the samples of an accuracy or of a calibration."""

    workers: int = 1  # processes of this machine
    scheduler: str = ""  # of a Dask cluster, whose workers do it instead
    fresh: bool = False  # whether what an earlier run left is thrown away


SILENT = Silent()
NOTHING = Overrides()
NO_BUDGET = Budget()
NO_CORRECTIONS = Corrections()
DEFAULTS = Options()
EVERYTHING = RunSettings()
HERE = Labour()
