"""From a library to results: the stages of `lathe run` and `validate`, and a library in this process."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from buildtool.builders import elf, package
from buildtool.devices.choose import devices_for
from buildtool.devices.in_process import LoadedModel, load_library
from buildtool.devices.runner import notes_on_cores, notes_on_gpu
from buildtool.errors import Problem
from buildtool.reports import build_page
from buildtool.reports.documents import BuildReport, RunReport, ValidationReport
from buildtool.requests import deployments, runs
from buildtool.requests.deployments import load_deployment
from buildtool.running.compare import Comparison
from buildtool.running.library_on_device import LibraryOnDevice
from buildtool.settings import DEFAULTS, EVERYTHING, NOTHING, SILENT, Options, Overrides, Progress, RunSettings
from buildtool.workflow import checked_tensors, kept_results, on_emulator, on_simulator
from buildtool.workflow.building import up_to_date
from buildtool.workflow.libraries_on_devices import like_abi, runs_of


def run(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
) -> RunReport:
    """Run the models of a library, on this machine or in an emulator. Builds what is not up to date."""
    deployment = load_deployment(file, overrides, progress)
    if target := on_simulator.simulated(deployment):
        return on_simulator.run(deployment, target, options, settings, progress)
    if boards := on_emulator.emulated(deployment):
        return on_emulator.run(deployment, boards, options, settings, progress)
    chosen = deployments.selected(deployment, settings.model)  # unknown models are reported before the long work
    for model in chosen if settings.inputs else ():
        runs.run_of(model, options, settings)  # refuses files that do not fit before anything is compiled
    built = up_to_date(deployment, options, progress)
    ran, noted = [], set()
    for stand, model, result in runs_of(deployment, built, options, settings, progress):
        ran.append(stand.report(model.identifier, result))
        found = (
            *notes_on_cores(result.affinity, stand.device.name),
            *notes_on_gpu(result.gpu, f"{stand.device.name} ({stand.device.abi})"),
        )
        for note in found:
            if note not in noted:
                progress.note(note)
            noted.add(note)
    return RunReport(built.library, built.folder, tuple(ran))


def validate(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
) -> ValidationReport:
    """Compare a library with its source models: every ABI, shared and static. Builds what is not up to date."""
    deployment = load_deployment(file, overrides, progress)
    if target := on_simulator.simulated(deployment):
        report = on_simulator.validate(deployment, target, options, settings, progress)
        kept_results.keep(deployment, options, report)
        return report
    if boards := on_emulator.emulated(deployment):
        report = on_emulator.validate(deployment, boards, options, settings, progress)
        kept_results.keep(deployment, options, report)
        return report
    chosen = deployments.selected(deployment, settings.model)
    subjects = [runs.subject(deployment, model, options, settings, progress) for model in chosen]
    builds = [up_to_date(deployment, options, progress)]
    if settings.all_variants:
        other = "file" if deployment.model_graph_format == "code" else "code"
        changed = replace(deployment, model_graph_format=other, model_data_format=other)
        builds.append(up_to_date(changed, replace(options, output=options.output / "variants" / other), progress))
    results: list[Comparison] = []
    for built, abi, kind in itertools.product(builds, deployment.target_abis, settings.kinds):
        if kind == "static" and settings.kinds == EVERYTHING.kinds and not built.library_for(abi).static:
            continue  # there is none
        like = like_abi(deployment, built, abi)
        for device in devices_for(like, settings.on_chips(deployment.target_socs)):
            progress.stage(f"validate {built.format} {kind} on {abi}, {device.name}")
            with LibraryOnDevice(built, abi, kind, settings, device, like) as stand:
                for subject in subjects:
                    results += stand.judge(subject)
    results += checked_tensors.comparisons(deployment, builds[0], options, settings, progress)
    ran = [(result.variant.gpu, f"{result.variant.device} ({result.variant.abi})") for result in results]
    for note in dict.fromkeys(note for gpu, place in ran for note in notes_on_gpu(gpu, place)):
        progress.note(note)
    failed = {result.variant.model for result in results if not result.passed}
    for subject in subjects:
        if subject.quantises and subject.name in failed:
            progress.note(_amplified(subject.name))
    report = ValidationReport(
        builds[0].library, builds[0].folder, subjects[0].reference, tuple(result.as_json() for result in results)
    )
    package.write_file(report.file, report.text().encode())
    build_page.refresh(report.folder)
    return report


def _amplified(model: str) -> Problem:
    return Problem(
        f"the model '{model}' quantises numbers by their own range as it runs",
        rule="the last bit of a number decides which step it takes, and all numbers behind it differ with that",
        remedy="to check each node on its own: lathe validate --layers",
    )


def load(
    thing: BuildReport | Path | str, model: str | None = None, *, threads: int = 0, progress: Progress = SILENT
) -> LoadedModel:
    """A model ready to run NumPy arrays on this machine: of a build, a `.so`, or a deployment file (which is built)."""
    if isinstance(thing, BuildReport):
        library_file = thing.file_of("host", "shared")
    elif Path(thing).suffix in (".yml", ".yaml"):
        deployment = load_deployment(thing, Overrides(target_abis=("host",)), progress)
        library_file = up_to_date(deployment, DEFAULTS, progress).file_of("host", "shared")
    else:
        library_file = Path(thing)
    inside = elf.inspect_library(library_file).library if library_file.is_file() else ""
    return load_library(library_file, model, threads, identifier=inside or None)
