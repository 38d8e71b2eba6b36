"""Small pieces of the sentences that all problems of a configuration are written with."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable
from pathlib import Path

LONGEST_QUOTE = 60
# How other tools call what a deployment file has a word for; some are no more like it than like another.
_ELSEWHERE = {
    **dict.fromkeys(("float", "float32", "fp32", "f32"), ("fp32_fp32", "float32")),
    **dict.fromkeys(("half", "float16", "fp16", "f16"), ("fp16_fp16", "float16")),
    **dict.fromkeys(("bfloat16", "bf16"), ("bf16_fp32", "bfloat16")),
    **dict.fromkeys(("opencl", "cuda", "vulkan"), ("gpu",)),
    "tf": ("tensorflow",),
    "torch": ("pytorch",),
    "lite": ("tflite",),
}
MOST_FILES = 2000  # of a folder that a missing file is compared with


# What a terminal obeys instead of showing it: controls (but for line feeds and tabs), and turns of the direction.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with names that files of strangers may have given, for a terminal, which shows all of it."""
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


def quoted(text: object) -> str:
    """The text in quotes, fit for any terminal: no control characters, no lone surrogates, not endless."""
    words = str(text)
    if len(words) > LONGEST_QUOTE:
        words = words[: LONGEST_QUOTE - 3] + "..."
    return "'" + "".join(char if char.isprintable() else ascii(char)[1:-1] for char in words) + "'"


def listed(words: Iterable[str]) -> str:
    """`a, b or c`."""
    items = list(words)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that the user most likely meant, or an empty string."""
    lower = {candidate.lower(): candidate for candidate in known}
    for same in _ELSEWHERE.get(word.lower(), ()):
        if same in lower:
            return lower[same]
    close = difflib.get_close_matches(word[:LONGEST_QUOTE].lower(), lower, n=1, cutoff=0.65)
    return lower[close[0]] if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question that names the nearest known word, or an empty string."""
    meant = nearest(word, known)
    return f"did you mean '{meant}'?" if meant else ""


def near_files(file: Path, ending: str = "") -> str:
    """A question with the nearest names (of this ending) in the folder of a missing file, or an empty string."""
    try:
        found = itertools.islice(file.parent.iterdir(), MOST_FILES)
        names = [path.name for path in found if path.name.endswith(ending) and path.name != file.name]
    except OSError:
        return ""
    lower = {name.lower(): name for name in sorted(names)}
    close = difflib.get_close_matches(file.name[:LONGEST_QUOTE].lower(), lower, n=3, cutoff=0.65)
    return f"did you mean {listed(quoted(lower[name]) for name in close)}?" if close else ""


def counted(count: int, thing: str) -> str:
    """`1 shape`, `2 shapes`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
