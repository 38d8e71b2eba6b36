"""`lathe build`: from a deployment file to libraries, headers, models and an archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.convert import EmitOption, emitted
from buildtool.cli.options import (
    AbisOption,
    ConfigOption,
    DataFormatOption,
    FileArgument,
    GraphFormatOption,
    LibraryOption,
    MaceOption,
    MessagesOption,
    OpPathOption,
    OutputOption,
    ToolchainOption,
    UnverifiedOption,
    deployment_file,
    overrides,
)
from buildtool.cli.output import VERBOSE, Output
from buildtool.settings import Options


def build(
    file: FileArgument = None,
    config: ConfigOption = None,
    output: OutputOption = Path("build"),
    target_abis: AbisOption = None,
    library_name: LibraryOption = None,
    model_graph_format: GraphFormatOption = None,
    model_data_format: DataFormatOption = None,
    no_messages: MessagesOption = False,
    mace_compat: MaceOption = False,
    emit: EmitOption = None,
    allow_unverified: UnverifiedOption = False,
    toolchain: ToolchainOption = None,
    op_paths: OpPathOption = None,
    no_archive: Annotated[bool, typer.Option("--no-archive", help="Do not pack the result.")] = False,
    depfile: Annotated[
        tuple[Path, str] | None,
        typer.Option(
            "--depfile", metavar="FILE NAME", help="Write what the build depends on, as a rule of make for NAME."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands, run none of them.")] = False,
    *,
    out: Output,
) -> None:
    """Build the library of a deployment file, with everything that belongs to it."""
    from buildtool import requests, workflow
    from buildtool.reports import build as report
    from buildtool.reports import depfile as dependencies

    file = deployment_file(file, config)
    read = dependencies.FilesRead() if depfile else None

    with out.progress() as progress:
        options = Options(output=output, emit=emitted(emit), allow_unverified=allow_unverified, archive=not no_archive)
        formats = (model_graph_format, model_data_format)
        replaced = overrides(target_abis, library_name, *formats, no_messages, mace_compat, toolchain, op_paths)
        if dry_run:
            commands = workflow.commands(file, replaced, options, progress)
        else:
            built = workflow.build(file, replaced, options, progress)
            if read and depfile:
                deployment = requests.load_deployment(file, replaced)
                dependencies.write(*depfile, requests.inputs_of(deployment, options, read))
    if dry_run:
        out.document({"commands": list(commands)}, *commands)
        return
    document = built.as_json()
    out.document(document, *report.parts(document, verbose=out.verbosity >= VERBOSE))


def register(app: typer.Typer) -> None:
    command(app, "build")(build)
