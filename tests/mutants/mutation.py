"""One fault that is planted in a source, and how it is put there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """A piece of a source, by its place, and what stands there instead."""

    start: int  # in the text of the source
    end: int
    text: str
    what: str  # the kind of fault, in words

    def planted(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]

    def line(self, source: str) -> int:
        return source.count("\n", 0, self.start) + 1

    def shown(self, source: str) -> str:
        """The line before and after."""
        number = self.line(source)
        before = source.split("\n")[number - 1].strip()
        after = self.planted(source).split("\n")[number - 1].strip()
        return f"{before}  ->  {after}" if after else f"{before}  ->  (left out)"
