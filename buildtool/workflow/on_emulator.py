"""`lathe run`, `validate` and `bench` on emulated boards: programs for bare chips are built, and run in qemu."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from buildtool.builders.built import BuiltFirmware
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.builders.qemu_plugin import mark_plugin
from buildtool.config import Deployment, ModelConfig
from buildtool.devices.runner import RunResult
from buildtool.errors import LatheError, RunError, ToolchainError, UnsupportedError
from buildtool.reports.benchmark import BenchReport
from buildtool.reports.documents import RunReport, ValidationReport
from buildtool.requests import deployments, runs
from buildtool.running.compare import Comparison, Variant, compare_outputs, failed_outputs
from buildtool.running.metrics import Array
from buildtool.settings import BenchSettings, Options, Progress, RunSettings
from buildtool.targets.protocol import Emulated, EmulatedTarget, Emulation, FirmwareProgram, FirmwareTarget
from buildtool.workflow import firmware

_SEMIHOSTING = ("-semihosting-config", "enable=on,target=native")
_QUIET = ("-nographic", "-monitor", "none", "-serial", "none")


@dataclass(frozen=True)
class Board:
    """A model built for a chip, ready to run."""

    target: EmulatedTarget
    program: FirmwareProgram
    firmware: BuiltFirmware
    model: ModelConfig
    cache: ObjectCache
    timeout: float

    def run(self, inputs: Mapping[str, Array]) -> Ran:
        """RunError where the emulator ends otherwise than it should."""
        about = self.target.emulation(self.program, self.model.identifier, inputs)
        image = next(each for each in self.firmware.images if each.name == about.image)
        with TemporaryDirectory(prefix="lathe-emulated-") as place:
            folder = Path(place)
            (folder / "program.elf").write_bytes(image.elf)
            for name, data in about.files.items():
                (folder / name).write_bytes(data)
            words = self._words(about, folder / "program.elf")
            began = time.perf_counter()
            _execute(words, folder, self.timeout, about.package, self.program.abi)
            seconds = time.perf_counter() - began
            try:
                found = {name: (folder / name).read_bytes() for name in about.made}
                marks = _marks(folder / "counts") if about.emulator else None
            except (OSError, ValueError, IndexError) as error:
                raise RunError(f"the program did not finish on the {about.device}: {error}") from error
        if marks is not None and len(marks) != 2:
            raise RunError(f"the program passed {len(marks)} marks on the {about.device}, not 2")
        result = self.target.emulated(self.program, self.model.identifier, found)
        return Ran(result, None if marks is None else marks[1] - marks[0] - 1, about.device, seconds)

    def _words(self, about: Emulation, program: Path) -> tuple[str, ...]:
        """What starts it in its folder."""
        if not about.emulator:
            program.chmod(0o700)
            return (str(program),)
        counting = ("-plugin", f"{mark_plugin(self.cache)},out=counts", "-d", "plugin")
        return (about.emulator, *about.machine, *_QUIET, *_SEMIHOSTING, *counting, "-kernel", program.name)


def _marks(file: Path) -> list[int]:
    return [int(line.split()[1]) for line in file.read_text().splitlines()]


@dataclass(frozen=True)
class Ran:
    """A run on an emulated board."""

    result: Emulated
    instructions: int | None  # None where nobody counts
    device: str
    seconds: float  # of this machine

    def figures(self) -> dict[str, int]:
        counted = {"instructions": self.instructions, "nanoseconds": self.result.nanoseconds}
        return {
            **{key: value for key, value in counted.items() if value is not None},
            "stack_bytes": self.result.stack_bytes,
            "arena_bytes": self.result.arena_bytes,
        }


def _execute(words: tuple[str, ...], folder: Path, timeout: float, needed: str, abi: str) -> None:
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)
    except FileNotFoundError as error:
        raise ToolchainError(
            f"'{words[0]}' is missing: this machine cannot run programs for {abi}",
            rule="programs for bare chips run in an emulator",
            remedy=f"install it with: apt-get install {needed}",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise RunError(f"the program did not end within {timeout:g} s", remedy="give it more: --timeout") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise RunError(f"{words[0]} ended with code {done.returncode}", rule=said[0] if said else "")


def emulated(deployment: Deployment) -> EmulatedTarget | None:
    """The target of a deployment, where its programs run in an emulator."""
    target = deployments.target_of(deployment)
    return target if isinstance(target, FirmwareTarget) and isinstance(target, EmulatedTarget) else None


def run(
    deployment: Deployment, target: EmulatedTarget, options: Options, settings: RunSettings, progress: Progress
) -> RunReport:
    """Every model on every chip."""
    found = []
    for board in boards(deployment, target, options, settings, progress):
        progress.stage(f"run {board.model.name} on {board.program.abi}")
        ran = board.run(runs.run_of(board.model, options, settings)[0])
        found.append(_report(board, ran, settings))
    return RunReport(deployment.library_name, deployments.output_folder(deployment, options), tuple(found))


def validate(
    deployment: Deployment, target: EmulatedTarget, options: Options, settings: RunSettings, progress: Progress
) -> ValidationReport:
    """Every model on every chip, against its source model."""
    results: list[Comparison] = []
    references = set()
    for board in boards(deployment, target, options, settings, progress):
        subject = runs.subject(deployment, board.model, options, settings, progress)
        references.add(subject.reference)
        about = (subject.expected, subject.threshold, subject.reference)
        variant = Variant(board.model.identifier, board.program.abi, "firmware", "code", "emulator")
        try:
            ran = board.run(subject.inputs)
        except LatheError as error:
            results += failed_outputs(variant, *about, error)
            continue
        variant = replace(variant, device=ran.device)
        results += compare_outputs(variant, ran.result.outputs, *about, subject.channels)
    folder = deployments.output_folder(deployment, options)
    told = tuple(result.as_json() for result in results)
    return ValidationReport(deployment.library_name, folder, " and ".join(sorted(references)), told)


def bench(
    deployment: Deployment,
    target: EmulatedTarget,
    options: Options,
    settings: RunSettings,
    wishes: BenchSettings,
    progress: Progress,
) -> BenchReport:
    """Instructions, memory and sizes of every model on every chip."""
    asked = {
        "--compare": wishes.compare,
        "--against": wishes.against,
        "--filter": wishes.only,
        "--peak": any(wishes.peak),
        "--trace": wishes.trace,
        "--power": wishes.power,
    }
    if words := [word for word, wanted in asked.items() if wanted]:
        raise UnsupportedError(
            f"{' and '.join(words)} is not available for an emulated chip",
            where=deployment.where_of("target_abis"),
            rule="the emulator counts the instructions of whole models",
            remedy=f"leave out {' and '.join(words)}",
        )
    counted = []
    for board in boards(deployment, target, options, settings, progress):
        progress.stage(f"measure {board.model.name} on {board.program.abi}")
        ran = board.run(runs.run_of(board.model, options, settings)[0])
        (archive,) = board.firmware.archives
        figures = next(each for each in board.program.models if each.name == board.model.identifier)
        counted.append(
            {
                "model": board.model.identifier,
                "abi": board.program.abi,
                "device": ran.device,
                "macs": figures.macs,
                **ran.figures(),
                "code_bytes": archive.code_bytes,
                "constant_bytes": archive.constant_bytes,
            }
        )
    folder = deployments.output_folder(deployment, options)
    return BenchReport(deployment.library_name, folder, (), emulated=tuple(counted))


def boards(
    deployment: Deployment, target: EmulatedTarget, options: Options, settings: RunSettings, progress: Progress
) -> Iterator[Board]:
    """Every chosen model built for every chip."""
    assert isinstance(target, FirmwareTarget)
    chosen = replace(deployment, models=deployments.selected(deployment, settings.model))
    cache = ObjectCache(processes=Processes(echo=progress.step), note=progress.note)
    programs, built = firmware.compile_only(chosen, target, options, progress, cache)
    for program, made in zip(programs, built, strict=True):
        for model in chosen.models:
            yield Board(target, program, made, model, cache, settings.timeout)


def _report(board: Board, ran: Ran, settings: RunSettings) -> dict[str, Any]:
    """A run in figures; the time is that of this machine. Writes the outputs where the settings say so."""
    took = ran.result.nanoseconds
    result = RunResult(ran.result.outputs, ran.seconds * 1e3 if took is None else took / 1e6)
    outputs = result.summary()
    if settings.output_folder is not None:
        for output in outputs:
            place = settings.output_folder / board.program.abi / board.model.identifier
            output["file"] = str(result.save(output["name"], place))
    return {
        "model": board.model.identifier,
        "abi": board.program.abi,
        "kind": "firmware",
        "device": ran.device,
        "threads": 1,
        "rounds": 1,
        "milliseconds": result.milliseconds,
        "memory": {"arena": ran.result.arena_bytes},
        "process_peak": 0,
        "emulated": ran.figures(),
        "outputs": outputs,
    }
