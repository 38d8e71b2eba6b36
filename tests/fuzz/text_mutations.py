"""Changes texts by their words and lines, and sometimes by their bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import atheris

_TOKEN = re.compile(r"[A-Za-z_][\w.]*|%[\w./-]+|-?\d+(?:\.\d+)?|\"[^\"]*\"|[^\s\w]|\s+")


class Mutator:
    """Called by the fuzzer with an input; gives another one. `words` are those that mean something in the text."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = (*words, "\n", "")

    def __call__(self, data: bytes, most: int, seed: int) -> bytes:
        dice = random.Random(seed)
        if dice.random() < 0.15:
            return bytes(atheris.Mutate(data, most))
        lines = data.decode("utf-8", "replace").split("\n")
        for _ in range(dice.choice((1, 1, 2, 4))):
            place = dice.randrange(len(lines))
            draw = dice.random()
            if draw < 0.1:
                lines.insert(dice.randrange(len(lines) + 1), lines[place])
            elif draw < 0.2 and len(lines) > 1:
                del lines[place]
            else:
                lines[place] = self._changed(lines[place], dice.choice(lines), dice)
        changed = "\n".join(lines).encode("utf-8", "replace")
        return changed if len(changed) <= most else data

    def _changed(self, line: str, other: str, dice: random.Random) -> str:
        """A line with one word more, less or other: one that is known, or one of another line."""
        tokens = _TOKEN.findall(line) or [""]
        place = dice.randrange(len(tokens))
        draw = dice.random()
        if draw < 0.15:
            del tokens[place]
            return "".join(tokens)
        word = dice.choice(self._words if dice.random() < 0.6 else _TOKEN.findall(other) or [""])
        if draw < 0.35:
            tokens.insert(place, word)
        else:
            tokens[place] = word
        return "".join(tokens)
