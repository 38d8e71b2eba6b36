"""Inputs from a folder of pictures, as Maix-EMC takes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from buildtool.errors import ConfigError, Where
from buildtool.ir.operator import Array
from buildtool.targets.k210.generation.rules import shape_of
from buildtool.targets.k210.layers.model import Model
from buildtool.tensors.files import is_picture
from buildtool.tensors.pictures import picture
from buildtool.tensors.recipe import Recipe

_CHANNELS = {1: "grey", 3: "RGB"}
_LARGEST_BYTE = 255.0


def pictures(folder: Path | str, model: Model, between: tuple[float, float] = (0.0, 1.0)) -> list[Array]:
    """All pictures of a folder in the order of their names, or one picture, at the size of the model's input.

    `between`: what black and white become. ConfigError where there is none, or the input is no picture.
    """
    where = Where(file=str(folder))
    path = Path(folder)
    files = sorted(file for file in path.iterdir() if is_picture(file)) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise ConfigError("there are no images", where=where, rule="a folder of .png, .jpg, .bmp, or one of these")
    (value,) = model.graph().inputs
    shape = shape_of(value)[1:]
    if len(shape) != 3 or shape[2] not in _CHANNELS:
        raise ConfigError(
            f"the model's input has the shape {list(shape)}",
            where=where,
            rule="images have 1 or 3 channels",
            remedy="create arrays in the shape of the input",
        )
    recipe = Recipe(resize=(shape[0], shape[1]), channels=_CHANNELS[shape[2]])
    low, high = between
    return [(picture(file, recipe) * ((high - low) / _LARGEST_BYTE) + low).astype(np.float32) for file in files]
