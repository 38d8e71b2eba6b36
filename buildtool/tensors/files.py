"""From files to one tensor, by what the files are."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.errors import ConfigError, LatheError, RunError, Where
from buildtool.tensors import pictures, sounds
from buildtool.tensors.recipe import Array, Recipe
from buildtool.wording import near_files

_NPY_MAGIC = b"\x93NUMPY"


def is_media(file: Path) -> bool:
    """Whether a file is a picture or a sound, by its name."""
    return file.suffix.lower() in (*pictures.SUFFIXES, *sounds.SUFFIXES)


def is_picture(file: Path) -> bool:
    """Whether a file is a picture, by its name."""
    return file.suffix.lower() in pictures.SUFFIXES


def tensor(files: Sequence[Path], recipe: Recipe) -> Array:
    """One tensor of all files, one behind the other in its first dimension."""
    items = [_item(file, recipe) for file in files]
    for file, item in zip(files, items, strict=True):
        if item.shape != items[0].shape:
            raise RunError(
                f"shape {list(item.shape)} differs from {list(items[0].shape)} of {files[0]}",
                where=Where(file=str(file)),
                rule="all items of a tensor have one shape",
                remedy="give images one size with --resize or --crop, audio with --length",
            )
    return np.stack(items)


def _item(file: Path, recipe: Recipe) -> Array:
    if is_picture(file):
        values = recipe.normalised(pictures.picture(file, recipe), file)
    elif is_media(file):
        values = recipe.normalised(sounds.sound(file, recipe), file)
        if values.shape[1] == 1:
            return recipe.typed(values[:, 0])
    else:
        raise ConfigError(
            f"'{file.suffix}' is not a kind of file that can be converted to a tensor",
            where=Where(file=str(file)),
            rule=f"allowed: {' '.join((*pictures.SUFFIXES, *sounds.SUFFIXES))}",
        )
    if recipe.layout == "NCHW":
        values = np.moveaxis(values, -1, 0)
    return np.ascontiguousarray(recipe.typed(values))


def npy(array: Array) -> bytes:
    """A .npy file with the array."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def saved(file: Path) -> Array:
    """The tensor of a .npy file."""
    where = Where(file=str(file))
    try:
        with file.open("rb") as stream:
            if stream.read(len(_NPY_MAGIC)) != _NPY_MAGIC:
                raise RunError("this is not a .npy file", where=where)
            stream.seek(0)
            array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    except FileNotFoundError as problem:
        raise RunError(
            "this file does not exist", where=where, remedy=near_files(file) or "correct the path"
        ) from problem
    except (OSError, LatheError):
        raise
    except Exception as problem:  # its reader lets through whatever a damaged header leads it into
        raise RunError(f"NumPy cannot read this array: {problem}", where=where) from problem
    return array


def figures(array: Array) -> dict[str, Any]:
    """An array in figures; those of values leave out what is not finite."""
    shown: dict[str, Any] = {"shape": list(array.shape), "dtype": str(array.dtype)}
    known: Array = np.empty(0)  # of texts and the like nothing is known
    if array.dtype.kind in "iub":
        known = array
    elif array.dtype.kind == "f":
        known = array[np.isfinite(array)]
    found = {"least": np.min(known), "largest": np.max(known), "mean": np.mean(known)} if known.size else {}
    return {**shown, **{key: float(found[key]) if found else None for key in ("least", "largest", "mean")}}
