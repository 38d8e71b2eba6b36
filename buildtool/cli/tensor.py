"""`lathe tensor`: pictures and sounds become arrays that models take, and arrays become pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output
from buildtool.errors import ConfigError, Where

if TYPE_CHECKING:
    from buildtool.tensors.recipe import Array, Recipe

_Number = TypeVar("_Number", int, float)


def tensor(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Images, WAV audio or .npy files.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Output: a .npy file, or the image of one .npy file."),
    ] = None,
    resize: Annotated[
        str | None, typer.Option("--resize", metavar="HEIGHTxWIDTH", help="Resize images to this size.")
    ] = None,
    method: Annotated[
        str,
        typer.Option("--method", metavar="nearest|bilinear|bicubic|lanczos|area", help="Interpolation of --resize."),
    ] = "bilinear",
    crop: Annotated[
        str | None, typer.Option("--crop", metavar="HEIGHTxWIDTH", help="Crop the centre of images, after resizing.")
    ] = None,
    channels: Annotated[str, typer.Option("--channels", metavar="RGB|BGR|grey", help="Order of channels.")] = "RGB",
    mean: Annotated[
        str, typer.Option("--mean", metavar="N[,N,N]", help="Mean to subtract from values of 0 to 255.")
    ] = "0",
    scale: Annotated[
        str, typer.Option("--scale", metavar="N[,N,N]", help="Factor to multiply by after subtracting the mean.")
    ] = "1",
    layout: Annotated[str, typer.Option("--layout", metavar="NHWC|NCHW", help="Order of the axes.")] = "NHWC",
    dtype: Annotated[
        str,
        typer.Option("--dtype", metavar="TYPE", help="Element type, such as uint8 (values are rounded and clipped)."),
    ] = "float32",
    rate: Annotated[int | None, typer.Option("--rate", min=1, help="Sample rate of audio.")] = None,
    length: Annotated[
        int | None,
        typer.Option("--length", min=1, help="Length of audio in samples; it is cut or padded with silence."),
    ] = None,
    *,
    out: Output,
) -> None:
    """Convert images and audio to a .npy for a model, or a .npy to an image. Without -o, describe them."""
    from buildtool.builders.package import write_file
    from buildtool.tensors.files import figures
    from buildtool.tensors.recipe import Recipe

    recipe = Recipe(
        resize=_size("resize", resize),
        method=method,
        crop=_size("crop", crop),
        channels=channels,
        mean=_numbers("mean", mean, float, ","),
        scale=_numbers("scale", scale, float, ","),
        layout=layout,
        dtype=dtype,
        rate=rate,
        length=length,
    )
    arrays = _arrays(files, recipe)
    if output is not None:
        write_file(output, _written(arrays, recipe, output))
    entries = [{"file": name, **figures(array)} for name, array in arrays.items()]
    document = {"tensors": entries, **({"output": str(output)} if output is not None else {})}
    out.document(document, _table(entries), *([f"wrote {output}"] if output is not None else []))


def _arrays(files: list[Path], recipe: Recipe) -> dict[str, Array]:
    """The array of every .npy, or the one array of all the others."""
    from buildtool.tensors.files import saved, tensor

    arrays = [file for file in files if file.suffix.lower() == ".npy"]
    if not arrays:
        return {", ".join(map(str, files)): tensor(files, recipe)}
    if len(arrays) < len(files):
        raise ConfigError(".npy files cannot be combined with other files", remedy="give files of one kind")
    return {str(file): saved(file) for file in files}


def _written(arrays: dict[str, Array], recipe: Recipe, output: Path) -> bytes:
    from buildtool.tensors.files import is_picture, npy
    from buildtool.tensors.pictures import encoded

    where = Where(file=str(output))
    (name, array), *others = arrays.items()
    from_npy = name.lower().endswith(".npy")
    if from_npy and not others and is_picture(output):
        return encoded(array, recipe, Path(name), output.suffix)
    if from_npy or output.suffix.lower() != ".npy":
        rule = "images and audio are written as one .npy, one .npy as .png, .jpg or .bmp"
        raise ConfigError(f"this cannot be written to '{output.name}'", where=where, rule=rule)
    return npy(array)


def _table(entries: list[dict[str, Any]]) -> Any:
    from buildtool.reports.table import Table, number

    table = Table(["file", "type", "shape", "least", "largest", "mean"], right=frozenset({"least", "largest", "mean"}))
    for entry in entries:
        shape = "x".join(map(str, entry["shape"])) or "one number"
        table.add(
            entry["file"], entry["dtype"], shape, *(number(entry[key], 5) for key in ("least", "largest", "mean"))
        )
    return table


def _size(option: str, words: str | None) -> tuple[int, int] | None:
    if words is None:
        return None
    height, *rest = _numbers(option, words.lower(), int, "x")
    if len(rest) > 1:
        raise ConfigError(f"--{option} cannot be '{words}'", rule="HEIGHTxWIDTH, or one number for both")
    return height, rest[0] if rest else height


def _numbers(option: str, words: str, kind: Callable[[str], _Number], between: str) -> tuple[_Number, ...]:
    try:
        return tuple(kind(word) for word in words.split(between))
    except ValueError as problem:
        raise ConfigError(f"--{option} cannot be '{words}'", rule=f"numbers separated by '{between}'") from problem


def register(app: typer.Typer) -> None:
    command(app, "tensor")(tensor)
