"""`lathe convert`: models only, in the form that every library of the deployment can load."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    AbisOption,
    ConfigOption,
    FileArgument,
    LibraryOption,
    OutputOption,
    UnverifiedOption,
    deployment_file,
    overrides,
)
from buildtool.cli.output import Output
from buildtool.errors import ConfigError
from buildtool.settings import Options

EMITTABLE = ("ir", "plan", "source")

EmitOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--emit",
        metavar="|".join(EMITTABLE),
        help="Write down what stands between the stages as well: the optimised graph as text, "
        "the plans as JSON, the generated sources. Repeatable.",
    ),
]


def emitted(words: list[str] | None) -> frozenset[str]:
    """The checked values of --emit."""
    found = frozenset(word for item in words or () for word in item.replace(",", " ").split())
    unknown = sorted(found - set(EMITTABLE))
    if unknown:
        raise ConfigError(f"--emit cannot be '{unknown[0]}'", rule=f"allowed: {', '.join(EMITTABLE)}")
    return found


def convert(
    file: FileArgument = None,
    config: ConfigOption = None,
    output: OutputOption = Path("build"),
    target_abis: AbisOption = None,
    library_name: LibraryOption = None,
    emit: EmitOption = None,
    allow_unverified: UnverifiedOption = False,
    *,
    out: Output,
) -> None:
    """Convert the models of a deployment file; writes <library>/model and compiles nothing."""
    from buildtool import workflow
    from buildtool.reports import build as report

    with out.progress() as progress:
        converted = workflow.convert(
            deployment_file(file, config),
            overrides(target_abis, library_name),
            Options(output=output, emit=emitted(emit), allow_unverified=allow_unverified),
            progress,
        )
    document = converted.as_json()
    out.document(document, *report.parts(document))


def register(app: typer.Typer) -> None:
    command(app, "convert")(convert)
