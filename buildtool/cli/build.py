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
    OutputOption,
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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands, run none of them.")] = False,
    *,
    out: Output,
) -> None:
    """Build the library of a deployment file, with everything that belongs to it."""
    from buildtool import workflow
    from buildtool.reports import build as report

    with out.progress() as progress:
        options = Options(output=output, emit=emitted(emit), allow_unverified=allow_unverified)
        replaced = overrides(target_abis, library_name, model_graph_format, model_data_format, no_messages, mace_compat)
        if dry_run:
            commands = workflow.commands(deployment_file(file, config), replaced, options, progress)
        else:
            built = workflow.build(deployment_file(file, config), replaced, options, progress)
    if dry_run:
        out.document({"commands": list(commands)}, *commands)
        return
    document = built.as_json()
    out.document(document, *report.parts(document, verbose=out.verbosity >= VERBOSE))


def register(app: typer.Typer) -> None:
    command(app, "build")(build)
