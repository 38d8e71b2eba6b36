"""Lays out the elements of C's arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_LINE = 118  # characters


def rows(elements: Iterable[str]) -> Iterator[str]:
    """Lines of elements, each with a comma behind it."""
    line = " "
    for element in elements:
        word = f" {element},"
        if len(line) + len(word) > _LINE:
            yield line
            line = " "
        line += word
    yield line
