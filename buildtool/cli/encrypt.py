"""`lathe encrypt`: encrypts the model files of a build."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output


def encrypt(
    things: Annotated[list[Path], typer.Argument(metavar="THING...", help="Build folders, or .pb and .data files.")],
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="The key: 32 bytes, or 64 hexadecimal digits.")],
    new_key: Annotated[bool, typer.Option("--new-key", help="Generate a key and write it to that file first.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FOLDER", help="Output folder. Default: beside each file.")
    ] = None,
    *,
    out: Output,
) -> None:
    """Encrypt model files, each into `<file>.enc`.

    Programs read them with `lathe/decrypt.h` and a function that gives the key. Files are authenticated: what was
    changed is refused.
    """
    from buildtool.builders import encryption

    secret = encryption.new_key(key) if new_key else encryption.read_key(key)
    written = encryption.encrypt_files(things, secret, output)
    out.document({"written": [str(file) for file in written]}, *(f"wrote {file}" for file in written))


def register(app: typer.Typer) -> None:
    command(app, "encrypt")(encrypt)
