"""`lathe inspect THING`: says what a file is and what is inside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import VERBOSE, Output

KINDS = ("library", "model", "onnx", "deployment")


def inspect(
    thing: Annotated[
        str, typer.Argument(metavar="THING", help="A file; or `ops`, `passes`; or the kind of the file that follows.")
    ],
    path: Annotated[
        Path | None, typer.Argument(metavar="FILE", help=f"The file, after its kind: {', '.join(KINDS)}.")
    ] = None,
    op_paths: Annotated[
        list[Path] | None, typer.Option("--op-path", metavar="FOLDER", help="A folder with operators of your own.")
    ] = None,
    *,
    out: Output,
) -> None:
    """Say what a file is and what is inside it: a deployment, an ONNX model, a converted model, a built library.

    `lathe inspect ops` lists the operators and their kernels, `lathe inspect passes` the optimisations.
    """
    from buildtool.reports import inspection

    document = inspection.inspect(thing, path, tuple(op_paths or ()))
    out.document(document, *inspection.parts(document, verbose=out.verbosity >= VERBOSE))


def register(app: typer.Typer) -> None:
    command(app, "inspect")(inspect)
