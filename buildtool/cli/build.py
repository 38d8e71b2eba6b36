"""`lathe build`: from a deployment file to libraries, headers, models and an archive."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from buildtool.cli import watching
from buildtool.cli.command import command
from buildtool.cli.convert import EmitOption, emitted
from buildtool.cli.options import (
    BuildOptions,
    DescriptionOptions,
    FallbackOption,
    OpPathOption,
    usual_output,
)
from buildtool.cli.output import VERBOSE, Output
from buildtool.cli.watching import Asking
from buildtool.errors import ValidationError
from buildtool.settings import Options, Overrides

DepfileOption: TypeAlias = Annotated[
    tuple[Path, str] | None,
    typer.Option("--depfile", metavar="FILE NAME", help="Write the dependencies of the build as a make rule for NAME."),
]
JavaOption: TypeAlias = Annotated[bool, typer.Option("--java", help="Add Java classes and their JNI binding.")]
AarOption: TypeAlias = Annotated[
    bool, typer.Option("--aar", help="Build <library>.aar for Android: --java, models and CMake headers.")
]
SelfCheckOption: TypeAlias = Annotated[
    bool, typer.Option("--no-self-check", help="Do not compare a planned run with one without shared memory.")
]
LiveOption: TypeAlias = Annotated[
    bool,
    typer.Option("--report-live", help="Let report/index.html run the models on files that are dropped on the page."),
]
NdkCheckOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--ndk-check",
        help="Check without an NDK that the library works on Android, and run it; without FILE, compile all sources.",
    ),
]


def build(
    asked: BuildOptions,
    emit: EmitOption = None,
    op_paths: OpPathOption = None,
    fallback: FallbackOption = "",
    no_archive: Annotated[bool, typer.Option("--no-archive", help="Do not pack the result.")] = False,
    no_self_check: SelfCheckOption = False,
    depfile: DepfileOption = None,
    java: JavaOption = False,
    aar: AarOption = False,
    report_live: LiveOption = False,
    ndk_check: NdkCheckOption = False,
    watch: Annotated[bool, typer.Option("--watch", help="Build again whenever a file changes, until Ctrl-C.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands without running them.")] = False,
    *,
    described: DescriptionOptions,
    out: Output,
) -> None:
    """Build the library of a deployment file, with its headers, models and reports."""
    options = replace(asked.options(), emit=emitted(emit), archive=not no_archive, java=java, aar=aar)
    options = replace(options, self_check=not no_self_check, live=report_live)
    replaced = replace(asked.overrides(), op_paths=tuple(op_paths or ()), fallback=fallback)
    replaced = described.beside(replaced)
    if ndk_check:
        return _check_for_android(asked.source() if asked.file or asked.config else None, replaced, options, out)
    asking = Asking(asked.source(), replaced, options)
    if dry_run:
        return _show_commands(asking, out)
    if watch:
        return watching.build_on_change(asking, lambda: build_or_reuse(asking, None, out), out)
    return build_or_reuse(asking, depfile, out)


def build_or_reuse(asking: Asking, depfile: tuple[Path, str] | None, out: Output) -> None:
    """Build, unless nothing has changed since the last build. That is found out before the slow modules are loaded."""
    from buildtool.artifacts import build_records
    from buildtool.reports import build as report

    began = time.monotonic()
    known = None if depfile else build_records.unchanged(asking.record())
    if known is not None:
        document, notes = known
        for abi in document["libraries"]:
            abi.update(reused=abi["reused"] + abi["compiled"], compiled=0, seconds=0.0)
        document["seconds"] = round(time.monotonic() - began, 3)
        for note in notes:
            out.note(note)
    else:
        document = _made(asking, depfile, out)
    parts = report.parts(document, verbose=out.verbosity >= VERBOSE)
    last = ["nothing has changed"] if known else []
    out.document({**document, "up_to_date": known is not None}, *parts, *last, *_next(asking, document))


def _next(asking: Asking, document: dict[str, Any]) -> list[str]:
    """The command that follows, with the words that lead to the same build."""
    if not document["libraries"] or asking.overrides.toolchains:
        return []
    said = asking.overrides
    named = {
        "--output": str(asking.options.output) if asking.options.output != usual_output(said.runtime) else None,
        "--target-abis": ",".join(said.target_abis),
        "--library-name": said.library_name,
        "--runtime": said.runtime,
        "--model-graph-format": said.model_graph_format,
        "--model-data-format": said.model_data_format,
    }
    words = ["lathe", "validate", str(asking.file)]
    words += [word for option, value in named.items() if value for word in (option, value)]
    words += ["--mace-compat"] if said.mace_compat else []
    words += ["--paddle-compat"] if said.paddle_compat else []
    words += ["--all-ops"] if said.all_ops else []
    words += ["--no-messages"] if said.messages is False else []
    return [f"next: {shlex.join(words)}"]


def _made(asking: Asking, depfile: tuple[Path, str] | None, out: Output) -> dict[str, Any]:
    from buildtool import workflow
    from buildtool.artifacts import depfile as dependencies
    from buildtool.requests import deployments, model_sources

    read = dependencies.FilesRead() if depfile else None
    with out.progress() as progress:
        built = workflow.build(asking.file, asking.overrides, asking.options, progress)
        if read and depfile:
            deployment = deployments.load_deployment(asking.file, asking.overrides)
            dependencies.write(*depfile, model_sources.inputs_of(deployment, asking.options, read))
    return built.as_json()


def _show_commands(asking: Asking, out: Output) -> None:
    from buildtool import workflow

    with out.progress() as progress:
        commands = workflow.commands(asking.file, asking.overrides, asking.options, progress)
    out.document({"commands": list(commands)}, *commands)


def _check_for_android(file: Path | None, replaced: Overrides, options: Options, out: Output) -> None:
    from buildtool import workflow

    with out.progress() as progress:
        report = workflow.ndk_check(file, replaced, options, progress)
    out.document(report.as_json(), *report.parts())
    if not report.passed:
        raise typer.Exit(ValidationError.exit_code)


def register(app: typer.Typer) -> None:
    command(app, "build")(build)
