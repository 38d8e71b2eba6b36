"""`lathe package`: firmware as the flash memory of a board takes it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    AbisOption,
    ConfigOption,
    FallbackOption,
    FileArgument,
    LibraryOption,
    OutputOption,
    TrustOption,
    UnverifiedOption,
    deployment_file,
    overrides,
)
from buildtool.cli.output import VERBOSE, Output
from buildtool.settings import Options


def package(
    file: FileArgument = None,
    config: ConfigOption = None,
    output: OutputOption = Path("build"),
    target_abis: AbisOption = None,
    library_name: LibraryOption = None,
    program: Annotated[
        Path | None,
        typer.Option("--program", metavar="FILE", help="A program of your own (.bin), not the one that is built."),
    ] = None,
    fallback: FallbackOption = "",
    allow_unverified: UnverifiedOption = False,
    trust_model_code: TrustOption = False,
    *,
    out: Output,
) -> None:
    """Build the firmware of a deployment file, and pack it for the flash memory of a board."""
    from buildtool import workflow
    from buildtool.reports import build as report

    options = Options(
        output=output, allow_unverified=allow_unverified, trust_model_code=trust_model_code, program=program
    )
    replaced = overrides(target_abis, library_name, fallback=fallback)
    with out.progress() as progress:
        built = workflow.package_firmware(deployment_file(file, config), replaced, options, progress)
    document = built.as_json()
    out.document(document, *report.parts(document, verbose=out.verbosity >= VERBOSE))


def register(app: typer.Typer) -> None:
    command(app, "package")(package)
