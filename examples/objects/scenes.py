"""Synthetic scenes: balls, blocks, cones, rings and stars of all colours on a table, with a box around each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

SIZE = 96  # of an image, in pixels
CLASSES = ("ball", "block", "cone", "ring", "star")
MOST = 6  # objects of a scene


def scene(random: np.random.Generator, size: int = SIZE) -> tuple[Array, Array]:
    """An image (size x size x 3, from 0 to 1), and left, top, right, bottom and class of each object in pixels."""
    image = _table(random, size)
    boxes: list[list[float]] = []
    for _ in range(int(random.integers(1, MOST + 1))):
        radius = float(random.uniform(0.08, 0.22)) * size
        x, y = random.uniform(radius, size - radius, 2)
        if any(np.hypot(x - (a + c) / 2, y - (b + d) / 2) < radius + (c - a) / 2 for a, b, c, d, _ in boxes):
            continue
        label = int(random.integers(len(CLASSES)))
        boxes.append([*_draw(image, label, x, y, radius, random), label])
    image += random.normal(0, random.uniform(0, 0.04), image.shape)
    return image.clip(0, 1).astype(np.float32), np.array(boxes, np.float32).reshape(-1, 5)


def _table(random: np.random.Generator, size: int) -> Array:
    """Two colours that go over into each other, with planks and a few soft spots."""
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32) / size
    angle = random.uniform(0, 2 * np.pi)
    slope = (np.cos(angle) * columns + np.sin(angle) * rows)[..., None]
    first, second = random.uniform(0.1, 0.9, (2, 3))
    image = first + (second - first) * (0.5 + 0.5 * slope)
    image += 0.05 * np.sin(random.uniform(10, 60) * (columns if random.random() < 0.5 else rows))[..., None]
    for _ in range(int(random.integers(0, 5))):
        x, y, width = random.uniform(0, 1), random.uniform(0, 1), random.uniform(0.05, 0.3)
        spot = np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / width**2)[..., None]
        image += spot * random.uniform(-0.3, 0.3, 3)
    return image.astype(np.float32)


def _draw(
    image: Array, label: int, x: float, y: float, radius: float, random: np.random.Generator
) -> tuple[float, float, float, float]:
    """Paints one object with soft edges, a light side and a shadow; its box."""
    size = len(image)
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32) + 0.5
    distance = _distance(label, columns - x, rows - y, radius, random.uniform(-0.3, 0.3))
    shadow = np.exp(-(np.maximum(distance, 0) ** 2) / (0.15 * radius) ** 2)[..., None] * random.uniform(0.1, 0.4)
    image *= 1 - shadow
    inside = (0.5 - distance).clip(0, 1)[..., None]
    light = 1 + 0.35 * ((x - columns) + (y - rows))[..., None] / (2 * radius)
    behind = image[int(y), int(x)]
    colour = random.uniform(0, 1, 3)
    while np.abs(colour - behind).max() < 0.4:
        colour = random.uniform(0, 1, 3)
    image += inside * (colour * light - image)
    covered = np.argwhere(distance < 0.5)
    (top, left), (bottom, right) = covered.min(0), covered.max(0) + 1
    return float(left), float(top), float(right), float(bottom)


def _distance(label: int, x: Array, y: Array, radius: float, turn: float) -> Array:
    """From the outline of an object: negative inside, in pixels."""
    x, y = np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x
    far = np.hypot(x, y)
    if CLASSES[label] == "ball":
        return far - radius
    if CLASSES[label] == "ring":
        return np.abs(far - 0.75 * radius) - 0.22 * radius
    if CLASSES[label] == "block":
        return np.maximum(np.abs(x), np.abs(y)) - 0.75 * radius
    if CLASSES[label] == "cone":
        return np.maximum(y - 0.75 * radius, np.abs(x) * 0.9 - (y + 0.95 * radius) * 0.42)
    fifth = 2 * np.pi / 5
    around = np.abs((np.arctan2(x, -y) + fifth / 2) % fifth - fifth / 2)  # from the nearest tip
    return far - radius * 0.42 * np.sin(fifth / 2 + 0.42) / np.sin(around + 0.42) * (1 + 0.6 * (1 - 2 * around / fifth))
