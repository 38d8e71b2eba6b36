"""`lathe schema`: the JSON Schema of deployment files and of network descriptions, for editors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output, write, write_file


def schema(
    platform: Annotated[
        str,
        typer.Option("--platform", help="Print the schema of network descriptions of this platform, such as `ai8x`."),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Output file, instead of stdout.")
    ] = None,
    *,
    out: Output,
) -> None:
    """Print the JSON Schema of deployment files, or of network descriptions."""
    from buildtool.config import schema_text

    text = schema_text(platform)
    if output is None:
        write(text)
        return
    write_file(output, text)
    out.document({"file": str(output)}, f"wrote {output}")


def register(app: typer.Typer) -> None:
    command(app, "schema")(schema)
