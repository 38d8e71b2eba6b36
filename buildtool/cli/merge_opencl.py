"""`lathe merge-opencl`: one file for many devices, of what their GPUs found out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output


def merge_opencl(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Compiled programs, or tuned parameters, of models and devices."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Output file with all entries.")],
    *,
    out: Output,
) -> None:
    """Merge files that `lathe tune` made: tuned parameters of GPUs, or their compiled programs.

    An application gives the one file to its engines, and each device takes what is its own. Of two tuned parameters
    for the same thing the faster one stays.
    """
    from buildtool.builders import opencl_files

    document = opencl_files.merge_files(files, output)
    devices = f"{document['devices']} device{'s' if document['devices'] > 1 else ''}"
    out.document(document, f"wrote {output}: {document['content']} for {devices}, {document['entries']} entries")


def register(app: typer.Typer) -> None:
    command(app, "merge-opencl")(merge_opencl)
