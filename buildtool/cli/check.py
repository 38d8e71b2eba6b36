"""`lathe check`: everything that is wrong with a deployment file, at once."""

from __future__ import annotations

from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import ConfigOption, FileArgument, deployment_file
from buildtool.cli.output import Output


def check(
    file: FileArgument = None,
    config: ConfigOption = None,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Look at the files that the deployment names, too.")
    ] = True,
    *,
    out: Output,
) -> None:
    """Check a deployment file: all problems at once, and notes on what is known but not built yet."""
    from buildtool import workflow

    checked = workflow.check(deployment_file(file, config), files=files)
    deployment = checked.deployment
    if not out.json:
        for note in checked.notes:
            out.note(note)
    models = ", ".join(model.name for model in deployment.models)
    out.document(
        {
            "file": str(deployment.path),
            "library": deployment.library_name,
            "target_abis": list(deployment.target_abis),
            "models": [model.name for model in deployment.models],
            "problems": [],
            "notes": [note.as_json() for note in checked.notes],
        },
        f"{deployment.path.name}: library {deployment.library_name} with {models} for "
        f"{', '.join(deployment.target_abis)}: no mistakes",
    )


def register(app: typer.Typer) -> None:
    command(app, "check")(check)
