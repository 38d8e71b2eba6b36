"""Reads the pieces of one line of the text form: names, strings, numbers, lists, dimensions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from buildtool.ir import dims
from buildtool.ir.attributes import AttrKind, AttrValue
from buildtool.ir.dims import Dim, Symbol
from buildtool.ir.types import DType

_T = TypeVar("_T")
_NUMBER = r"[-+]?(?:inf|nan|[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?)"


class TextError(ValueError):
    """A line is not what the text form allows; the reader adds the line number."""


class Scanner:
    """A position in a line. `take_...` methods move over what they return; TextError where it is not there."""

    def __init__(self, line: str) -> None:
        self._line = line.strip()
        self._at = 0

    def _skip_blanks(self) -> None:
        while self._line[self._at : self._at + 1] == " ":
            self._at += 1

    def at_end(self) -> bool:
        self._skip_blanks()
        return self._at == len(self._line)

    def sees(self, text: str) -> bool:
        self._skip_blanks()
        return self._line.startswith(text, self._at)

    def accept(self, text: str) -> bool:
        """Moves over `text` where it comes next; a word must end there."""
        self._skip_blanks()
        end = self._at + len(text)
        if not self._line.startswith(text, self._at):
            return False
        if text[-1].isalnum() and re.match(r"\w", self._line[end : end + 1]):
            return False
        self._at = end
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise TextError(f"expected '{text}' before '{self._rest()}'")

    def expect_end(self) -> None:
        if not self.at_end():
            raise TextError(f"'{self._rest()}' is unexpected")

    def _rest(self) -> str:
        rest = self._line[self._at :]
        return rest if len(rest) <= 40 else rest[:37] + "..."

    def take_pattern(self, pattern: str, what: str) -> str:
        self._skip_blanks()
        match = re.compile(pattern).match(self._line, self._at)
        if match is None:
            raise TextError(f"expected {what} before '{self._rest()}'")
        self._at = match.end()
        return match.group()

    def take_word(self, what: str) -> str:
        return self.take_pattern(r"[A-Za-z_][A-Za-z0-9_.]*", what)

    def take_string(self) -> str:
        self._skip_blanks()
        try:
            value, end = json.JSONDecoder().raw_decode(self._line, self._at)
        except (ValueError, RecursionError):
            value, end = None, 0
        if not isinstance(value, str):
            raise TextError(f"expected a quoted string before '{self._rest()}'")
        self._at = end
        return value

    def take_int(self) -> int:
        return int(self.take_pattern(r"[-+]?[0-9]{1,20}(?![0-9.])", "an integer"))

    def take_float(self) -> float:
        text = self.take_pattern(_NUMBER, "a number")
        try:
            return float(text)
        except ValueError:
            raise TextError(f"'{text}' is not a number") from None

    def take_number(self) -> str:
        return self.take_pattern(_NUMBER, "a number")

    def take_bool(self) -> bool:
        word = self.take_word("true or false")
        if word not in ("true", "false"):
            raise TextError(f"'{word}' is neither true nor false")
        return word == "true"

    def take_dtype(self) -> DType:
        word = self.take_word("an element type")
        try:
            return DType(word)
        except ValueError:
            raise TextError(f"'{word}' is not an element type") from None

    def take_list(self, take_item: Callable[[], _T], opening: str = "[", closing: str = "]") -> tuple[_T, ...]:
        self.expect(opening)
        items: list[_T] = []
        while not self.accept(closing):
            if items:
                self.expect(",")
            items.append(take_item())
        return tuple(items)

    def take_dim(self, known: Mapping[str, Symbol]) -> Dim:
        """The text up to the comma or bracket that ends it, as a dimension."""
        self._skip_blanks()
        depth, end = 0, self._at
        while end < len(self._line) and (depth or self._line[end] not in ",]"):
            depth += {"(": 1, ")": -1}.get(self._line[end], 0)
            end += 1
        text = self._line[self._at : end]
        self._at = end
        try:
            return dims.parse(text, known)
        except ValueError as problem:
            raise TextError(str(problem)) from None

    def take_attribute(self, kind: AttrKind, known: Mapping[str, Symbol]) -> AttrValue:
        match kind:
            case AttrKind.BOOL:
                return self.take_bool()
            case AttrKind.INT:
                return self.take_int()
            case AttrKind.FLOAT:
                return self.take_float()
            case AttrKind.STRING:
                return self.take_string()
            case AttrKind.DTYPE:
                return self.take_dtype()
            case AttrKind.INTS:
                return self.take_list(self.take_int)
            case AttrKind.FLOATS:
                return self.take_list(self.take_float)
            case AttrKind.STRINGS:
                return self.take_list(self.take_string)
            case AttrKind.DIMS:
                return self.take_list(lambda: self.take_dim(known))
