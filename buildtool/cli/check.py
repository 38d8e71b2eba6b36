"""`lathe check`: everything that is wrong with a deployment file and its models, at once."""

from __future__ import annotations

from typing import Annotated, Any

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
    from buildtool import workflow
    from buildtool.reports import descriptions

    with out.progress() as progress:
        checked = workflow.check(
            deployment_file(file, config),
            files=files,
            models=models,
            overrides=described.beside(Overrides(target_abis=words(target_abis), op_paths=tuple(op_paths or ()))),
            options=Options(allow_unverified=allow_unverified, trust_model_code=trust_model_code),
            progress=progress,
        )
    deployment, layers = checked.deployment, checked.descriptions
    if not out.json:
        for note in checked.notes:
            out.note(note)
    names = ", ".join(model.name for model in deployment.models)
    out.document(
        {
            "file": str(deployment.path),
            "library": deployment.library_name,
            "target_abis": list(deployment.target_abis),
            "models": [model.name for model in deployment.models],
            "problems": [],
            "notes": [note.as_json() for note in checked.notes],
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
