"""The stages that libraries and firmware share: compiling in the cache, and writing all that a build made at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from buildtool.artifacts import bill_of_materials, fingerprints, output_tree
from buildtool.builders import package
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.config import Deployment
from buildtool.reports import build_page
from buildtool.reports.documents import BuildReport, FirmwareReport, LibraryReport, ModelReport
from buildtool.requests import build_identity, deployments
from buildtool.settings import Options, Progress
from buildtool.targets.protocol import TargetProgram

BuiltT = TypeVar("BuiltT")


class Lowered(Protocol):
    """A program for one ABI, whatever its target."""

    @property
    def abi(self) -> str: ...


@dataclass(frozen=True)
class Made:
    """What the stages before have made of a deployment."""

    identity: str  # of everything that decides what is built
    models: tuple[ModelReport, ...]
    contents: Mapping[str, bytes | Path]
    emitted: tuple[str, ...] = ()  # of `contents`, what options asked for
    programs: Sequence[TargetProgram] = ()  # of libraries
    built: Sequence[BuiltLibrary] = ()
    libraries: tuple[LibraryReport, ...] = ()
    firmware: tuple[FirmwareReport, ...] = ()
    compilers: Mapping[str, str] = field(default_factory=dict)  # of firmware, by ABI
    live: Mapping[str, Any] = field(default_factory=dict)  # what the page needs to run the models
    measured: Mapping[str, bytes] = field(default_factory=dict)  # files of what was measured before


def compiled(
    deployment: Deployment,
    programs: Sequence[Lowered],
    options: Options,
    progress: Progress,
    build: Callable[[str], BuiltT],
) -> BuiltT:
    """What `build` makes; it gets the owner of its folder in the cache."""
    progress.stage(f"compile for {', '.join(program.abi for program in programs)}")
    return build(deployments.owner_of(deployment, options))


def dry_cache() -> tuple[ObjectCache, Processes]:
    """A cache that only notes what would be run."""
    processes = Processes(dry_run=True)
    return ObjectCache(processes=processes), processes


def finish(deployment: Deployment, options: Options, made: Made, began: float) -> BuildReport:
    """The output folder with everything in it, reports and archive included."""
    report = BuildReport(
        library=deployment.library_name,
        identifier=deployment.library_identifier,
        version=fingerprints.version(),
        graph_format=deployment.model_graph_format,
        data_format=deployment.model_data_format,
        fingerprint=made.identity,
        models=made.models,
        libraries=made.libraries,
        firmware=made.firmware,
        folder=deployments.output_folder(deployment, options),
    )
    contents = {**made.contents, **output_tree.reports(report), **made.measured}
    origin = build_identity.origin(deployment, options, made.identity)
    contents.update(bill_of_materials.files(origin, made.built, contents, made.compilers))
    contents.update(build_page.files(report, made.programs, contents, made.live))
    packed = package.assemble(report.folder, deployment.library_name, contents, packed=options.archive)
    archive = packed.name if packed else ""
    return replace(report, archive=archive, emitted=made.emitted, seconds=time.monotonic() - began)
