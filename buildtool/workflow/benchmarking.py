"""From a library to how fast it is: the stages of `lathe bench`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from buildtool.benchmark import comparison, counting, measurement, node_facts, single_operators, trace
from buildtool.benchmark.roofline import Peak
from buildtool.benchmark.single_operators import Case
from buildtool.builders import package
from buildtool.builders.objects import ObjectCache
from buildtool.builders.runner import operator_runner
from buildtool.config import Deployment, ModelConfig
from buildtool.devices import lathe_run
from buildtool.devices.choose import devices_for
from buildtool.devices.qemu import QemuDevice
from buildtool.devices.runner import RunResult, notes_on_gpu
from buildtool.errors import ConfigError, DeviceError, Problem, UnsupportedError, Where
from buildtool.ops.registry import registry
from buildtool.reports import build_page, cycles
from buildtool.reports.benchmark import BenchReport, read_document
from buildtool.reports.documents import BuildReport, read_build
from buildtool.requests import deployments, runs
from buildtool.requests.deployments import load_deployment
from buildtool.running.library_on_device import LibraryOnDevice
from buildtool.settings import (
    DEFAULTS,
    EVERYTHING,
    NOTHING,
    SILENT,
    BenchSettings,
    Options,
    Overrides,
    Progress,
    RunSettings,
)
from buildtool.targets.protocol import SimulatedTarget
from buildtool.workflow import kept_results, on_emulator, on_simulator
from buildtool.workflow.building import up_to_date

_COUNTED = "instructions of one thread, not seconds: times in an emulator do not represent any processor"


def bench(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    wishes: BenchSettings | None = None,
    progress: Progress = SILENT,
) -> BenchReport:
    """Measure the models of a library, on every ABI and device. Builds what is not up to date."""
    wishes = wishes or BenchSettings()
    earlier = (
        read_document(wishes.compare) if wishes.compare else None
    )  # missing files are reported before the long work
    deployment = load_deployment(file, overrides, progress)
    if target := on_simulator.simulated(deployment):
        return _estimated(deployment, target, options, settings, wishes, progress)
    if boards := on_emulator.emulated(deployment):
        counted = on_emulator.bench(deployment, boards, options, settings, wishes, progress)
        kept_results.keep(deployment, options, counted)
        return counted
    if wishes.power is not None:
        raise UnsupportedError(
            "--power is for simulated chips",
            where=deployment.where_of("target_abis"),
            remedy="remove it: energy is measured where the machine reports it",
        )
    chosen = deployments.selected(deployment, settings.model)
    for model in chosen if settings.inputs else ():
        runs.run_of(model, options, settings)
    built = up_to_date(deployment, options, progress)
    if wishes.only:
        return _single_operators(deployment, built, options, settings, wishes, progress)
    other = _other(wishes.against, options, overrides, progress) if wishes.against else None
    measurements, against = [], []
    for stand, model, facts in _stands(deployment, built, settings):
        progress.stage(f"measure {model.name} on {stand.device.abi}, {stand.device.name}")
        measurements.append(_measure(stand, model, facts, (options, settings, wishes), progress))
        if other is not None:
            progress.stage(f"compare {model.name} on {stand.device.abi}, {stand.device.name}")
            against.append(_against(stand, model, other, (options, settings, wishes), progress))
    report = BenchReport(
        built.library,
        built.folder,
        tuple(measurements),
        compared=tuple(comparison.with_earlier(measurements, earlier)) if earlier else (),
        against=tuple(against),
    )
    package.write_file(report.file, report.text().encode())
    build_page.refresh(built.folder)
    if wishes.trace is not None:
        package.write_file(wishes.trace, trace.text(measurements).encode())
    return report


def _estimated(
    deployment: Deployment,
    target: SimulatedTarget,
    options: Options,
    settings: RunSettings,
    wishes: BenchSettings,
    progress: Progress,
) -> BenchReport:
    """Of chips that are simulated: how long each layer takes by their arithmetic."""
    asked = {
        "--compare": wishes.compare,
        "--against": wishes.against,
        "--filter": wishes.only,
        "--peak": any(wishes.peak),
        "--trace": wishes.trace,
    }
    if words := [word for word, wanted in asked.items() if wanted]:
        raise UnsupportedError(
            f"{' and '.join(words)} is not available for a simulated chip",
            where=deployment.where_of("target_abis"),
            rule="cycles are computed from the layers, not measured",
            remedy=f"leave out {' and '.join(words)}",
        )
    estimates = []
    for program, model in on_simulator.programs(deployment, target, options, settings, progress):
        found = dict(target.estimate(program, model.identifier))
        if wishes.power is not None:
            found = cycles.powered(found, *wishes.power)
        estimates.append({"model": model.identifier, "abi": program.abi, "estimate": found})
    folder = deployments.output_folder(deployment, options)
    report = BenchReport(deployment.library_name, folder, (), estimates=tuple(estimates))
    kept_results.keep(deployment, options, report)
    return report


def _single_operators(
    deployment: Deployment,
    built: BuildReport,
    options: Options,
    settings: RunSettings,
    wishes: BenchSettings,
    progress: Progress,
) -> BenchReport:
    """The operators of all models, each alone. The result is printed, not stored."""
    groups = []
    for abi in deployment.target_abis:
        for device in devices_for(abi, settings.on_chips(deployment.target_socs)):
            with LibraryOnDevice(built, abi, "shared", settings, device) as stand:
                for model in deployments.selected(deployment, settings.model):
                    progress.stage(f"measure operators of {model.name} on {abi}, {device.name}")
                    found = single_operators.of_model(
                        built.folder, abi, model.identifier, deployment.op_paths, wishes.only
                    )
                    what = {"model": model.identifier, "abi": abi, "device": device.name}
                    groups.append({**what, **_operators(stand, built, found, settings)})
    return BenchReport(built.library, built.folder, (), operators=tuple(groups))


def _operators(
    stand: LibraryOnDevice, built: BuildReport, cases: Sequence[Case], settings: RunSettings
) -> dict[str, Any]:
    device = stand.device
    with TemporaryDirectory(prefix="lathe-bench-") as folder:
        file = Path(folder) / "cases.bench"
        file.write_bytes(single_operators.encode(cases))
        library = device.push(built.file_of(device.abi, "shared"))
        program = operator_runner(device.abi, ObjectCache())
        command: list[str | PurePosixPath] = [device.push(program), device.push(file), "--library", library]
        command += ["--symbol", f"lathe_api_{built.identifier}", "--fastest", "--json", "-", "--threads"]

        def timed() -> list[dict[str, Any]]:
            return single_operators.results(device.run([*command, str(max(0, settings.threads))], settings.timeout))

        def marked() -> list[dict[str, Any]]:
            return single_operators.results(device.run([*command, "1", "--markers"], settings.timeout))

        if not isinstance(device, QemuDevice):
            return {"unit": "seconds", "note": "", "results": timed()}
        counted = counting.count(device, marked)
        if counted.result is None:
            note = f"these are times of the emulator and do not represent any processor: {counted.problem}"
            return {"unit": "seconds", "note": note, "results": timed()}
        bounds = {case.name: case.bound for case in cases}
        rows = [
            {**row, **vars(count), "bound": bounds[row["name"]]}
            for row, count in zip(counted.result, counting.of_operators(counted.markers), strict=True)
        ]
        return {"unit": "instructions", "note": _COUNTED, "results": rows}


_Wishes = tuple[Options, RunSettings, BenchSettings]


def _stands(
    deployment: Deployment, built: BuildReport, settings: RunSettings
) -> Iterator[tuple[LibraryOnDevice, ModelConfig, list[dict[str, Any]]]]:
    """Every model on every ABI and device, with what its graph says."""
    operators = registry(deployment.op_paths)
    for abi in deployment.target_abis:
        for device in devices_for(abi, settings.on_chips(deployment.target_socs)):
            with LibraryOnDevice(built, abi, "shared", settings, device) as stand:
                for model in deployments.selected(deployment, settings.model):
                    yield stand, model, node_facts.of_model(built.folder, abi, model.identifier, operators)


def _measure(
    stand: LibraryOnDevice, model: ModelConfig, facts: list[dict[str, Any]], wishes: _Wishes, progress: Progress
) -> dict[str, Any]:
    options, settings, bench_settings = wishes
    device = stand.device
    what = {"model": model.identifier, "abi": device.abi, "device": device.name, "threads": max(settings.threads, 0)}
    inputs, outputs = runs.run_of(model, options, settings)
    note = ""
    if isinstance(device, QemuDevice):
        once = replace(settings, rounds=1, warmup=2, threads=1, profile=False)
        counted = counting.count(device, lambda: stand.run(model.identifier, inputs, outputs, once, markers=True))
        if counted.result is not None:
            _tell_of_gpu(counted.result, stand, progress)
            figures = measurement.counted(counted.result, counting.of_run(counted.markers), facts)
            note = _COUNTED
            return {**what, "threads": 1, "properties": dict(device.properties()), "note": note, **figures}
        note = f"these are seconds of the emulator and do not represent any processor: {counted.problem}"
    result = stand.run(model.identifier, inputs, outputs, replace(settings, profile=True))
    if note:
        progress.note(Problem(f"on {device.abi} {note}", rule="compare them only with runs of this emulator"))
    _tell_of_gpu(result, stand, progress)
    peak = None if note else _peak(stand, settings, bench_settings)
    return {**what, "properties": dict(result.device), "note": note, **measurement.timed(result, facts, peak)}


def _tell_of_gpu(result: RunResult, stand: LibraryOnDevice, progress: Progress) -> None:
    for note in notes_on_gpu(result.gpu, f"{stand.device.name} ({stand.device.abi})"):
        progress.note(note)


def _peak(stand: LibraryOnDevice, settings: RunSettings, wishes: BenchSettings) -> Peak | None:
    if any(wishes.peak):
        return Peak.given(*wishes.peak)
    if not stand.measures_peak:
        return None
    return Peak.measured(lathe_run.peak(stand.device, stand.program, settings.threads, settings.timeout))


def _other(place: Path, options: Options, overrides: Overrides, progress: Progress) -> BuildReport:
    """The other library: a folder that a build made, or a deployment file, which is built beside the first one."""
    if place.suffix in (".yml", ".yaml"):
        own = replace(options, output=options.output / "variants" / "against", archive=False)
        return up_to_date(load_deployment(place, Overrides(target_abis=overrides.target_abis), progress), own, progress)
    found = read_build(place)
    if found is None or not found.libraries:
        raise ConfigError(
            "this is not a build to compare with",
            where=Where(file=str(place)),
            rule="--against takes the folder of a build (<output>/<library>), or a deployment file",
        )
    return found


def _against(
    stand: LibraryOnDevice, model: ModelConfig, other: BuildReport, wishes: _Wishes, progress: Progress
) -> Mapping[str, Any]:
    """The two libraries in turns, on one device with the same inputs."""
    options, settings, bench_settings = wishes
    inputs, outputs = runs.run_of(model, options, settings)
    names = [item.name for item in other.models]
    theirs = model.identifier if model.identifier in names else names[0]
    if theirs != model.identifier and len(names) > 1:
        raise ConfigError(
            f"the other library has no model '{model.identifier}'", rule=f"its models: {', '.join(names)}"
        )
    second = LibraryOnDevice(other, stand.device.abi, "shared", settings, stand.device)
    entry = {
        "model": model.identifier,
        "abi": stand.device.abi,
        "device": stand.device.name,
        "other": str(other.folder),
    }
    if isinstance(stand.device, QemuDevice):
        counts = [
            _instructions(item, name, wishes, inputs) for item, name in ((stand, model.identifier), (second, theirs))
        ]
        return {**entry, "unit": "instructions", **comparison.exact(*counts)}
    burst = replace(settings, profile=False, warmup=max(1, settings.warmup // bench_settings.pairs))

    def own_run() -> RunResult:
        return stand.run(model.identifier, inputs, outputs, burst)

    def other_run() -> RunResult:
        return second.run(theirs, inputs, (), burst)

    return {**entry, "unit": "seconds", **comparison.interleaved(own_run, other_run, bench_settings.pairs)}


def _instructions(stand: LibraryOnDevice, model: str, wishes: _Wishes, inputs: Mapping[str, Any]) -> int:
    _, settings, _ = wishes
    assert isinstance(stand.device, QemuDevice)
    once = replace(settings, rounds=1, warmup=2, threads=1, profile=False)
    counted = counting.count(stand.device, lambda: stand.run(model, inputs, (), once, markers=True))
    if counted.result is None:
        raise DeviceError(
            f"instructions cannot be counted on {stand.device.name}: {counted.problem}",
            rule="an emulator compares instruction counts only",
        )
    return counting.of_run(counted.markers).run.instructions
