"""`lathe check`: everything that is wrong with a deployment file and its models, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    AbisOption,
    ConfigOption,
    DescriptionOptions,
    FileArgument,
    OpPathOption,
    TrustOption,
    UnverifiedOption,
    deployment_file,
    words,
)
from buildtool.cli.output import Output
from buildtool.settings import Options, Overrides

if TYPE_CHECKING:
    from buildtool.reports.table import Table


def check(
    file: FileArgument = None,
    config: ConfigOption = None,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Also check the files that the deployment names.")
    ] = True,
    models: Annotated[bool, typer.Option("--models/--no-models", help="Also open the models, as a build does.")] = True,
    target_abis: AbisOption = None,
    op_paths: OpPathOption = None,
    allow_unverified: UnverifiedOption = False,
    trust_model_code: TrustOption = False,
    *,
    described: DescriptionOptions,
    out: Output,
) -> None:
    """Check a deployment file and the models that it names: all problems at once. Descriptions of networks for the
    MAX78000 and MAX78002 are checked layer by layer, and shown as a table."""
    from buildtool.artifacts import build_records

    source = deployment_file(file, config)
    overrides = described.beside(Overrides(target_abis=words(target_abis), op_paths=tuple(op_paths or ())))
    options = Options(allow_unverified=allow_unverified, trust_model_code=trust_model_code)
    known = build_records.unchanged(build_records.name_of("check", source, overrides, options))
    if known is not None:  # found out before the slow modules are loaded; these are files without descriptions
        document, notes = known
        layers: tuple[dict[str, Any], ...] = ()
    else:
        from buildtool import workflow

        with out.progress() as progress:
            checked = workflow.check(
                source, files=files, models=models, overrides=overrides, options=options, progress=progress
            )
        document, notes, layers = checked.as_json(), list(checked.notes), checked.descriptions
    if not out.json:
        for note in notes:
            out.note(note)
    out.document(
        {**document, **({"descriptions": [_without_kind(one) for one in layers]} if layers else {})},
        f"{source.name}: library {document['library']} with {', '.join(document['models'])} for "
        f"{', '.join(document['target_abis'])}: no mistakes",
        *_tables(layers),
    )


def _tables(layers: tuple[dict[str, Any], ...]) -> list[str | Table]:
    if not layers:
        return []
    from buildtool.reports import descriptions

    return [part for one in layers for part in descriptions.parts(one)]


def _without_kind(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "kind"}


def register(app: typer.Typer) -> None:
    command(app, "check")(check)
