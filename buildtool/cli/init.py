"""`lathe init`: writes a deployment file for models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import AbisOption, TrustOption
from buildtool.cli.output import Output, write_file
from buildtool.errors import ConfigError


def shapes_by_name(words: list[str] | None) -> dict[str, str]:
    """`name=1,3,224,224` by name. A name may hold '=' itself; a shape never does."""
    shapes: dict[str, str] = {}
    for word in words or ():
        name, equals, shape = word.rpartition("=")
        if not equals or not name:
            raise ConfigError(f"--input-shape cannot be '{word}'", rule="--input-shape NAME=1,3,224,224")
        shapes[name] = shape
    return shapes


def init(
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL...", help="Model files of any supported framework.", show_default=False),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Output file; `-` for stdout. [default: <model>.yml]"),
    ] = None,
    library_name: Annotated[
        str | None, typer.Option("--library-name", metavar="NAME", help="[default: the name of the first model]")
    ] = None,
    target_abis: AbisOption = None,
    input_shape: Annotated[
        list[str] | None,
        typer.Option(
            "--input-shape", metavar="NAME=SHAPE", help="Shape of an input with open sizes; 1..8: bounds of a size."
        ),
    ] = None,
    data_type: Annotated[
        str,
        typer.Option(
            "--data-type",
            metavar="fp32_fp32|fp16_fp32|bf16_fp32|fp16_fp16",
            help="Types that weights are stored in and computed with.",
        ),
    ] = "fp16_fp32",
    trust_model_code: TrustOption = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    *,
    out: Output,
) -> None:
    """Write a deployment file for models: their inputs, shapes, formats and checksums."""
    from buildtool.drafts import deployment as draft

    to_stdout = output is not None and str(output) == "-"
    file = output or models[0].with_suffix(".yml").resolve()
    if not force and not to_stdout and file.exists():
        raise ConfigError(f"{file} already exists", remedy="choose another file with --output, or give --force")
    abis = [word for item in target_abis or () for word in item.replace(",", " ").split()]
    text = draft.write(
        models,
        relative_to=Path.cwd() if to_stdout else file.parent,
        library_name=library_name,
        target_abis=abis or ["host"],
        shapes=shapes_by_name(input_shape),
        data_type=data_type,
        trust_model_code=trust_model_code,
    )
    if to_stdout:
        out.document({"text": text}, text)
        return
    write_file(file, text)
    out.document({"file": str(file), "text": text}, f"wrote {file}\nnext: lathe build {file}")


def register(app: typer.Typer) -> None:
    command(app, "init")(init)
