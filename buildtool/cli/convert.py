"""`lathe convert`: models only, in the form that every library of the deployment can load, or as ONNX files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    DeploymentOptions,
    DescriptionOptions,
    FormOptions,
)
from buildtool.cli.output import Output
from buildtool.errors import ConfigError
from buildtool.settings import Options, Overrides

EMITTABLE = ("ir", "plan", "source")
FORMATS = ("lathe", "onnx")

EmitOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--emit",
        metavar="|".join(EMITTABLE),
        help="Also write intermediate results: the optimised graph as text, "
        "the plans as JSON, the generated sources. Repeatable.",
    ),
]

AfterOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--after",
        metavar="PASS",
        help="With --emit=ir: also print and write the graph after the first run of this pass.",
    ),
]

ToOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="|".join(FORMATS),
        help="Output format: models for libraries, or the optimised graphs as ONNX files, <output>/<model>.onnx.",
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
            raise ConfigError("--after selects a graph to write, but --emit=ir is missing", remedy="add --emit=ir")
    return name


def convert(
    asked: FormOptions,
    emit: EmitOption = None,
    after: AfterOption = "",
    to: ToOption = FORMATS[0],
    *,
    described: DescriptionOptions,
    out: Output,
) -> None:
    """Convert the models of a deployment file; writes <library>/model and compiles nothing.

    With `--to onnx` the optimised graphs become ONNX models, which other runtimes take.
    """
    from buildtool import workflow
    from buildtool.reports import build as report

    kinds = emitted(emit)
    if to not in FORMATS:
        raise ConfigError(f"--to cannot be '{to}'", rule=f"allowed: {', '.join(FORMATS)}")
    if to != FORMATS[0]:
        if kinds or after:
            raise ConfigError(
                f"--{'emit' if kinds else 'after'} cannot be combined with --to {to}", remedy="leave one out"
            )
        _export(asked.source(), DeploymentOptions.overrides(asked), asked.options(), out)
        return
    options = replace(asked.options(), emit=kinds, after=checked_pass(after, kinds))
    with out.progress() as progress:
        converted = workflow.convert(asked.source(), described.beside(asked.overrides()), options, progress)
    document = converted.as_json()
    shown = [file for file in converted.emitted if after and file.endswith(f".after_{after}.ir")]
    graphs = [(converted.folder / file).read_text() for file in shown]
    out.document(document, *graphs, *report.parts(document))


def _export(file: Path, changed: Overrides, options: Options, out: Output) -> None:
    from buildtool import workflow
    from buildtool.reports import exports

    with out.progress() as progress:
        document = workflow.export(file, changed, options, progress).as_json()
    out.document(document, *exports.parts(document))


def register(app: typer.Typer) -> None:
    command(app, "convert")(convert)
