"""From a deployment to a debugger that has stopped in its library: the stages of `lathe debug`."""

from __future__ import annotations

import contextlib
import functools
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from buildtool import resources
from buildtool.builders.library import work_folder
from buildtool.builders.objects import ObjectCache
from buildtool.builders.package import DEBUG
from buildtool.builders.process import Processes
from buildtool.builders.runner import shared_runner
from buildtool.devices import gdb, lathe_run
from buildtool.devices.choose import devices_for
from buildtool.devices.device import Device, Gate
from buildtool.devices.runner import Job
from buildtool.errors import ConfigError
from buildtool.requests import deployments, runs
from buildtool.requests.deployments import load_deployment
from buildtool.settings import (
    DEFAULTS,
    EVERYTHING,
    NOTHING,
    SILENT,
    DebugSettings,
    Options,
    Overrides,
    Progress,
    RunSettings,
)
from buildtool.workflow.building import up_to_date

Item = TypeVar("Item")


@dataclass(frozen=True)
class Debugging:
    """A program with a library that debuggers can read, ready to be started on a device."""

    device: Device
    gdb: str
    job: Job
    library: Path
    sources: tuple[Path, ...]
    folder: Path  # for files that commands by hand need
    wishes: DebugSettings

    def start(self) -> None:
        """Let gdb talk to whoever sits here, until it ends. Nothing is left of the program then."""
        with contextlib.closing(self.device), tempfile.TemporaryDirectory(prefix="lathe-debug-") as name:
            folder = Path(name)
            arguments = functools.partial(lathe_run.arguments, self.job, folder)
            with self.device.debugging(arguments, self.wishes.server) as gate:
                gdb.talk(self._gdb(folder, gate))

    def by_hand(self) -> list[str]:
        """The same as commands for a shell. Their files are written; nothing is started."""
        self.folder.mkdir(parents=True, exist_ok=True)
        gate, lines = self.device.by_hand(functools.partial(lathe_run.arguments, self.job, self.folder))
        return [*lines, shlex.join(self._gdb(self.folder, gate))]

    def _gdb(self, folder: Path, gate: Gate) -> list[str]:
        file = folder / "start.gdb"
        text = gdb.script(gate, self.job.program, self.library, self.job.symbol, self.sources)
        file.write_text(text, encoding="utf-8")
        return gdb.command(self.gdb, file, self.wishes.commands, batch=self.wishes.batch)


def debug(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    wishes: DebugSettings = DebugSettings(),  # noqa: B008 (frozen)
    progress: Progress = SILENT,
) -> Debugging:
    """Build a library with lines, types and frames beside the usual one, and all that it takes to run a model of it.

    One model on one device for one ABI: ConfigError where the deployment and the settings leave several.
    """
    deployment = load_deployment(file, overrides, progress)
    abi = _one(deployment.target_abis, "ABIs", deployment.target_abis, "--abi")
    models = deployments.selected(deployment, settings.model)
    devices = devices_for(abi, settings.on_chips(deployment.target_socs))
    config = _one(models, "models", [model.name for model in models], "--model")
    device = _one(devices, "devices", [device.name for device in devices], "--device")
    program = gdb.find(abi, wishes.program)
    aside = replace(options, output=options.output / "variants" / "debug", archive=False, debuggable=True)
    built = up_to_date(deployment, aside, progress)
    progress.stage(f"prepare {config.name} for {device.name}")
    cache = ObjectCache(processes=Processes(echo=progress.step), note=progress.note)
    inputs, _ = runs.run_of(config, options, settings)
    folder = built.folder.absolute()
    models_folder = folder / "model" / abi
    library = folder / DEBUG / abi / built.file_of(abi, "shared").name
    job = Job(
        program=shared_runner(abi, cache, debuggable=True),
        library=library,
        symbol=f"lathe_api_{built.identifier}",
        model=config.identifier,
        model_file=models_folder / f"{config.identifier}.pb" if built.graph_format == "file" else None,
        data_file=models_folder / f"{config.identifier}.data" if built.data_format == "file" else None,
        inputs=inputs,
        outputs=(),
        threads=max(settings.threads, 1),  # those who step through a program want one thread, unless they say so
    )
    generated = work_folder(cache, deployments.owner_of(deployment, aside), deployment.library_name) / "tree"
    sources = (resources.root(), generated, *deployment.op_paths)
    session = folder.with_name(f"{folder.name}.session") / abi / config.identifier
    return Debugging(device, program, job, library, sources, session, wishes)


def _one(items: Sequence[Item], what: str, names: Sequence[str], option: str) -> Item:
    if len(items) == 1:
        return items[0]
    raise ConfigError(
        f"a debugger takes one of {len(items)} {what}: {', '.join(names)}", remedy=f"choose it with {option}"
    )
