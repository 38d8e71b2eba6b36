"""Pictures with rows of strokes that look like writing: on noise, detection finds nothing and compares nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_LINE, _GLYPH, _STROKE = 32, 14, 3  # pixels


def page(height: int, width: int, seed: int = 0) -> npt.NDArray[Any]:
    """[1, 3, height, width] between -1 and 1: dark strokes on a light ground, a line of writing every 64 pixels."""
    random = np.random.default_rng((seed, height, width))
    picture = np.ones((height, width), np.float32)
    for top in range(8, max(height - _LINE, 9), 2 * _LINE):
        for left in range(8, width - _GLYPH, _GLYPH + 4):
            _draw(picture[top : top + _LINE - 8, left : left + _GLYPH], random)
    picture += random.normal(0, 0.02, picture.shape).astype(np.float32)
    return np.array(np.broadcast_to(picture, (1, 3, height, width)))


def _draw(box: npt.NDArray[Any], random: np.random.Generator) -> None:
    """A glyph of one upright and two level strokes."""
    height, width = box.shape
    at = int(random.integers(0, max(width - _STROKE, 1)))
    box[:, at : at + _STROKE] = -1
    for _ in range(2):
        row = int(random.integers(0, max(height - _STROKE, 1)))
        box[row : row + _STROKE, :] = -1
