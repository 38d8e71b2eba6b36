"""Samples from a folder of pictures or sounds, with a folder for each class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import ConfigError, Where
from buildtool.tensors import pictures, sounds
from buildtool.tensors.recipe import Recipe

_RULE = "a folder for each class, with pictures (PNG, JPEG, BMP) or sounds (WAV) in it"
_LARGEST = 1024  # of the sides of a sample


@dataclass(frozen=True)
class Folder:
    """What a folder holds: samples and labels as `data.read` takes them, and the names of the classes."""

    samples: NDArray[np.int8]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]


def read(folder: Path, size: Sequence[int], *, grey: bool = False, rate: int | None = None) -> Folder:
    """Pictures of height x width pixels, which are scaled until they cover these and cut to the middle; sounds of
    channels x length samples, which are cut or go on in silence, and follow each other along the channels.
    """
    where = Where(file=str(folder))
    if len(size) != 2 or not all(0 < side <= _LARGEST for side in size):
        raise ConfigError(f"--size is {'x'.join(map(str, size))}", rule=f"two sides from 1 to {_LARGEST}")
    if not folder.is_dir():
        raise ConfigError("there is no such folder", where=where, rule=_RULE)
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    known = (*pictures.SUFFIXES, *sounds.SUFFIXES)
    files = [
        (label, file)
        for label, name in enumerate(names)
        for file in sorted((folder / name).rglob("*"))
        if file.suffix.lower() in known and file.is_file()
    ]
    empty = [name for label, name in enumerate(names) if not any(label == of for of, _ in files)]
    if len(names) < 2 or empty:
        what = f"a class without samples: {', '.join(empty)}" if empty else f"{len(names)} folders of classes"
        raise ConfigError(what, where=where, rule=_RULE)
    heard = [file for _, file in files if file.suffix.lower() in sounds.SUFFIXES]
    if heard and len(heard) < len(files):
        raise ConfigError("pictures and sounds in one folder", where=Where(file=str(heard[0])), rule=_RULE)
    one = _sound(size, rate) if heard else _picture(size, grey=grey)
    samples = np.stack([one(file) for _, file in files])
    return Folder(samples, np.array([label for label, _ in files], np.int64), tuple(names))


def _picture(size: Sequence[int], *, grey: bool) -> Callable[[Path], NDArray[np.int8]]:
    height, width = size
    channels = "grey" if grey else "RGB"

    def read_one(file: Path) -> NDArray[np.int8]:
        rows, columns = pictures.size(file)
        factor = max(height / rows, width / columns)
        covering = max(height, math.floor(rows * factor + 0.5)), max(width, math.floor(columns * factor + 0.5))
        values = pictures.picture(file, Recipe(resize=covering, crop=(height, width), channels=channels))
        return (np.rint(values) - 128).astype(np.int8).transpose(2, 0, 1)

    return read_one


def _sound(size: Sequence[int], rate: int | None) -> Callable[[Path], NDArray[np.int8]]:
    channels, length = size

    def read_one(file: Path) -> NDArray[np.int8]:
        values = sounds.sound(file, Recipe(rate=rate, length=channels * length)).mean(axis=1)
        steps = np.clip(np.rint(values * 128.0), -128, 127).astype(np.int8)
        return np.ascontiguousarray(steps.reshape(length, channels).T)

    return read_one
