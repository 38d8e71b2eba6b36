"""Changes files of numbers by their words: offsets, sizes, and what they lead to."""

from __future__ import annotations

import random

import atheris

_WORDS = (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", bytes(4), b"\0\0\0\x01", b"\x01\0\0\0", b"\x04\0\0\0")
_BYTES = (0, 1, 2, 127, 128, 255)


def mutate(data: bytes, most: int, seed: int) -> bytes:
    """Called by the fuzzer with an input; gives another one."""
    dice = random.Random(seed)
    if len(data) < 8 or dice.random() < 0.1:
        return bytes(atheris.Mutate(data, most))
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4))):
        place, draw = dice.randrange(len(changed) - 3), dice.random()
        word = place & ~3
        if draw < 0.3:
            changed[place] ^= 1 << dice.randrange(8)
        elif draw < 0.55:
            changed[place] = dice.choice(_BYTES)
        elif draw < 0.75:
            changed[word : word + 4] = dice.choice(_WORDS)
        elif draw < 0.95:  # what stands elsewhere
            other = dice.randrange(len(changed) - 3) & ~3
            changed[word : word + 4] = changed[other : other + 4]
        else:
            changed[word : word + 4] = (dice.randrange(2 * len(changed))).to_bytes(4, "little")
    return bytes(changed) if len(changed) <= most else data
