"""How right a simulated chip is: accuracy over many samples, and the first layer that differs from what was written."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from buildtool import archives
from buildtool.builders import package
from buildtool.builders.device_simulators import device_simulator
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.config import Deployment, ModelConfig
from buildtool.errors import ConfigError, RunError, UnsupportedError, ValidationError, Where
from buildtool.reports.accuracy import AccuracyReport
from buildtool.requests import deployments, runs
from buildtool.requests.deployments import load_deployment
from buildtool.running.inputs import fit
from buildtool.running.metrics import Array
from buildtool.settings import (
    DEFAULTS,
    EVERYTHING,
    NOTHING,
    SILENT,
    Labour,
    Options,
    Overrides,
    Progress,
    RunSettings,
)
from buildtool.targets.protocol import ComparedTarget, FirmwareProgram, ScoredTarget, SimulatedTarget
from buildtool.targets.registry import all_targets
from buildtool.validation.plugin import Plugin
from buildtool.validation.work import fed
from buildtool.workflow import on_simulator

_LABELLED = "an .npz with `samples`, of [number, …] in the format of the input, and `labels`, integers"


@dataclass(frozen=True)
class Labelled:
    """Samples that come with the right answers."""

    file: Path
    top: int = 1  # right is what has its label among so many answers
    threads: int = 0  # 0: one per core


def measure_labelled(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
    *,
    labelled: Labelled,
) -> AccuracyReport:
    """How often the models of a library are right on a chip that is simulated. Nothing is compiled for the chip."""
    deployment = load_deployment(file, overrides, progress)
    target = on_simulator.simulated(deployment)
    if target is None or not isinstance(target, ScoredTarget):
        raise UnsupportedError(
            f"--labelled is for chips whose simulator counts correct labels: {_chips(ScoredTarget)}",
            where=deployment.where,
            remedy="name a script in accuracy_validation_script, and say --accuracy",
        )
    samples, labels = _read(labelled.file)
    simulator = device_simulator(
        target.simulator, ObjectCache(processes=Processes(echo=progress.step), note=progress.note)
    )
    results = []
    for program, model in on_simulator.programs(deployment, target, options, settings, progress):
        inputs = _inputs(deployment, program, model, samples, labelled.file)
        found = target.score(
            program, model.identifier, inputs, labels, simulator, top=labelled.top, threads=labelled.threads
        )
        told = {"confusion": found.confusion, "wrong": found.wrong}
        figures = {f"top{labelled.top}": found.share}
        entry = _entry(program.abi, model, labelled.file, len(labels), labelled.threads or 1, found.seconds)
        results.append({**entry, "metrics": figures, "thresholds": {}, "passed": True, **told})
    return _written(deployment, options, results)


def measure_scripts(
    deployment: Deployment,
    target: SimulatedTarget,
    scripts: Sequence[tuple[ModelConfig, Path]],
    options: Options,
    settings: RunSettings,
    progress: Progress,
    labour: Labour,
) -> AccuracyReport:
    """The scripts of `accuracy_validation_script`, each over all of its samples, in this process."""
    if labour.scheduler or labour.workers != 1 or labour.fresh:
        word = "--scheduler" if labour.scheduler else "--workers" if labour.workers != 1 else "--fresh"
        raise UnsupportedError(
            f"{word} is for libraries",
            where=deployment.where,
            rule="samples on a simulated chip are computed in one process, and a run cannot be resumed",
            remedy=f"leave out {word}",
        )
    results = []
    for program, model in on_simulator.programs(deployment, target, options, settings, progress):
        mine = [path for of_model, path in scripts if of_model == model]
        results += [_measured(deployment, target, program, model, script, progress) for script in mine]
    return _written(deployment, options, results)


def compare_dumped(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
    *,
    folder: Path,
) -> tuple[str, ...]:
    """Compare every layer with the files of a folder, as `dump` writes them; the result in words.

    ValidationError where something differs: it names the first wrong layer, channel and pixel of each model.
    """
    deployment = load_deployment(file, overrides, progress)
    target = on_simulator.simulated(deployment)
    if target is None or not isinstance(target, ComparedTarget):
        raise UnsupportedError(
            f"--compare is for chips whose simulator reports layers: {_chips(ComparedTarget)}",
            where=deployment.where,
            remedy="`lathe validate --layers` compares the nodes of a library with its source",
        )
    same: list[str] = []
    different: list[str] = []
    for program, model in on_simulator.programs(deployment, target, options, settings, progress):
        inputs = on_simulator.inputs_of(deployment, program, model, options, settings)
        place = folder / program.abi / model.identifier
        found = target.compare(program, model.identifier, inputs, place if place.is_dir() else folder)
        (same if found.same else different).append(f"{model.identifier} on {program.abi}: {found.text}")
    if different:
        raise ValidationError("\n".join(different), where=Where(file=str(folder)))
    return tuple(same)


def _chips(kind: type) -> str:
    """The chips of the targets that can do something."""
    able = (target for target in all_targets().values() if isinstance(target, kind))
    return ", ".join(abi for target in able for abi in target.capabilities.abis)


def _measured(
    deployment: Deployment,
    target: SimulatedTarget,
    program: FirmwareProgram,
    model: ModelConfig,
    script: Path,
    progress: Progress,
) -> dict[str, Any]:
    plugin = Plugin(script.resolve())
    specs = () if on_simulator.is_described(deployment, model) else runs.specs(model)[0]
    began = time.monotonic()
    records = []
    for unit in range(plugin.units):
        given: Mapping[str, Array]
        if specs:
            given = fed(plugin, unit, specs)
        else:
            given = {name: np.asarray(value) for name, value in plugin.inputs(unit).items()}
        records.append(plugin.record(unit, on_simulator.outputs_of(target, program, model, given)))
        progress.step(f"{len(records)} of {plugin.units}")
    metrics, thresholds = plugin.figures(records), plugin.thresholds
    return {
        **_entry(program.abi, model, script, plugin.samples, 1, time.monotonic() - began),
        "metrics": metrics,
        "thresholds": thresholds,
        "passed": all(metrics.get(name, float("-inf")) >= least for name, least in thresholds.items()),
    }


def _entry(abi: str, model: ModelConfig, source: Path, samples: int, workers: int, seconds: float) -> dict[str, Any]:
    return {
        "model": model.identifier,
        "abi": abi,
        "device": on_simulator.DEVICE,
        "script": source.name,
        "samples": samples,
        "resumed": 0,
        "workers": workers,
        "scheduler": "",
        "seconds": round(seconds, 3),
    }


def _written(deployment: Deployment, options: Options, results: Sequence[dict[str, Any]]) -> AccuracyReport:
    folder = deployments.output_folder(deployment, options)
    report = AccuracyReport(deployment.library_name, folder, tuple(results))
    if folder.is_dir():  # of a build that was made
        package.write_file(report.file, report.text().encode())
    return report


def _inputs(
    deployment: Deployment, program: FirmwareProgram, model: ModelConfig, samples: Array, file: Path
) -> list[Mapping[str, Array]]:
    """Each sample as the program takes it."""
    if on_simulator.is_described(deployment, model):
        if samples.dtype.kind not in "iu":
            what = f"the samples are of {samples.dtype}"
            raise RunError(what, where=Where(file=str(file)), rule="integers from -128 to 127")
        return [{on_simulator.DESCRIBED_INPUT: sample} for sample in samples]
    specs, _ = runs.specs(model)
    if len(specs) != 1:
        where = Where(file=str(file), model=model.name)
        raise ConfigError(f"the model has {len(specs)} inputs", where=where, rule="--labelled needs a model with one")
    borders, where = on_simulator.borders_of(program, model), Where(file=str(file), value=specs[0].name)
    kind = specs[0].dtype.numpy
    return [borders.real({specs[0].name: fit(sample.astype(kind), specs[0], where)}) for sample in samples]


def _read(file: Path) -> tuple[Array, list[int]]:
    """The arrays `samples` and `labels` of an .npz."""
    where = Where(file=str(file))
    try:
        archives.verify_file(file)
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            samples, labels = arrays["samples"], arrays["labels"]
    except OSError as error:
        raise RunError(f"cannot read the file: {error.strerror or error}", where=where, rule=_LABELLED) from None
    except (ValueError, KeyError, TypeError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise RunError(f"the file does not contain labelled samples: {error}", where=where, rule=_LABELLED) from None
    if samples.ndim < 2 or samples.dtype.kind not in "iuf" or labels.ndim != 1 or labels.dtype.kind not in "iu":
        found = f"samples of {samples.dtype} in {samples.ndim} dimensions, labels of {labels.dtype} in {labels.ndim}"
        raise RunError(found, where=where, rule=_LABELLED)
    return samples, [int(label) for label in labels]
