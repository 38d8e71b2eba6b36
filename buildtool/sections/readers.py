"""How the text of a value becomes what it means: one reader per kind of value.

A reader is used as an annotation of a pydantic field. It carries the reader itself, the JSON schema of what it accepts
(for editors) and the words that describe it (for the reference page). It refuses a value with `wrong`, in which `{key}`
stands for the key that the value belongs to.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from buildtool.wording import listed, nearest, quoted

LARGEST = 2**31 - 1
JsonSchema = dict[str, Any]


def wrong(what: str, *, rule: str = "", remedy: str = "") -> PydanticCustomError:
    """The refusal of a value."""
    return PydanticCustomError("lathe", "refused", {"what": what, "rule": rule, "remedy": remedy})


class Reader(ABC):
    """Reads one value."""

    @abstractmethod
    def read(self, value: Any) -> Any:
        """What the value means. Raises `wrong`."""

    @property
    @abstractmethod
    def schema(self) -> JsonSchema:
        """The JSON schema of what it accepts."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it accepts, for people."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        return dict(self.schema)


class Plain(Reader):
    """Reads with a function, which returns what the value means or raises `wrong`."""

    def __init__(self, read: Callable[[Any], Any], schema: JsonSchema, words: str) -> None:
        self._read, self._schema, self._words = read, schema, words

    def read(self, value: Any) -> Any:
        return self._read(value)

    @property
    def schema(self) -> JsonSchema:
        return self._schema

    @property
    def words(self) -> str:
        return self._words


@dataclass(frozen=True)
class Choice(Reader):
    """One of some words; an alias is read as the word it stands for.

    `more` gives words that are only known when a file is read, and `excuse` what to tell where a word is like none.
    """

    known: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    more: Callable[[], Iterable[str]] = tuple
    excuse: Callable[[], str] = str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.known, *self.more())))

    def read(self, value: Any) -> str:
        names = self.names
        if value == "" and "" in names:
            return ""
        text = read_text(value)
        word = self.aliases.get(text, text)
        if word not in names:
            meant = nearest(text, (*names, *self.aliases))
            raise wrong(
                f"{{key}} cannot be {quoted(text)}",
                rule=f"allowed: {listed(name or quoted(name) for name in names)}",
                remedy=f"did you mean '{self.aliases.get(meant, meant)}'?" if meant else self.excuse(),
            )
        return word

    @property
    def schema(self) -> JsonSchema:
        return {"enum": [*self.names, *self.aliases]}

    @property
    def words(self) -> str:
        words = ", ".join(f"`{name}`" if name else '`""`' for name in self.names)
        others = ", ".join(f"`{alias}` (= `{name}`)" for alias, name in self.aliases.items())
        return f"{words}; also {others}" if others else words


@dataclass(frozen=True)
class NumberChoice(Reader):
    """One of some numbers."""

    known: tuple[int, ...]

    def read(self, value: Any) -> int:
        return int(Choice(tuple(str(number) for number in self.known)).read(value))

    @property
    def schema(self) -> JsonSchema:
        return {"enum": list(self.known)}

    @property
    def words(self) -> str:
        return ", ".join(f"`{number}`" for number in self.known)


@dataclass(frozen=True)
class Many:
    """Reads a list, or a single value that stands for a list of one, item by item with `item`.

    With `commas` a single value may hold several items with commas between them.
    """

    item: Reader
    commas: bool = False

    @property
    def words(self) -> str:
        return f"{self.item.words}, or a list"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        item = core_schema.no_info_plain_validator_function(self.item.read)
        as_list = _as_split_list if self.commas else _as_list
        return core_schema.no_info_before_validator_function(as_list, core_schema.list_schema(item))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        item = dict(self.item.schema)
        single = [item] if not self.commas else [{"type": "string"}, *([item] if "type" in item else [])]
        return {"anyOf": [*single, {"type": "array", "items": item}]}


def _as_list(value: Any) -> Any:
    if value is None:
        raise _no_value()
    if isinstance(value, dict):
        raise wrong("{key} must be a value or a list, not a mapping")
    return value if isinstance(value, list) else [value]


def _as_split_list(value: Any) -> Any:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else _as_list(value)


def _no_value() -> PydanticCustomError:
    return wrong("{key} has no value", remedy="write a value, or remove the line")


def read_text(value: Any) -> str:
    """Any text but an empty one."""
    if value is None:
        raise _no_value()
    if not isinstance(value, str):
        raise wrong(f"{{key}} must be a single value, not a {'list' if isinstance(value, list) else 'mapping'}")
    if not value.strip():
        raise wrong("{key} is empty", remedy="write a value, or remove the line")
    return value


def choice(known: Iterable[str], aliases: Mapping[str, str] | None = None) -> Choice:
    """One of some words; an alias is read as the word it stands for."""
    return Choice(tuple(known), aliases or {})


def number_choice(*known: int) -> NumberChoice:
    """One of some numbers."""
    return NumberChoice(known)


def _read_whole(value: Any) -> int:
    text = read_text(value)
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) > LARGEST:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule=f"allowed: an integer from 0 to {LARGEST}")
    return int(text)


def _read_path(value: Any) -> str:
    text = read_text(value)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", text)
    if not scheme:
        return text
    if scheme.group(1).lower() not in ("http", "https"):
        raise wrong(
            f"{{key}} cannot be read from {quoted(scheme.group(0))}", rule="allowed: a local path, http:// or https://"
        )
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or re.search(r"[^\x21-\x7e]", text):
        raise wrong(f"{{key}} is not a valid address: {quoted(text)}", remedy="write it as https://host/path")
    return f"{scheme.group(1).lower()}{text[len(scheme.group(1)) :]}"


TEXT = Plain(read_text, {"type": ["string", "number"]}, "text")
PATH = Plain(_read_path, {"type": "string"}, "path, `http://` or `https://` address")
FOLDER = Plain(read_text, {"type": "string"}, "folder")
WHOLE = Plain(_read_whole, {"type": "integer", "minimum": 0}, "whole number")
FLAG = number_choice(0, 1)
ANYTHING = Plain(lambda value: value, {}, "anything")
