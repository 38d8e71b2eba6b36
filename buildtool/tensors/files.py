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
_LONGEST = 200  # letters of NumPy's words


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
    return np.stack(items) if len(items) > 1 else items[0][np.newaxis]


def _item(file: Path, recipe: Recipe) -> Array:
    if is_picture(file):
        values = recipe.made(pictures.pixels(file, recipe), file)
    elif is_media(file):
        values = recipe.made(sounds.sound(file, recipe), file)
        if values.shape[1] == 1:
            return values[:, 0]
    else:
        raise ConfigError(
            f"'{file.suffix}' is not a kind of file that can be converted to a tensor",
            where=Where(file=str(file)),
            rule=f"allowed: {' '.join((*pictures.SUFFIXES, *sounds.SUFFIXES))}",
            remedy="convert it to one of these first",
        )
    if recipe.layout == "NCHW":
        values = np.moveaxis(values, -1, 0)
    return np.ascontiguousarray(values)


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
                raise RunError("this is not a .npy file", where=where, remedy="write the array with numpy.save")
            stream.seek(0)
            array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    except FileNotFoundError as problem:
        raise RunError(
            "this file does not exist", where=where, remedy=near_files(file) or "correct the path"
        ) from problem
    except (OSError, LatheError):
        raise
    except Exception as problem:  # its reader lets through whatever a damaged header leads it into
        raise unreadable(problem, file) from problem
    return array


def unreadable(problem: Exception, file: Path) -> RunError:
    """What NumPy says of an array that it cannot read: it may repeat a whole header."""
    words = str(problem)
    if len(words) > _LONGEST:
        words = words[:_LONGEST] + "..."
    what = f"NumPy cannot read this array: {words}"
    return RunError(what, where=Where(file=str(file)), remedy="write it again with numpy.save or numpy.savez")


def figures(array: Array) -> dict[str, Any]:
    """An array in figures; those of values leave out what is not finite."""
    shown: dict[str, Any] = {"shape": list(array.shape), "dtype": str(array.dtype)}
    known: Array = np.empty(0)  # of texts and the like nothing is known
    if array.dtype.kind in "iub":
        known = array
    elif array.dtype.kind == "f":
        finite = np.isfinite(array)
        known = array if finite.all() else array[finite]
    found = {"least": np.min(known), "largest": np.max(known), "mean": np.mean(known)} if known.size else {}
    return {**shown, **{key: float(found[key]) if found else None for key in ("least", "largest", "mean")}}
