"""`lathe package`: firmware as the flash memory of a board takes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    DeploymentOptions,
    FallbackOption,
)
from buildtool.cli.output import VERBOSE, Output


def package(
    asked: DeploymentOptions,
    program: Annotated[
        Path | None,
        typer.Option("--program", metavar="FILE", help="Pack your own program (.bin) instead of the built one."),
    ] = None,
    fallback: FallbackOption = "",
    *,
    out: Output,
) -> None:
    """Build the firmware of a deployment file, and pack it for the flash memory of a board."""
    from buildtool import workflow
    from buildtool.reports import build as report

    options, replaced = replace(asked.options(), program=program), replace(asked.overrides(), fallback=fallback)
    with out.progress() as progress:
        built = workflow.package_firmware(asked.source(), replaced, options, progress)
    document = built.as_json()
    out.document(document, *report.parts(document, verbose=out.verbosity >= VERBOSE))


def register(app: typer.Typer) -> None:
    command(app, "package")(package)
