"""`lathe build`: from a deployment file to libraries, headers, models and an archive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from buildtool.cli.command import command
from buildtool.cli.convert import EmitOption, emitted
from buildtool.cli.options import (
    BuildOptions,
    DescriptionOptions,
    FallbackOption,
    OpPathOption,
)
from buildtool.cli.output import VERBOSE, Output
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
    depfile: DepfileOption = None,
    java: JavaOption = False,
    aar: AarOption = False,
    ndk_check: NdkCheckOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands without running them.")] = False,
    *,
    described: DescriptionOptions,
    out: Output,
) -> None:
    """Build the library of a deployment file, with its headers, models and reports."""
    from buildtool import workflow
    from buildtool.artifacts import depfile as dependencies
    from buildtool.reports import build as report
    from buildtool.requests import deployments, model_sources

    options = replace(asked.options(), emit=emitted(emit), archive=not no_archive, java=java, aar=aar)
    replaced = replace(asked.overrides(), op_paths=tuple(op_paths or ()), fallback=fallback)
    replaced = described.beside(replaced)
    if ndk_check:
        return _check_for_android(asked.source() if asked.file or asked.config else None, replaced, options, out)
    file = asked.source()
    read = dependencies.FilesRead() if depfile else None
    with out.progress() as progress:
        if dry_run:
            commands = workflow.commands(file, replaced, options, progress)
        else:
            built = workflow.build(file, replaced, options, progress)
            if read and depfile:
                deployment = deployments.load_deployment(file, replaced)
                dependencies.write(*depfile, model_sources.inputs_of(deployment, options, read))
    if dry_run:
        return out.document({"commands": list(commands)}, *commands)
    document = built.as_json()
    return out.document(document, *report.parts(document, verbose=out.verbosity >= VERBOSE))


def _check_for_android(file: Path | None, replaced: Overrides, options: Options, out: Output) -> None:
    from buildtool import workflow

    with out.progress() as progress:
        report = workflow.ndk_check(file, replaced, options, progress)
    out.document(report.as_json(), *report.parts())
    if not report.passed:
        raise typer.Exit(ValidationError.exit_code)


def register(app: typer.Typer) -> None:
    command(app, "build")(build)
