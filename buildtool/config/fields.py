"""How the text of a value becomes what it means: one reader per kind of value.

A reader is used as an annotation of a pydantic field. It carries the reader itself, the JSON schema of what it accepts
(for editors) and the words that describe it (for the reference page). It refuses a value with `wrong`, in which `{key}`
stands for the key that the value belongs to.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from buildtool.config.abis import ALIASES, TARGETS, canonical_abi, known_targets
from buildtool.config.deployment import Dimension, ShapeConfig
from buildtool.wording import counted, did_you_mean, listed, nearest, quoted

MAX_RANK = 8
MAX_DIMENSION = 2**31 - 1
JsonSchema = dict[str, Any]


def wrong(what: str, *, rule: str = "", remedy: str = "") -> PydanticCustomError:
    """The refusal of a value."""
    return PydanticCustomError("lathe", "refused", {"what": what, "rule": rule, "remedy": remedy})


@dataclass(frozen=True)
class Reader:
    """Reads one value with `read`, a function that returns what the value means or raises `wrong`."""

    read: Callable[[Any], Any]
    schema: JsonSchema
    words: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        return dict(self.schema)


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
        single = {"type": "string"} if self.commas else dict(self.item.schema)
        return {"anyOf": [single, {"type": "array", "items": dict(self.item.schema)}]}


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


def _read_choice(known: tuple[str, ...], aliases: Mapping[str, str], value: Any) -> str:
    if value == "" and "" in known:
        return ""
    text = read_text(value)
    word = aliases.get(text, text)
    if word not in known:
        meant = nearest(text, (*known, *aliases))
        raise wrong(
            f"{{key}} cannot be {quoted(text)}",
            rule=f"allowed: {listed(name or quoted(name) for name in known)}",
            remedy=f"did you mean '{aliases.get(meant, meant)}'?" if meant else "",
        )
    return word


def choice(known: Iterable[str], aliases: Mapping[str, str] | None = None) -> Reader:
    """One of some words; an alias is read as the word it stands for."""
    names, others = tuple(known), dict(aliases or {})

    def read(value: Any) -> str:
        return _read_choice(names, others, value)

    words = ", ".join(f"`{name}`" if name else '`""`' for name in names)
    if others:
        words += "; also " + ", ".join(f"`{alias}` (= `{name}`)" for alias, name in others.items())
    return Reader(read, {"enum": [*names, *others]}, words)


def number_choice(*known: int) -> Reader:
    """One of some numbers."""
    names = tuple(str(number) for number in known)

    def read(value: Any) -> int:
        return int(_read_choice(names, {}, value))

    return Reader(read, {"enum": list(known)}, ", ".join(f"`{name}`" for name in names))


def _read_whole(value: Any) -> int:
    text = read_text(value)
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) > MAX_DIMENSION:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule=f"allowed: a whole number from 0 to {MAX_DIMENSION}")
    return int(text)


def _read_port(value: Any) -> int:
    text = read_text(value)
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65535:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: a port from 1 to 65535")
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
        raise wrong(f"{{key}} is no valid address: {quoted(text)}", remedy="write it as https://host/path")
    return f"{scheme.group(1).lower()}{text[len(scheme.group(1)) :]}"


def _read_checksum(value: Any) -> str:
    text = read_text(value)
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        digits = re.fullmatch(r"[0-9a-fA-F]+", text)
        found = f"{counted(len(text), 'digit')}" if digits else quoted(text)
        raise wrong(
            f"{{key}} is no SHA-256 checksum: {found}",
            rule="a SHA-256 checksum has 64 hexadecimal digits",
            remedy="`sha256sum FILE` prints it",
        )
    return text.lower()


def _parts(value: Any) -> list[str]:
    """The pieces of `1,2,3`, or of the list [1, 2, 3]."""
    if isinstance(value, list):
        return [read_text(item) for item in value]
    return [part.strip() for part in read_text(value).split(",")]


def _read_dimension(text: str, whole: str) -> Dimension:
    bounds = re.fullmatch(r"([0-9]+)(?:\s*\.\.\s*([0-9]+))?", text)
    if not bounds:
        remedy = "write bounds for a size that is only known at run time, such as 1..8"
        unknown = re.fullmatch(r"-1|\?|None|[A-Za-z_]\w*", text) is not None
        raise wrong(
            f"{quoted(text or whole)} is no size, in {{key}}",
            rule='a shape is a list of sizes such as "1,224,224,3", or of bounds such as "1,3,32..960,32..960"',
            remedy=remedy if unknown else "",
        )
    low, high = (int(part[:12]) for part in (bounds.group(1), bounds.group(2) or bounds.group(1)))
    if not 1 <= low <= high <= MAX_DIMENSION:
        order = "the lower bound comes first" if low > high else f"a size is between 1 and {MAX_DIMENSION}"
        raise wrong(f"{quoted(text)} is no size, in {{key}}", rule=order)
    return low if low == high else (low, high)


def _read_shape(value: Any) -> ShapeConfig:
    parts = _parts(value)
    if len(parts) > MAX_RANK:
        raise wrong(f"a shape in {{key}} has {len(parts)} sizes", rule=f"a tensor has at most {MAX_RANK} dimensions")
    return tuple(_read_dimension(part, str(value)) for part in parts)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def _read_range(value: Any) -> tuple[float, float]:
    parts = _parts(value)
    numbers = [number for number in map(_number, parts) if number is not None]
    if len(parts) != 2 or len(numbers) != 2 or numbers[0] >= numbers[1]:
        raise wrong(
            f"{{key}} has {quoted(','.join(parts))} for a range", rule='a range is "low,high" with low below high'
        )
    return numbers[0], numbers[1]


def _read_similarity(value: Any) -> float:
    text = read_text(value)
    number = _number(text)
    if number is None or not 0 <= number <= 1:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: a cosine similarity from 0 to 1")
    return number


def _read_abi(value: Any) -> str:
    text = read_text(value)
    try:
        return canonical_abi(text)
    except ValueError:
        raise wrong(
            f"{{key}} cannot be {quoted(text)}",
            rule=f"allowed: {known_targets()}",
            remedy=did_you_mean(text, (*TARGETS, *ALIASES)),
        ) from None


def _read_glibc(value: Any) -> str:
    text = read_text(value)
    if not re.fullmatch(r"2\.[0-9]{1,3}", text):
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: a version of glibc such as 2.17")
    return text


def _read_android_api(value: Any) -> int:
    text = read_text(value)
    if not re.fullmatch(r"[0-9]{2}", text) or int(text) < 21:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: an API level of Android from 21 (Android 5) on")
    return int(text)


_STRING: JsonSchema = {"type": "string"}
_STRING_OR_NUMBER: JsonSchema = {"type": ["string", "number"]}
_SIZES: JsonSchema = {
    "anyOf": [{"type": ["string", "integer"]}, {"type": "array", "items": {"type": ["string", "integer"]}}]
}
_PAIR: JsonSchema = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}]
}

TEXT = Reader(read_text, _STRING_OR_NUMBER, "text")
PATH = Reader(_read_path, _STRING, "path, `http://` or `https://` address")
FOLDER = Reader(read_text, _STRING, "folder")
CHECKSUM = Reader(_read_checksum, {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}, "64 hexadecimal digits")
WHOLE = Reader(_read_whole, {"type": "integer", "minimum": 0}, "whole number")
PORT = Reader(_read_port, {"type": "integer", "minimum": 1, "maximum": 65535}, "port")
FLAG = number_choice(0, 1)
SHAPE = Reader(_read_shape, _SIZES, "shape such as `1,224,224,3` or, with bounds, `1,3,32..960,32..960`")
RANGE = Reader(_read_range, _PAIR, "range such as `-1.0,1.0`")
SIMILARITY = Reader(_read_similarity, {"type": "number", "minimum": 0, "maximum": 1}, "number from 0 to 1")
ABI = Reader(_read_abi, {"enum": [*TARGETS, *ALIASES]}, "target")
GLIBC = Reader(_read_glibc, {"type": ["string", "number"]}, "version")
ANDROID_API = Reader(_read_android_api, {"type": "integer", "minimum": 21, "maximum": 99}, "number from 21 on")
ANYTHING = Reader(lambda value: value, {}, "anything")
