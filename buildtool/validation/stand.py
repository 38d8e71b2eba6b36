"""A test stand: one library in one form on one device, ready to run its models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from buildtool.builders.objects import ObjectCache
from buildtool.builders.runner import shared_runner, static_runner
from buildtool.devices import lathe_run
from buildtool.devices.choose import device_for
from buildtool.devices.runner import Job, RunResult
from buildtool.errors import RunError
from buildtool.settings import RunSettings
from buildtool.validation.compare import Comparison, Variant, compare_outputs, failed_outputs
from buildtool.validation.metrics import Array
from buildtool.validation.subject import Subject


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


class Stand:
    """Runs models of one library. A context: the device is given back at its end."""

    def __init__(self, built: Built, abi: str, kind: str, settings: RunSettings) -> None:
        self._built = built
        self._abi = abi
        self._kind = kind
        self._settings = settings
        self._library = built.file_of(abi, kind)
        self._device = device_for(abi, settings.cpu)
        cache = ObjectCache()
        if kind == "shared":
            self._program = shared_runner(abi, cache)
        else:
            self._program = static_runner(abi, built.identifier, self._library, cache)

    def __enter__(self) -> Stand:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._device.close()

    def judge(self, subject: Subject) -> tuple[Comparison, ...]:
        """Run a model and compare. One that is refused or crashes has failed; the others are still tried."""
        variant = Variant(subject.name, self._abi, self._kind, self._built.format, self._device.name)
        expected, threshold, reference = subject.expected, subject.threshold, subject.reference
        try:
            outputs = self.run(subject.name, subject.inputs, list(subject.expected)).outputs
        except RunError as error:
            return failed_outputs(variant, expected, threshold, reference, error)
        return compare_outputs(variant, outputs, expected, threshold, reference)

    def run(self, model: str, inputs: Mapping[str, Array], outputs: Sequence[str]) -> RunResult:
        """Run a model. RunError where the library refuses it or crashes."""
        folder = self._built.folder / "model" / self._abi
        settings = self._settings
        job = Job(
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
        )
        return lathe_run.run(self._device, job)

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
            "outputs": outputs,
        }
