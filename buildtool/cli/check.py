"""`lathe check`: everything that is wrong with a deployment file, at once."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    AbisOption,
    ConfigOption,
    DescriptionOptions,
    FileArgument,
    deployment_file,
    words,
)
from buildtool.cli.output import Output
from buildtool.settings import Overrides


def check(
    file: FileArgument = None,
    config: ConfigOption = None,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Also check the files that the deployment names.")
    ] = True,
    target_abis: AbisOption = None,
    *,
    described: DescriptionOptions,
    out: Output,
) -> None:
    """Check a deployment file: all problems at once, and notes on what is known but not built yet. Descriptions of
    networks for the MAX78000 and MAX78002 are checked layer by layer, and shown as a table."""
    from buildtool import workflow
    from buildtool.reports import descriptions
    from buildtool.requests import library_sources

    checked = workflow.check(
        deployment_file(file, config),
        files=files,
        overrides=described.beside(Overrides(target_abis=words(target_abis))),
    )
    deployment = checked.deployment
    models = [
        library_sources.described(model)
        for model in deployment.models
        if descriptions.reader_of(model.platform) is not None
    ]
    layers, found = descriptions.documents(models if files else [], deployment.target_abis)
    notes = (*checked.notes, *found)
    if not out.json:
        for note in notes:
            out.note(note)
    names = ", ".join(model.name for model in deployment.models)
    out.document(
        {
            "file": str(deployment.path),
            "library": deployment.library_name,
            "target_abis": list(deployment.target_abis),
            "models": [model.name for model in deployment.models],
            "problems": [],
            "notes": [note.as_json() for note in notes],
            **({"descriptions": [_without_kind(one) for one in layers]} if layers else {}),
        },
        f"{deployment.path.name}: library {deployment.library_name} with {names} for "
        f"{', '.join(deployment.target_abis)}: no mistakes",
        *(part for one in layers for part in descriptions.parts(one)),
    )


def _without_kind(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "kind"}


def register(app: typer.Typer) -> None:
    command(app, "check")(check)
