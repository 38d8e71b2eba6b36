"""`lathe dev`: help for those who extend Lathe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output


def new_op(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Operator name in lower case, such as hard_tanh.")],
    path: Annotated[
        Path | None,
        typer.Option("--path", metavar="FOLDER", help="Your own folder, for op_paths. [default: Lathe's sources]"),
    ] = None,
    *,
    out: Output,
) -> None:
    """Write the skeleton of an operator, which builds and passes its tests."""
    from buildtool.drafts import operator as draft

    files = draft.write(name, path)
    out.document(
        {"operator": name, "files": [str(file) for file in files]},
        "\n".join(f"wrote {file}" for file in files),
        draft.next_steps(name, path),
    )


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Commands for extending Lathe.", rich_markup_mode=None, no_args_is_help=True)
    command(group, "new-op")(new_op)

    @group.callback()
    def dev() -> None:
        pass

    app.add_typer(group, name="dev")
