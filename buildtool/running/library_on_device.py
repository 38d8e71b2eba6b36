"""A test stand: one library in one form on one device, ready to run its models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from buildtool.builders import hexagon, opencl_files
from buildtool.builders.objects import ObjectCache
from buildtool.builders.package import DEBUG
from buildtool.builders.runner import shared_runner, static_runner
from buildtool.devices import lathe_run
from buildtool.devices.choose import DSP_SIMULATOR, device_for
from buildtool.devices.device import Device
from buildtool.devices.runner import GpuFiles, Job, RunResult
from buildtool.errors import RunError, Where
from buildtool.running.compare import Comparison, Variant, compare_outputs, failed_outputs
from buildtool.running.metrics import Array
from buildtool.running.model_under_test import Subject
from buildtool.running.recorded_values import Values
from buildtool.settings import RunSettings


class Built(Protocol):
    """What the stand has to know of a build."""

    @property
    def folder(self) -> Path: ...
    @property
    def identifier(self) -> str: ...
    @property
    def graph_format(self) -> str: ...
    @property
    def data_format(self) -> str: ...
    @property
    def format(self) -> str: ...
    def file_of(self, abi: str, kind: str) -> Path: ...
    def runs_on_gpus(self, abi: str) -> bool: ...
    @property
    def dsp_programs(self) -> tuple[Path, ...]: ...


class LibraryOnDevice:
    """Runs models of one library. A context: the device is given back at its end."""

    def __init__(
        self,
        built: Built,
        abi: str,
        kind: str,
        settings: RunSettings,
        device: Device | None = None,
        program_abi: str = "",  # of the program around the library, where it is another one
    ) -> None:
        self._built = built
        self._abi = abi
        self._kind = kind
        self._settings = settings
        self._library = built.file_of(abi, kind)
        self._device = device or device_for(abi, settings.cpu)
        cache = ObjectCache()
        self._variables = _dsp_variables(built, cache) if self._device.name == DSP_SIMULATOR else {}
        self._gpu_programs = cache.folder / "gpu-programs"
        if kind == "shared":
            self._program = shared_runner(program_abi or abi, cache)
        else:
            self._program = static_runner(program_abi or abi, built.identifier, self._library, cache)

    def __enter__(self) -> LibraryOnDevice:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._device.close()

    @property
    def device(self) -> Device:
        return self._device

    @property
    def format(self) -> str:
        """How the library has its models: as files, or as code."""
        return self._built.format

    @property
    def program(self) -> Path:
        """The `lathe_run` that runs the library."""
        return self._program

    @property
    def measures_peak(self) -> bool:
        """Whether the program can find out what the processor can do at most: not from inside a module."""
        return self._program.suffix != ".mjs"

    def judge(self, subject: Subject) -> tuple[Comparison, ...]:
        """Run a model and compare. One that is refused or crashes has failed; the others are still tried."""
        variant = Variant(subject.name, self._abi, self._kind, self._built.format, self._device.name)
        expected, threshold, reference = subject.expected, subject.threshold, subject.reference
        try:
            result = self.run(subject.name, subject.inputs, list(subject.expected))
        except RunError as error:
            return failed_outputs(variant, expected, threshold, reference, error)
        variant = replace(variant, gpu=result.gpu)
        return compare_outputs(variant, result.outputs, expected, threshold, reference, subject.channels)

    def run(
        self,
        model: str,
        inputs: Mapping[str, Array],
        outputs: Sequence[str],
        settings: RunSettings | None = None,
        *,
        markers: bool = False,
        gpu_files: GpuFiles | None = None,
    ) -> RunResult:
        """Run a model, with other settings where there are some. RunError where the library refuses it or crashes."""
        job = self._job(model, inputs, outputs, settings or self._settings)
        return lathe_run.run(self._device, replace(job, markers=markers, gpu_files=gpu_files or job.gpu_files))

    def values(
        self, model: str, inputs: Mapping[str, Array], outputs: Sequence[str], file: Path, names: Sequence[str] = ()
    ) -> tuple[RunResult, Values]:
        """Run a model that keeps all inner values, and read them (those of these names); they are left in `file`."""
        job = self._job(model, inputs, outputs, replace(self._settings, rounds=1, profile=True))
        result = lathe_run.run(self._device, replace(job, values_file=file, value_names=names))
        return result, Values(file, result.value_names)

    def _job(self, model: str, inputs: Mapping[str, Array], outputs: Sequence[str], settings: RunSettings) -> Job:
        folder = self._built.folder / "model" / self._abi
        return Job(
            program=self._program,
            library=self._library if self._kind == "shared" else None,
            symbol=f"lathe_api_{self._built.identifier}",
            model=model,
            model_file=folder / f"{model}.pb" if self._built.graph_format == "file" else None,
            data_file=folder / f"{model}.data" if self._built.data_format == "file" else None,
            inputs=inputs,
            outputs=outputs,
            rounds=settings.rounds,
            profile=settings.profile,
            threads=settings.threads,
            timeout=settings.timeout,
            warmup=settings.warmup,
            affinity=settings.affinity,
            trace=settings.trace,
            symbols=self._built.folder / DEBUG / self._abi / self._library.name,
            gpu=settings.gpu if self._built.runs_on_gpus(self._abi) else None,
            gpu_programs=self._gpu_programs,
            gpu_files=GpuFiles(opencl_files.tuned_in(self._built.folder, model)),
            variables=self._variables,
        )

    def report(self, model: str, result: RunResult) -> dict[str, Any]:
        """A run in figures; writes the outputs where the settings say so."""
        outputs = result.summary()
        if self._settings.output_folder is not None:
            folder = self._settings.output_folder
            for output in outputs:
                output["file"] = str(result.save(output["name"], folder / self._abi / model))
        return {
            "model": model,
            "abi": self._abi,
            "kind": self._kind,
            "format": self._built.format,
            "device": self._device.name,
            "threads": max(self._settings.threads, 0),
            "rounds": self._settings.rounds,
            "milliseconds": result.milliseconds,
            "memory": dict(result.memory),
            "process_peak": result.process_peak,
            **({"affinity": dict(result.affinity)} if self._settings.affinity else {}),
            **({"gpu": dict(result.gpu)} if result.gpu else {}),
            **({"log": list(result.log)} if result.log else {}),
            "outputs": outputs,
        }


def _dsp_variables(built: Built, cache: ObjectCache) -> dict[str, str]:
    """With which the library finds the stand-in for a DSP, and there its program."""
    if not built.dsp_programs:
        raise RunError(
            "the library has no program for the DSP, and dsp-sim stands for one",
            where=Where(file=str(built.folder)),
            remedy="set `runtime: dsp`, which gives the DSP all that it can run, or choose another device",
        )
    return hexagon.simulator(cache).environment(built.dsp_programs[0].parent)
