"""Ranges of tensors, from samples: `lathe quantize`, `lathe run --quantize-stat` and `lathe quantize-stat`."""

from __future__ import annotations

import hashlib
import itertools
import json
import resource
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from buildtool.builders import package
from buildtool.codegen import container
from buildtool.config import Deployment, ModelConfig, QuantizeConfig
from buildtool.errors import ConfigError, UnsupportedError, Where
from buildtool.ir.graph import Graph, Value
from buildtool.ir.types import DType
from buildtool.ops.registry import registry
from buildtool.passes import pipeline
from buildtool.passes.store_quantised import BOUNDED
from buildtool.quant import mace_log, range_files
from buildtool.quant.estimators import ESTIMATORS, Settings
from buildtool.quant.observed import Observed
from buildtool.reports.corrections import CorrectionsReport
from buildtool.reports.documents import BuildReport
from buildtool.reports.quantisation import RangesReport
from buildtool.reports.sensitivity import SensitivityReport
from buildtool.requests import deployments, runs
from buildtool.requests.deployments import load_written
from buildtool.runtimes import Runtime
from buildtool.settings import (
    DEFAULTS,
    EVERYTHING,
    HERE,
    NO_BUDGET,
    NOTHING,
    SILENT,
    Budget,
    CalibrationSettings,
    Corrections,
    Labour,
    Options,
    Overrides,
    Progress,
    RunSettings,
)
from buildtool.validation import observing, samples
from buildtool.validation.observing import Task
from buildtool.validation.samples import Samples
from buildtool.workflow import correcting, sensitivities
from buildtool.workflow.building import up_to_date

_SECONDS = 5.0  # between two entries of the journal
_KIBI = 1024  # the system counts peaks of memory in these


def quantize(
    file: Path | str,
    calibration: CalibrationSettings,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
    labour: Labour = HERE,
) -> RangesReport:
    """Write the ranges that a model's tensors have where it computes in single precision on these samples.

    A run that was killed goes on where it stood.
    """
    began = time.monotonic()
    deployment = load_written(file, overrides, progress)
    model = _one_model(deployment, settings.model)
    inputs, _ = runs.specs(model)
    found = samples.find(calibration.inputs, inputs)
    task, identity = _task(deployment, model, calibration, options, progress)
    progress.stage(f"ranges of {model.name}")
    place = task.library.parents[2] / "report" / "quantisation" / f"{model.identifier}.npz"
    journal = _Journal(place, identity + found.identity)
    observed, known = task.nothing(), 0
    if not labour.fresh:
        observed, known = journal.read(task, calibration.samples)
    seen = _observe(task, found, observed, known, calibration.samples, labour.workers, journal, progress)
    if not seen:
        raise ConfigError("there are no samples", where=Where(file=str(calibration.inputs)))
    target = calibration.output or _range_file(deployment, model)
    report = RangesReport(
        file=target,
        ranges=observed.ranges(),
        estimator=calibration.estimator,
        samples=seen,
        model=model.name,
        resumed=known,
        workers=labour.workers,
        seconds=time.monotonic() - began,
        peak_bytes=_peak(),
    )
    package.write_file(target, range_files.text(report.ranges).encode())
    journal.finish()
    return report


def correct(
    file: Path | str,
    ranges: RangesReport,
    calibration: CalibrationSettings,
    corrections: Corrections,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
) -> CorrectionsReport:
    """Write weights and biases that lose less where they are stored by these ranges."""
    deployment = load_written(file, overrides, progress)
    model = _one_model(deployment, settings.model)
    return correcting.correct(deployment, model, ranges.file, calibration, corrections, options, progress)


def sensitivity(
    file: Path | str,
    ranges: RangesReport,
    calibration: CalibrationSettings,
    budget: Budget = NO_BUDGET,
    weights: Path | None = None,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
) -> SensitivityReport:
    """Measure with these ranges what storing each layer costs; with these weights, or those of the deployment."""
    deployment = load_written(file, overrides, progress)
    model = _one_model(deployment, settings.model)
    if weights is not None:
        model = correcting.with_file(model, weights)
    return sensitivities.measure(deployment, model, ranges, calibration, budget, options, progress)


def log_ranges(
    file: Path | str,
    tell: Callable[[str], None],
    folder: Path | None,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
) -> None:
    """Tell a line of MACE's log for every tensor of every sample; without a folder of one run with what there is."""
    deployment = load_written(file, overrides, progress)
    for model in deployments.selected(deployment, settings.model):
        inputs, _ = runs.specs(model)
        if folder is None:
            given, _ = runs.run_of(model, options, settings)
        found: Samples | list[samples.Sample] = [given] if folder is None else samples.find(folder, inputs)
        task, _ = _task(deployment, model, CalibrationSettings(folder or Path()), options, progress)
        progress.stage(f"ranges of {model.name}")
        watched = observing.Watched(task, threads=max(settings.threads, 0))
        for number, sample in enumerate(found):
            progress.step(f"sample {number}")
            observed = task.nothing()
            watched.run(sample, observed.update)
            for name, ends in observed.ranges().items():
                tell(mace_log.line(name, *ends))


def ranges_of_log(
    log: Path, output: Path | None, percentile: float = 0.0, enhance: bool = False, ratio: float = 10.0
) -> RangesReport:
    """One range for each tensor of such a log, in a file where one is given."""
    _check(percentile, ratio)
    read = mace_log.read(log)
    found = mace_log.ranges(read, percentile, enhance, ratio)
    estimator = "enhance" if enhance else "percentile" if percentile else "min-max"
    if output is not None:
        package.write_file(output, range_files.text(found).encode())
    return RangesReport(output or Path(), found, estimator, mace_log.samples(read))


def _check(percentile: float | None, ratio: float) -> None:
    if percentile is not None and not 0 <= percentile < 50:
        raise ConfigError(f"--percentile cannot be {percentile:g}", rule="from 0 to less than 50, on each side")
    if ratio <= 0:
        raise ConfigError(f"--enhance-ratio cannot be {ratio:g}", rule="more than 0")


def _one_model(deployment: Deployment, name: str | None) -> ModelConfig:
    found = deployments.selected(deployment, name)
    if len(found) > 1:
        listed = ", ".join(model.name for model in found)
        raise ConfigError(
            f"the library has {len(found)} models, and the samples belong to one",
            where=deployment.where,
            remedy=f"choose it with --model NAME: {listed}",
        )
    return found[0]


def _range_file(deployment: Deployment, model: ModelConfig) -> Path:
    """The file that the deployment names, or one beside it."""
    named = model.quantize.range_file
    if named is not None and not named.is_url:
        return named.path
    return deployment.path.with_name(f"{model.identifier}.ranges")


# -- the library that is looked into ----------------------------------------------------------------------------------
def _task(
    deployment: Deployment,
    model: ModelConfig,
    calibration: CalibrationSettings,
    options: Options,
    progress: Progress,
) -> tuple[Task, str]:
    """The model as files of a library for this machine, and what says which one that is."""
    if calibration.estimator not in ESTIMATORS:
        allowed = ", ".join(ESTIMATORS)
        raise ConfigError(f"--estimator cannot be '{calibration.estimator}'", rule=f"allowed: {allowed}")
    _check(calibration.percentile, calibration.ratio)
    real = _in_real_numbers(deployment)
    built = up_to_date(real, replace(options, output=options.output / "calibration", archive=False), progress)
    built = replace(built, folder=built.folder.resolve())  # workers may stand elsewhere
    graph, identity = _graph(real, built, model)
    inputs, _ = runs.specs(model)
    task = Task(
        library=built.file_of("host", "shared"),
        identifier=built.identifier,
        model=model.identifier,
        tensors=_tensors(graph),
        inputs=inputs,
        kind=calibration.estimator,
        settings=Settings(calibration.bits, calibration.percentile, calibration.ratio, calibration.momentum),
        whole=_probabilities(graph),
    )
    if not task.tensors:
        raise UnsupportedError("no tensor of this model has single precision", where=model.where)
    return task, f"{identity} {task.kind} {task.settings} {list(task.tensors.items())} {sorted(task.whole)}"


def _in_real_numbers(deployment: Deployment) -> Deployment:
    """The same models for this machine in single precision, with every tensor that they have in few bits."""
    # What the last passes join into one node has no tensor between any more, and the kernels of few bits have one.
    lowering = {kind.name for kind in pipeline.lowering()}
    every = tuple(dict.fromkeys(kind.name for kind in pipeline.order()))
    models = tuple(
        replace(
            model,
            runtime=Runtime.CPU,
            data_type="fp32_fp32",
            quantize=QuantizeConfig(observed=True, equalize=model.quantize.equalize),
            obfuscate=False,
            graph_optimize_options=tuple(
                name for name in model.graph_optimize_options or every if name not in lowering
            ),
        )
        for model in deployment.models
    )
    return replace(
        deployment,
        models=models,
        target_abis=("host",),
        abi_marks=(),
        toolchains=(),
        model_graph_format="file",
        model_data_format="file",
        mace_compat="0",
        paddle_compat="0",
    )


def _graph(deployment: Deployment, built: BuildReport, model: ModelConfig) -> tuple[Graph, str]:
    """What the library computes, and what says which network that is."""
    file = built.folder / "model" / f"{model.identifier}.pb"
    contents, data = file.read_bytes(), file.with_suffix(".data").read_bytes()
    graph, _ = container.read(contents, data, registry(deployment.op_paths), str(file))
    return graph, hashlib.sha256(contents + data).hexdigest()


def _tensors(graph: Graph) -> dict[str, str]:
    """The real numbers that are computed, by the names of their values: what they are called in the source.

    What only moves numbers of one tensor has the range of that one.
    """
    values: dict[str, Value] = {value.name: value for value in graph.inputs}
    for node in graph.nodes:
        if not (node.op.keeps_numbers and sum(value.type.dtype is DType.F32 for value in node.inputs) == 1):
            values.update((value.name, value) for value in node.outputs)
    named: dict[str, str] = {}
    for name, value in values.items():
        if value.type.dtype is DType.F32 and not value.is_constant:
            named.setdefault(value.source_names[0] if value.source_names else name, name)
    return {value: name for name, value in named.items()}


def _probabilities(graph: Graph) -> frozenset[str]:
    """What a softmax or the like makes, by its name in the source.

    Its rare large numbers are what the network has to say: estimators that cut off what is rare would cut off that.
    """
    made = (node.outputs[0] for node in graph.nodes if node.op.name in BOUNDED)
    return frozenset(value.source_names[0] if value.source_names else value.name for value in made)


# -- the samples ------------------------------------------------------------------------------------------------------
def _observe(
    task: Task,
    found: Samples,
    observed: Observed,
    known: int,
    most: int | None,
    workers: int,
    journal: _Journal,
    progress: Progress,
) -> int:
    """Let `observed` see the samples behind those that are known; how many it has seen then."""
    of = min(bound for bound in (found.count, most) if bound is not None) if (found.count or most) else None
    seen, saved = known, time.monotonic()
    left = itertools.islice(found, known, most)
    try:
        for count in observing.observe(task, left, observed, workers):
            seen += count
            progress.step(f"{seen} of {of}" if of else f"{seen}")
            if time.monotonic() - saved > _SECONDS:
                journal.write(observed, seen)
                saved = time.monotonic()
    except BaseException:
        if seen > known:
            journal.write(observed, seen)
        raise
    return seen


@dataclass(frozen=True)
class _Journal:
    """What was seen so far, on disk: a line that says of what and of how many samples, and the estimators."""

    file: Path
    identity: str

    def read(self, task: Task, most: int | None) -> tuple[Observed, int]:
        """What an earlier run saw of the same, and of how many samples."""
        observed = task.nothing()
        with suppress(Exception):  # whatever NumPy is led into by a file that was damaged
            first, _, rest = self.file.read_bytes().partition(b"\n")
            known = json.loads(first)
            if known["key"] == self._key() and known["samples"] <= (most or known["samples"]):
                observed.load(rest)
                return observed, int(known["samples"])
        return task.nothing(), 0

    def write(self, observed: Observed, seen: int) -> None:
        first = json.dumps({"key": self._key(), "samples": seen}).encode()
        package.write_file(self.file, first + b"\n" + observed.saved())

    def finish(self) -> None:
        """Nothing is left to go on with."""
        self.file.unlink(missing_ok=True)

    def _key(self) -> str:
        return hashlib.sha256(self.identity.encode()).hexdigest()


def _peak() -> int:
    """Bytes that the largest of the processes had at its peak."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * _KIBI
