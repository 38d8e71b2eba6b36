"""`lathe sign`: signs what a build made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output


def sign(
    things: Annotated[list[Path], typer.Argument(metavar="THING...", help="Build folders, or files of any kind.")],
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="The private key: 64 hexadecimal digits, or PEM.")],
    new_key: Annotated[
        bool, typer.Option("--new-key", help="Generate a key first; the public one goes to <FILE>.pub.")
    ] = False,
    *,
    out: Output,
) -> None:
    """Sign libraries and models, each in `<file>.sig`.

    Programs verify them with `lathe/verify.h` before they load anything. The signature is Ed25519, as OpenSSL has it.
    """
    from buildtool.builders import signatures

    private = signatures.new_key(key) if new_key else signatures.private_key(key)
    written = signatures.sign(things, private)
    public = private.public_key().public_bytes_raw().hex()
    lines = [*(f"wrote {file}" for file in written), f"public key: {public}"]
    out.document({"written": [str(file) for file in written], "public_key": public}, *lines)


def register(app: typer.Typer) -> None:
    command(app, "sign")(sign)
