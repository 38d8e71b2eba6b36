"""Words as pictures, and what the networks of OCR make of them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[3]
HEIGHT = 48
Array = npt.NDArray[Any]


@cache
def words() -> tuple[str, ...]:
    """Different words of four to twelve letters, in an order of no meaning: the licence has them in every version."""
    found = sorted(set(re.findall(r"\b[A-Za-z]{4,12}\b", (ROOT / "LICENSE").read_text())))
    return tuple(np.random.default_rng(7).permutation(found).tolist())


def picture(word: str, width: int, seed: int, *, turned: bool = False) -> Array:
    """[3, 48, width] between -1 and 1: the word in some size, grey and place on a light ground with noise."""
    random = np.random.default_rng((seed, len(word), width))
    ground, ink = int(random.integers(200, 256)), int(random.integers(0, 90))
    size = int(random.integers(26, 37))
    while True:
        font = ImageFont.load_default(size)
        left, top, right, bottom = font.getbbox(word)
        if right - left <= width - 16 or size <= 8:
            break
        size -= 2
    drawn = Image.new("L", (width, HEIGHT), ground)
    x = int(random.integers(4, 12))
    y = int((HEIGHT - (bottom - top)) / 2 - top + random.integers(-2, 3))
    ImageDraw.Draw(drawn).text((x, y), word, font=font, fill=ink)
    pixels = np.asarray(drawn, np.float32)
    if turned:
        pixels = pixels[::-1, ::-1]
    pixels = np.clip(pixels + random.normal(0, 6, pixels.shape), 0, 255).astype(np.float32)
    return np.ascontiguousarray(np.broadcast_to(pixels / 127.5 - 1, (3, HEIGHT, width)))


def read(scores: Array, characters: str) -> str:
    """The text of a picture from the scores of each column: repetitions and blanks (class 0) go."""
    best = scores.argmax(-1)
    kept = [int(c) for at, c in enumerate(best) if c and (at == 0 or c != best[at - 1])]
    return "".join(characters[c - 1] if c <= len(characters) else " " for c in kept)
