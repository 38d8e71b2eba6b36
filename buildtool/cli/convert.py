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


AfterOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--after",
        metavar="PASS",
        help="With --emit=ir: print and write the graph as it stands when this pass has run for the first time, too.",
    ),
]


def emitted(words: list[str] | None) -> frozenset[str]:
    """The checked values of --emit."""
    found = frozenset(word for item in words or () for word in item.replace(",", " ").split())
    unknown = sorted(found - set(EMITTABLE))
    if unknown:
        raise ConfigError(f"--emit cannot be '{unknown[0]}'", rule=f"allowed: {', '.join(EMITTABLE)}")
    return found


def checked_pass(name: str, emit: frozenset[str]) -> str:
    """The checked value of --after."""
    if name:
        from buildtool.passes import pipeline

        pipeline.select([name])
        if "ir" not in emit:
            raise ConfigError("--after says which graph to write, and none is asked for", remedy="add --emit=ir")
    return name


def convert(
    file: FileArgument = None,
    config: ConfigOption = None,
    output: OutputOption = Path("build"),
    target_abis: AbisOption = None,
    library_name: LibraryOption = None,
    emit: EmitOption = None,
    after: AfterOption = "",
    allow_unverified: UnverifiedOption = False,
    *,
    out: Output,
) -> None:
    """Convert the models of a deployment file; writes <library>/model and compiles nothing."""
    from buildtool import workflow
    from buildtool.reports import build as report

    kinds = emitted(emit)
    options = Options(output=output, emit=kinds, after=checked_pass(after, kinds), allow_unverified=allow_unverified)
    with out.progress() as progress:
        converted = workflow.convert(
            deployment_file(file, config),
            overrides(target_abis, library_name),
            options,
            progress,
        )
    document = converted.as_json()
    shown = [file for file in converted.emitted if after and file.endswith(f".after_{after}.ir")]
    graphs = [(converted.folder / file).read_text() for file in shown]
    out.document(document, *graphs, *report.parts(document))


def register(app: typer.Typer) -> None:
    command(app, "convert")(convert)
