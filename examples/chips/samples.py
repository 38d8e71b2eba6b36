"""Samples that are made here: spoken words and drawn scenes, as integers from -128 to 127. Seeds are fixed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "keywords"))
FRAMES = 60
SIDE = 16
FIELD, MOST_OBJECTS = 48, 3
OBJECTS = ("disc", "square", "cross", "triangle")
SHAPES = ("disc", "ring", "square", "frame", "cross", "stripes", "triangle", "diamond")


def words(count: int = 1500) -> tuple[Array, Array]:
    """Energies of 24 bands in 60 frames: the voices of examples/keywords, which no microphone heard."""
    import speech

    rng = np.random.default_rng(1)
    energies, labels = speech.examples(count, rng, speech.front_end())
    energies = energies[:, :FRAMES].transpose(0, 2, 1)
    low, high = np.quantile(energies, 0.001), np.quantile(energies, 0.999)
    return _bytes((energies - low) / (high - low)), labels


def scenes(count: int = 2400) -> tuple[Array, Array]:
    """Pictures of 3x16x16: one of eight shapes in any colour, place and size, before a shaded and noisy ground."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, len(SHAPES), count)
    rows, columns = np.mgrid[0:SIDE, 0:SIDE].astype(float)
    pictures = np.empty((count, 3, SIDE, SIDE))
    for number, label in enumerate(labels):
        size = rng.uniform(4, 6.5)
        middle = rng.uniform(size, SIDE - 1 - size, 2)
        up, across = rows - middle[0], columns - middle[1]
        inside = _shape(SHAPES[label], up, across, size)
        ground, colour = rng.uniform(0, 1, 3), rng.uniform(0, 1, 3)
        if np.abs(ground - colour).max() < 0.35:
            colour = (ground + 0.5) % 1
        shade = (rows * rng.normal(0, 1) + columns * rng.normal(0, 1)) / SIDE * 0.15
        picture = np.where(inside, colour[:, None, None], (ground[:, None, None] + shade).clip(0, 1))
        pictures[number] = picture + rng.normal(0, 0.06, picture.shape)
    return _bytes(pictures), labels


def objects(count: int = 1600) -> tuple[Array, Array]:
    """Pictures of 3x48x48 with one to three shapes that do not overlap, and their boxes: label, left, top, right,
    bottom.
    """
    rng = np.random.default_rng(3)
    rows, columns = np.mgrid[0:FIELD, 0:FIELD].astype(float)
    pictures, boxes = np.empty((count, 3, FIELD, FIELD)), np.full((count, MOST_OBJECTS, 5), -1, np.float32)
    for number in range(count):
        ground = rng.uniform(0, 1, 3)
        shade = (rows * rng.normal(0, 1) + columns * rng.normal(0, 1)) / FIELD * 0.15
        picture = np.repeat((shade + ground.mean())[None], 3, 0).clip(0, 1) * 0.5 + ground[:, None, None] * 0.5
        taken = np.zeros((FIELD, FIELD), bool)
        for place in range(int(rng.integers(1, MOST_OBJECTS + 1))):
            label, size = int(rng.integers(0, len(OBJECTS))), rng.uniform(5, 9)
            middle = rng.uniform(size, FIELD - 1 - size, 2)
            inside = _shape(OBJECTS[label], rows - middle[0], columns - middle[1], size)
            colour = rng.uniform(0, 1, 3)
            colour = (ground + 0.5) % 1 if np.abs(ground - colour).max() < 0.35 else colour
            edges = _edges(inside)
            window = slice(edges[1], edges[3]), slice(edges[0], edges[2])
            if taken[window].any():
                continue
            taken[window] = True
            picture = np.where(inside, colour[:, None, None], picture)
            boxes[number, place] = (label, *(edge / FIELD for edge in edges))
        pictures[number] = picture + rng.normal(0, 0.05, picture.shape)
    return _bytes(pictures), boxes


def _edges(inside: Array) -> tuple[int, int, int, int]:
    """Left, top, right, bottom; the last two are behind the end."""
    rows, columns = np.flatnonzero(inside.any(1)), np.flatnonzero(inside.any(0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _shape(name: str, up: Array, across: Array, size: float) -> Array:
    far, square = np.hypot(up, across), np.maximum(abs(up), abs(across))
    near, thick = np.minimum(abs(up), abs(across)), size / 3
    return {
        "disc": far < size,
        "ring": (far < size) & (far > size - thick),
        "square": square < size * 0.85,
        "frame": (square < size * 0.85) & (square > size * 0.85 - thick),
        "cross": (square < size) & (near < thick / 1.5),
        "stripes": (square < size) & (np.floor(up / 2) % 2 == 0),
        "triangle": (abs(up) < size) & (abs(across) < (up + size) / 2),
        "diamond": abs(up) + abs(across) < size * 1.2,
    }[name]


def _bytes(values: Array) -> Array:
    return np.clip(np.floor(values * 256) - 128, -128, 127).astype(np.int8)


TASKS: dict[str, Callable[[], tuple[Array, Array]]] = {"words": words, "scenes": scenes}
BOXES: dict[str, Callable[[], tuple[Array, Array]]] = {"objects": objects}
