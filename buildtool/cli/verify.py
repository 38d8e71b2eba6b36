"""`lathe verify`: verifies what `lathe sign` signed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output


def verify(
    things: Annotated[list[Path], typer.Argument(metavar="THING...", help="Build folders, or signed files.")],
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="The public key: <key>.pub of `lathe sign`, or PEM.")
    ],
    *,
    out: Output,
) -> None:
    """Verify the signatures of libraries and models.

    Every file must have one that fits: exit code 3 otherwise.
    """
    from buildtool.builders import signatures

    verified = signatures.verify(things, signatures.public_key(key))
    lines = [f"right  {file}" for file in verified]
    out.document({"verified": [str(file) for file in verified]}, *lines)


def register(app: typer.Typer) -> None:
    command(app, "verify")(verify)
