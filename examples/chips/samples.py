"""Samples that are made here: words, vibrations and drawn pictures, as integers from -128 to 127. Seeds are fixed."""

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
PANE = 32
OBJECTS = ("disc", "square", "cross", "triangle")
SURFACES = ("rows", "columns", "slants", "squares", "dots", "rings", "bricks", "circles", "grain", "clouds")
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


def segments(count: int = 1200) -> tuple[Array, Array]:
    """Pictures of 3x32x32 with one to three shapes, and for each pixel what it shows: 0 the ground, else a shape."""
    rng = np.random.default_rng(4)
    rows, columns = np.mgrid[0:PANE, 0:PANE].astype(float)
    pictures, labels = np.empty((count, 3, PANE, PANE)), np.zeros((count, PANE, PANE), np.int64)
    for number in range(count):
        picture, ground = _ground(rng, rows, columns)
        for _ in range(int(rng.integers(1, 4))):
            label, size = int(rng.integers(0, len(OBJECTS))), rng.uniform(4, 8)
            middle = rng.uniform(size, PANE - 1 - size, 2)
            inside = _shape(OBJECTS[label], rows - middle[0], columns - middle[1], size)
            colour = rng.uniform(0, 1, 3)
            colour = (ground + 0.5) % 1 if np.abs(ground - colour).max() < 0.35 else colour
            picture = np.where(inside, colour[:, None, None], picture)
            labels[number][inside] = label + 1
        pictures[number] = picture + rng.normal(0, 0.05, picture.shape)
    return _bytes(pictures), labels


def vibrations(count: int = 2400) -> tuple[Array, Array]:
    """Three axes x 64 values of a bearing that turns: 0 sound; 1 the outer ring, 2 the inner ring is damaged, whose
    impacts ring; 3 unbalanced; 4 loose, with half of the speed. Two thirds are sound.
    """
    rng = np.random.default_rng(5)
    labels = np.where(rng.uniform(size=count) < 2 / 3, 0, rng.integers(1, 5, count))
    signals = np.empty((count, 3, 64))
    time = np.arange(64) / 64
    for number, label in enumerate(labels):
        speed, start = rng.uniform(2.5, 3.5), rng.uniform(0, 1)
        turn = speed * time + start
        size = rng.uniform(0.2, 0.3) * (rng.uniform(1.8, 2.2) if label == 3 else 1)
        base = size * np.sin(2 * np.pi * turn) + 0.25 * size * np.sin(4 * np.pi * turn)
        strange = np.zeros(64)
        if label in (1, 2):  # 3.6 or 5.4 impacts a turn; those of the inner ring pass through the load
            phase = (turn * (3.6 if label == 1 else 5.4) + rng.uniform()) % 1
            ringing = np.exp(-6 * phase) * np.sin(2 * np.pi * 2.4 * phase)
            strange = rng.uniform(0.2, 0.35) * ringing * (1 if label == 1 else 0.6 + 0.6 * np.sin(2 * np.pi * turn))
        if label == 4:
            strange = rng.uniform(0.12, 0.2) * np.sin(np.pi * turn + rng.uniform(0, 2 * np.pi))
        gains = np.array([1.0, 0.7, 0.4])[:, None]
        signals[number] = gains * (base + strange) + 0.05 * np.sin(2 * np.pi * (turn + np.array([[0], [0.25], [0.5]])))
    return _bytes((signals + rng.normal(0, 0.03, signals.shape)) / 2 + 0.5), labels


def faces(people: int = 80, pictures_of_each: int = 24) -> tuple[Array, Array]:
    """Drawn faces of 3x32x32: what belongs to a person stays, place, light, mouth, gaze and noise change."""
    rng = np.random.default_rng(6)
    persons = [_person(rng) for _ in range(people)]
    labels = np.repeat(np.arange(people), pictures_of_each)
    return _bytes(np.stack([_face(persons[label], rng) for label in labels])), labels


def _person(rng: np.random.Generator) -> dict[str, Any]:
    tone = rng.uniform(0.3, 0.95)
    return {
        "skin": np.array([tone, tone * rng.uniform(0.7, 0.85), tone * rng.uniform(0.5, 0.75)]),
        "hair": rng.uniform(0, 0.8, 3) * rng.uniform(0.2, 1),
        "eyes": rng.uniform(0, 0.6, 3),
        "wide": rng.uniform(7.5, 11), "high": rng.uniform(10, 13.5), "fringe": rng.uniform(0.35, 0.75),
        "apart": rng.uniform(3, 5), "eye": rng.uniform(1, 2), "eye_row": rng.uniform(-4, -1),
        "brow": rng.uniform(-0.4, 0.4), "nose": rng.uniform(2, 5), "mouth": rng.uniform(2, 5),
        "mouth_row": rng.uniform(4.5, 7.5), "beard": rng.uniform() < 0.3, "glasses": rng.uniform() < 0.3,
    }  # fmt: skip


def _face(one: dict[str, Any], rng: np.random.Generator) -> Array:
    """A picture of a person."""
    rows, columns = np.mgrid[0:PANE, 0:PANE].astype(float)
    picture, _ = _ground(rng, rows, columns)
    zoom, turned = rng.uniform(0.9, 1.1), rng.uniform(-0.15, 0.15)
    down, right = (rows - 15.5 - rng.uniform(-2, 2)) / zoom, (columns - 15.5 - rng.uniform(-2, 2)) / zoom
    down, right = down * np.cos(turned) - right * np.sin(turned), down * np.sin(turned) + right * np.cos(turned)

    def paint(where: Array, colour: Any) -> None:
        nonlocal picture
        picture = np.where(where, np.reshape(colour, (3, 1, 1)), picture)

    oval = (right / one["wide"]) ** 2 + (down / one["high"]) ** 2
    paint(oval < 1.15, one["hair"])
    paint((oval < 1) & (down > -one["high"] * one["fringe"]), one["skin"])
    if one["beard"]:
        paint((oval < 1) & (down > one["mouth_row"] - 1), one["hair"] * 0.8 + one["skin"] * 0.2)
    gaze, open_ = rng.uniform(-0.5, 0.5), rng.uniform(0.6, 1.6)
    for side in (-1, 1):
        eye = np.hypot(right - side * one["apart"], (down - one["eye_row"]) * 1.3)
        paint(eye < one["eye"], np.full(3, 0.95))
        paint(np.hypot(right - side * one["apart"] - gaze, down - one["eye_row"]) < one["eye"] * 0.6, one["eyes"])
        if one["glasses"]:
            paint(abs(eye - one["eye"] - 1) < 0.5, np.full(3, 0.1))
        over = down - one["eye_row"] + one["eye"] + 1.2 + side * one["brow"] * (right - side * one["apart"])
        paint((abs(over) < 0.6) & (abs(right - side * one["apart"]) < one["eye"] + 0.7), one["hair"] * 0.7)
    paint((abs(right) < 0.7) & (down > one["eye_row"]) & (down < one["eye_row"] + one["nose"]), one["skin"] * 0.75)
    paint((abs(right) < one["mouth"]) & (abs(down - one["mouth_row"]) < open_), (0.7, 0.2, 0.25))
    light = 1 + rng.uniform(-0.2, 0.2) + right / PANE * rng.uniform(-0.5, 0.5)
    return picture * light + rng.normal(0, 0.03, picture.shape)


def textures(count: int = 2000) -> tuple[Array, Array]:
    """Ten kinds of surfaces in any two colours, as 3x32x32: what a class is does not follow from colour or place."""
    rng = np.random.default_rng(7)
    labels = rng.integers(0, len(SURFACES), count)
    pictures = np.stack([_surface(SURFACES[label], rng) for label in labels])
    return _bytes(pictures + rng.normal(0, 0.08, pictures.shape)), labels


def _surface(kind: str, rng: np.random.Generator) -> Array:
    rows, columns = np.mgrid[0:PANE, 0:PANE] + rng.uniform(0, 16, 2)[:, None, None]
    step = rng.uniform(4, 7)
    angle = rng.uniform(-0.25, 0.25)
    u = (rows * np.cos(angle) + columns * np.sin(angle)) / step
    v = (columns * np.cos(angle) - rows * np.sin(angle)) / step
    near = np.hypot(u % 1 - 0.5, v % 1 - 0.5)
    grain = rng.normal(0, 1, (PANE, PANE))
    far = np.hypot(rows - rows.mean(), columns - columns.mean()) / step
    waves = {
        "rows": np.sin(2 * np.pi * u),
        "columns": np.sin(2 * np.pi * v),
        "slants": np.sin(2 * np.pi * (u + v) * 0.7),
        "squares": np.sign(np.sin(2 * np.pi * u / 2) * np.sin(2 * np.pi * v / 2)),
        "dots": np.where(near < 0.3, 1.0, -1.0),
        "rings": np.where(abs(near - 0.32) < 0.11, 1.0, -1.0),
        "bricks": np.where((u % 1 < 0.2) | ((v / 2 + 0.5 * (np.floor(u) % 2)) % 1 < 0.12), -1.0, 1.0),
        "circles": np.sin(2 * np.pi * far),
        "grain": grain,
        "clouds": _smooth(grain) if kind == "clouds" else grain,
    }
    one, other = rng.uniform(0, 1, 3), rng.uniform(0, 1, 3)
    if np.abs(one - other).max() < 0.4:
        other = (one + 0.5) % 1
    share = (waves[kind].clip(-1, 1) / 2 + 0.5)[None]
    return one[:, None, None] * share + other[:, None, None] * (1 - share)


def _smooth(values: Array) -> Array:
    """Means of neighbours, twelve times, as strong as before."""
    for _ in range(12):
        values = sum(np.roll(values, (down, right), (0, 1)) for down in (-1, 0, 1) for right in (-1, 0, 1)) / 9
    return values / values.std()


def _ground(rng: np.random.Generator, rows: Array, columns: Array) -> tuple[Array, Array]:
    """A shaded picture of one colour, and the colour."""
    ground = rng.uniform(0, 1, 3)
    shade = (rows * rng.normal(0, 1) + columns * rng.normal(0, 1)) / len(rows) * 0.15
    return (ground[:, None, None] + shade).clip(0, 1), ground


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


TASKS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "words": words,
    "scenes": scenes,
    "segments": segments,
    "vibrations": vibrations,
    "faces": faces,
    "objects": objects,
    "detector": objects,
    "textures": textures,
}
BOXES = ("objects", "detector")
