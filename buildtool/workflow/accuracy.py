"""How often a library is right: the scripts of `accuracy_validation_script` over all of their samples."""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from buildtool.builders import package
from buildtool.config import Deployment, ModelConfig
from buildtool.devices.choose import devices_for
from buildtool.devices.runner import notes_on_gpu
from buildtool.errors import ConfigError
from buildtool.reports.accuracy import AccuracyReport
from buildtool.reports.documents import BuildReport
from buildtool.requests import deployments, model_sources, runs
from buildtool.requests.deployments import load_deployment
from buildtool.running import clusters
from buildtool.settings import (
    DEFAULTS,
    EVERYTHING,
    HERE,
    NOTHING,
    SILENT,
    Labour,
    Options,
    Overrides,
    Progress,
    RunSettings,
)
from buildtool.validation import work
from buildtool.validation.journal import Journal
from buildtool.validation.plugin import Plugin
from buildtool.validation.work import Task
from buildtool.workflow import on_simulator, simulating
from buildtool.workflow.building import up_to_date


def measure_accuracy(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
    labour: Labour = HERE,
) -> AccuracyReport:
    """Run the scripts of the deployment for every ABI. A run that was killed goes on where it stood."""
    deployment = load_deployment(file, overrides, progress)
    settings = settings.on_chips(deployment.target_socs)
    scripts = _scripts(deployment, options, settings)
    if target := on_simulator.simulated(deployment):
        return simulating.measure_scripts(deployment, target, scripts, options, settings, progress, labour)
    built = up_to_date(deployment, options, progress)
    found = replace(built, folder=built.folder.resolve())  # workers may stand elsewhere
    results: list[dict[str, Any]] = []
    for abi in deployment.target_abis:
        for model, script in scripts:
            progress.stage(f"accuracy of {model.name} on {abi}: {script.name}")
            inputs, outputs = runs.specs(model)
            names = tuple(spec.name for spec in outputs)
            path = script.resolve()
            task = Task(path, found, abi, model.identifier, inputs, names, settings)
            results.append(_measured(task, built, labour, progress))
    report = AccuracyReport(built.library, built.folder, tuple(results))
    package.write_file(report.file, report.text().encode())
    return report


def _scripts(deployment: Deployment, options: Options, settings: RunSettings) -> list[tuple[ModelConfig, Path]]:
    """The scripts with their models. ConfigError where there is none."""
    fetch = functools.partial(model_sources.fetched, allow_unverified=options.allow_unverified)
    found = [
        (model, fetch(reference))
        for model in deployments.selected(deployment, settings.model)
        for reference in model_sources.subgraph(model).accuracy_validation_script
    ]
    if not found:
        raise ConfigError(
            "no model of this deployment has a script that measures its accuracy",
            where=deployment.where,
            remedy="name a script with accuracy_validation_script",
        )
    return found


def _measured(task: Task, built: BuildReport, labour: Labour, progress: Progress) -> dict[str, Any]:
    plugin = Plugin(task.script)
    device = devices_for(task.abi, task.settings)[0]
    device.close()
    gpu = work.ran_on(task)
    for note in notes_on_gpu(gpu, f"{device.name} ({task.abi})"):
        progress.note(note)
    file = built.folder / "report" / "accuracy" / task.abi / f"{task.model}.{task.script.stem}.jsonl"
    began = time.monotonic()
    with Journal(file, work.digest_of(task, plugin), fresh=labour.fresh) as journal:
        known = len(journal.records)
        left = [unit for unit in range(plugin.units) if unit not in journal.records]
        workers = clusters.size(labour.scheduler) if labour.scheduler else labour.workers
        parts = work.chunks(left, workers)
        if labour.scheduler:
            found = work.on_cluster(task, parts, labour.scheduler)
        else:
            found = work.here(task, parts, workers)
        for records in found:
            journal.add(records)
            progress.step(f"{len(journal.records)} of {plugin.units}")
        metrics = plugin.figures(work.as_units(journal.records))
        journal.finish()
    thresholds = plugin.thresholds
    return {
        "model": task.model,
        "abi": task.abi,
        "device": device.name,
        "script": task.script.name,
        "samples": plugin.samples,
        "resumed": known,
        "workers": workers,
        "scheduler": labour.scheduler,
        "metrics": metrics,
        "thresholds": thresholds,
        "passed": all(metrics.get(name, float("-inf")) >= least for name, least in thresholds.items()),
        "seconds": round(time.monotonic() - began, 3),
        **({"gpu": dict(gpu)} if gpu else {}),
    }
