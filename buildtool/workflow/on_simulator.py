"""`lathe run` and `lathe validate` for chips that this machine can simulate: nothing is compiled or loaded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.builders import package
from buildtool.config import Deployment, ModelConfig
from buildtool.devices.runner import RunResult
from buildtool.errors import ConfigError, LatheError
from buildtool.passes.real_borders import Borders
from buildtool.reports.documents import RunReport, ValidationReport
from buildtool.requests import deployments, model_sources, runs
from buildtool.running.compare import Comparison, Variant, compare_outputs, failed_outputs
from buildtool.running.metrics import DIFFERENT, Array
from buildtool.settings import Options, Progress, RunSettings
from buildtool.targets.protocol import FirmwareProgram, FirmwareTarget, SimulatedTarget
from buildtool.tensors.files import saved
from buildtool.workflow import firmware

DEVICE = "simulator"
DESCRIBED_INPUT = "input"  # what the one input of a description is called
_EXACT = "files, to the last bit"


def simulated(deployment: Deployment) -> SimulatedTarget | None:
    """The target of a deployment, where its programs can be simulated here."""
    target = deployments.target_of(deployment)
    return target if isinstance(target, FirmwareTarget) and isinstance(target, SimulatedTarget) else None


def run(
    deployment: Deployment, target: SimulatedTarget, options: Options, settings: RunSettings, progress: Progress
) -> RunReport:
    """Every model on every chip."""
    runs = []
    for program, model in programs(deployment, target, options, settings, progress):
        inputs = _inputs(deployment, model, options, settings)
        began = time.perf_counter()
        outputs = outputs_of(target, program, model, inputs)
        result = RunResult(outputs, (time.perf_counter() - began) * 1e3)
        told = report(program.abi, model.identifier, result, settings)
        runs.append({**told, "estimate": dict(target.estimate(program, model.identifier))})
    return RunReport(deployment.library_name, deployments.output_folder(deployment, options), tuple(runs))


def dump(
    deployment: Deployment,
    target: SimulatedTarget,
    options: Options,
    settings: RunSettings,
    progress: Progress,
    folder: Path,
) -> tuple[Path, ...]:
    """Write what every layer puts out as text: `<folder>/<abi>/<model>/layer-<number>-<name>.txt`."""
    places = []
    for program, model in programs(deployment, target, options, settings, progress):
        place = folder / program.abi / model.identifier
        read = inputs_of(deployment, program, model, options, settings)
        for name, text in target.intermediates(program, model.identifier, read).items():
            package.write_file(place / name, text)
        places.append(place)
    return tuple(places)


def validate(
    deployment: Deployment, target: SimulatedTarget, options: Options, settings: RunSettings, progress: Progress
) -> ValidationReport:
    """Graphs are compared with their source models, descriptions with the outputs that the deployment names."""
    results: list[Comparison] = []
    references = set()
    for program, model in programs(deployment, target, options, settings, progress):
        variant = Variant(model.identifier, program.abi, "firmware", "code", DEVICE)
        if is_described(deployment, model):
            results += _described(program, model, variant, target, options, settings)
            references.add(_EXACT)
            continue
        subject = runs.subject(deployment, model, options, settings, progress)
        references.add(subject.reference)
        about = (subject.expected, subject.threshold, subject.reference)
        try:
            outputs = outputs_of(target, program, model, subject.inputs)
        except LatheError as error:
            results += failed_outputs(variant, *about, error)
            continue
        results += compare_outputs(variant, outputs, *about, subject.channels)
    folder = deployments.output_folder(deployment, options)
    told = tuple(result.as_json() for result in results)
    return ValidationReport(deployment.library_name, folder, " and ".join(sorted(references)), told)


def programs(
    deployment: Deployment, target: SimulatedTarget, options: Options, settings: RunSettings, progress: Progress
) -> Iterator[tuple[FirmwareProgram, ModelConfig]]:
    assert isinstance(target, FirmwareTarget)
    chosen = deployments.selected(deployment, settings.model)
    _, programs = firmware.lower(replace(deployment, models=chosen), target, options, progress)
    for program in programs:
        for model in chosen:
            progress.stage(f"simulate {model.name} on {program.abi}")
            yield program, model


def outputs_of(
    target: SimulatedTarget, program: FirmwareProgram, model: ModelConfig, inputs: Mapping[str, Array]
) -> Mapping[str, Array]:
    """As the model has its inputs and outputs."""
    borders = borders_of(program, model)
    return borders.stored(target.simulate(program, model.identifier, borders.real(inputs)))


def borders_of(program: FirmwareProgram, model: ModelConfig) -> Borders:
    return next((source.borders for source in program.library.models if source.name == model.identifier), Borders())


def is_described(deployment: Deployment, model: ModelConfig) -> bool:
    target = deployments.target_of(deployment)
    return isinstance(target, FirmwareTarget) and target.capabilities.reads(model.platform)


def inputs_of(
    deployment: Deployment, program: FirmwareProgram, model: ModelConfig, options: Options, settings: RunSettings
) -> Mapping[str, Array]:
    """As the program has them."""
    return borders_of(program, model).real(_inputs(deployment, model, options, settings))


def _inputs(deployment: Deployment, model: ModelConfig, options: Options, settings: RunSettings) -> Mapping[str, Array]:
    """Of a description those that are given now: else it has a sample."""
    if is_described(deployment, model):
        return {name: saved(file) for name, file in settings.inputs.items()}
    return runs.run_of(model, options, settings)[0]


def _described(
    program: FirmwareProgram,
    model: ModelConfig,
    variant: Variant,
    target: SimulatedTarget,
    options: Options,
    settings: RunSettings,
) -> Iterator[Comparison]:
    """The outputs in the order of their layers with those of the files."""
    _, files = model_sources.recorded(model, options.allow_unverified)
    if not files or settings.inputs:
        raise ConfigError(
            f"there are no expected outputs for '{model.name}'",
            where=model.where,
            remedy="name .npy files of its outputs in `validation_outputs_data`",
        )
    outputs = target.simulate(program, model.identifier, {})
    for (name, found), file in zip(outputs.items(), files, strict=False):
        yield _exact(variant, name, found, file)


def _exact(variant: Variant, name: str, found: Array, file: Path) -> Comparison:
    expected = saved(file)
    problem, metrics = "", DIFFERENT
    if found.size != expected.size:
        problem = f"{found.size} elements, but {file.name} has {expected.size}"
    else:
        expected = expected.reshape(found.shape)
        (comparison,) = compare_outputs(variant, {name: found}, {name: expected}, 0.0, _EXACT)
        metrics = comparison.metrics
        if not np.array_equal(found, expected):
            at = tuple(int(place) for place in np.argwhere(found != expected)[0])
            place = ", ".join(
                f"{word} {number}" for word, number in zip(("channel", "row", "column"), at, strict=False)
            )
            problem = f"{place}: {found[at]} instead of {expected[at]}"
    return Comparison(variant, name, tuple(found.shape), metrics, 0.0, _EXACT, problem)


def report(abi: str, model: str, result: RunResult, settings: RunSettings) -> dict[str, Any]:
    """A run in figures; the time is that of this machine. Writes the outputs where the settings say so."""
    outputs = result.summary()
    if settings.output_folder is not None:
        for output in outputs:
            output["file"] = str(result.save(output["name"], settings.output_folder / abi / model))
    return {
        "model": model,
        "abi": abi,
        "kind": "firmware",
        "device": DEVICE,
        "threads": 1,
        "rounds": 1,
        "milliseconds": result.milliseconds,
        "memory": {},
        "process_peak": 0,
        "outputs": outputs,
    }
