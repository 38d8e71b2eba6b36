"""The stages of `lathe tune`: the processor's ways of computing each node, and the kernels of GPUs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from buildtool.artifacts import tuning_store
from buildtool.artifacts.tuning_store import GpuFile, Tuning, TuningReport
from buildtool.builders import opencl_files, package
from buildtool.config import Deployment, ModelConfig
from buildtool.devices.runner import GpuFiles, RunResult, notes_on_gpu
from buildtool.plan.algorithms import ALGORITHMS
from buildtool.reports.documents import BuildReport
from buildtool.requests import build_identity, deployments, runs
from buildtool.requests.deployments import load_deployment
from buildtool.running.library_on_device import LibraryOnDevice
from buildtool.settings import DEFAULTS, EVERYTHING, NOTHING, SILENT, Options, Overrides, Progress, RunSettings
from buildtool.workflow.building import make
from buildtool.workflow.libraries_on_devices import runs_of, stands_of
from buildtool.workflow.preparing import prepare

GPU_SECONDS = 300.0  # for each model on each device
_SLICE = 20.0  # seconds after which what was found is kept, so that it outlives Ctrl-C


def tune(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
    *,
    gpu_seconds: float = GPU_SECONDS,
) -> TuningReport:
    """Build every node in every way, measure, and build again with what was the fastest; then tune the kernels of GPUs.

    Later builds keep to it. `gpu_seconds`: the most that tuning takes for each model and GPU; what was found then is
    kept, and the next call goes on.
    """
    deployment = load_deployment(file, overrides, progress)
    deployments.library_target_of(deployment)  # firmware is refused before the long work
    known = build_identity.known_tuning(deployment, options)
    log = tuning_store.Log()
    chosen = deployments.selected(deployment, settings.model)
    if any(model.runtime.uses_cpu for model in chosen):
        _measure_ways(deployment, options, settings, progress, log)
        known = replace(known, measured=log.measured())
    gpus: tuple[dict[str, Any], ...] = ()
    built = make(deployment, options, progress, compiles=True, tuned=known)
    if any(model.runtime.uses_gpu for model in chosen):
        plain = built
        if known.gpu and built.graph_format == "code":  # inside of this library is what was found before
            without = replace(known, gpu=())
            plain = make(deployment, tuning_store.trial(options, "gpu"), progress, compiles=True, tuned=without)
        gpu = _GpuTuning(deployment, plain, built.folder, known, options, settings, progress)
        gpus = gpu.tune(gpu_seconds)
        built = make(deployment, options, progress, compiles=True, tuned=gpu.known)
    models = {model.config.identifier: (model.graph, model.config.winograd) for model in prepare(deployment, options)}
    measured = tuple(tuning_store.summary(item, *models[item.model]) for item in log.measured())
    return TuningReport(built.library, built.folder, measured, gpus)


def _measure_ways(
    deployment: Deployment, options: Options, settings: RunSettings, progress: Progress, log: tuning_store.Log
) -> None:
    trials = {
        way: make(deployment, tuning_store.trial(options, way), progress, compiles=True, everywhere=way)
        for way in ALGORITHMS
    }
    for _ in range(tuning_store.TURNS):  # in turns, so that a slow minute of the machine does not decide
        for way, trial in trials.items():
            for stand, model, result in runs_of(deployment, trial, options, replace(settings, profile=True), progress):
                log.add(stand.report(model.identifier, result), way, result.nodes)


class _GpuTuning:
    """Tunes the kernels of a library's models on every device; `known` is what is known by now.

    `built`: the library without what was found; that is in `folder`, and goes there.
    """

    def __init__(
        self,
        deployment: Deployment,
        built: BuildReport,
        folder: Path,
        known: Tuning,
        options: Options,
        settings: RunSettings,
        progress: Progress,
    ) -> None:
        self.known = known
        self._deployment = deployment
        self._built = built
        self._folder = folder
        self._options = options
        self._settings = replace(settings, profile=False)
        self._progress = progress

    def tune(self, seconds: float) -> tuple[dict[str, Any], ...]:
        """Every model with parts for a GPU on every device; what came of it."""
        found = []
        with tempfile.TemporaryDirectory(prefix="lathe-tune-") as name:
            for abi, stand in stands_of(self._deployment, self._built, self._settings):
                for model in deployments.selected(self._deployment, self._settings.model):
                    if model.runtime.uses_gpu:
                        report = self._tune_model(stand, abi, model, seconds, Path(name))
                        found += [report] if report else []
        return tuple(found)

    def _tune_model(
        self, stand: LibraryOnDevice, abi: str, model: ModelConfig, seconds: float, folder: Path
    ) -> dict[str, Any] | None:
        self._progress.stage(f"tune {model.name} on the GPU of {stand.device.name}")
        inputs, outputs = runs.run_of(model, self._options, self._settings)
        began = time.monotonic()
        until = began + seconds
        tuned, first, before = folder / "tuned.bin", folder / "known.bin", b""
        name = ""
        while True:
            left = max(until - time.monotonic(), 0.0)
            known = (first,) if name else opencl_files.tuned_in(self._folder, model.identifier)
            files = GpuFiles(known, max(int(min(left, _SLICE) * 1000), 1), tuned)
            result = stand.run(model.identifier, inputs, outputs, replace(self._settings, rounds=1), gpu_files=files)
            for note in notes_on_gpu(result.gpu, stand.device.name):
                self._progress.note(note)
            data = tuned.read_bytes()
            if result.gpu.get("kind") != "gpu" or not data:
                return None
            name = name or opencl_files.tuned_name(model.identifier, *_place(stand, result))
            self._keep(name, abi, data)
            first.write_bytes(data)
            if data == before or time.monotonic() >= until:
                break
            before = data
        report = self._measure(stand, abi, model, tuned, folder)
        (section,) = opencl_files.parse(data)
        usual, best = section.gain()
        return {
            "model": model.identifier,
            "abi": abi,
            "device": stand.device.name,
            "gpu": result.gpu["name"],
            "file": str(self._folder / name),
            "tuned": len(section.entries),
            "complete": data == before,
            "kernels_usual_ns": usual,
            "kernels_tuned_ns": best,
            "seconds": round(time.monotonic() - began, 3),
            **report,
        }

    def _measure(
        self, stand: LibraryOnDevice, abi: str, model: ModelConfig, tuned: Path, folder: Path
    ) -> dict[str, Any]:
        """The model without tuning and with it, in turns; the programs that the latter needs are kept."""
        inputs, outputs = runs.run_of(model, self._options, self._settings)
        programs = folder / "programs.bin"
        ways = {"usual": GpuFiles((), 0), "tuned": GpuFiles((tuned,), 0, None, programs)}
        times: dict[str, list[float]] = {way: [] for way in ways}
        settings = replace(self._settings, warmup=max(self._settings.warmup, 2))
        for _ in range(tuning_store.TURNS):
            for way, files in ways.items():
                result = stand.run(model.identifier, inputs, outputs, settings, gpu_files=files)
                times[way].append(result.milliseconds)
        if data := programs.read_bytes():
            self._keep(opencl_files.programs_name(self._built.library, *_place(stand, result)), abi, data)
        return {f"{way}_ms": min(found) for way, found in times.items()}

    def _keep(self, name: str, abi: str, data: bytes) -> None:
        """What was found goes to where builds look for it."""
        files = {file.path: file for file in self.known.gpu}
        whole = opencl_files.merge([data, files[name].data] if name in files else [data])
        files[name] = GpuFile(name, abi, whole)
        self.known = replace(self.known, gpu=tuple(files.values()))
        for path, contents in self.known.files().items():
            package.write_file(self._folder / path, contents)


def _place(stand: LibraryOnDevice, result: RunResult) -> tuple[str, str]:
    """Words for a device and its chip, as MACE names files: those of this machine are `host` and the GPU's name."""
    said: Mapping[str, str] = result.device
    if stand.device.abi == "host":
        return "host", result.gpu["name"]
    return said.get("model") or stand.device.name, said.get("soc") or result.gpu["name"]
