"""The kinds of values that only descriptions of networks have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from buildtool.sections.readers import LARGEST, JsonSchema, Plain, Reader, read_text, wrong
from buildtool.targets.max7800x.devices import PROCESSORS
from buildtool.wording import counted, listed, nearest, quoted

SNOOP_REGISTERS = 32
_WHOLE = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_FRACTION = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9_]+)(?:[eE][-+][0-9]+)?")
_HEXADECIMAL = re.compile(r"(?:0x)?[0-9a-fA-F]+", re.IGNORECASE)
_INTEGER: JsonSchema = {"type": ["integer", "string"]}  # editors read 0x1F as text


@dataclass(frozen=True)
class Meaning(Reader):
    """One of some words, whatever their case, and what each means."""

    meanings: Mapping[str, Any]
    allowed: str = ""

    def read(self, value: Any) -> Any:
        text = read_text(value).strip()
        if text.lower() not in self.meanings:
            meant = "" if self.allowed else nearest(text, self.meanings)
            raise wrong(
                f"{{key}} cannot be {quoted(text)}",
                rule=f"allowed: {self.allowed or listed(self.meanings)}",
                remedy=f"did you mean '{meant}'?" if meant else "",
            )
        return self.meanings[text.lower()]

    @property
    def schema(self) -> JsonSchema:
        plain = [int(word) for word in self.meanings if word.isdecimal()]
        plain += [True, False] if "true" in self.meanings else []
        cased = ("".join(f"[{char.upper()}{char}]" if char.isalpha() else char for char in w) for w in self.meanings)
        text: JsonSchema = {"type": "string", "pattern": f"^({'|'.join(cased)})$"}
        return {"anyOf": [text, {"enum": plain}]} if plain else text

    @property
    def words(self) -> str:
        return self.allowed or ", ".join(f"`{word}`" for word in self.meanings)


def words_of(words: Iterable[str], value: Any) -> dict[str, Any]:
    """Several spellings of one thing."""
    return dict.fromkeys(words, value)


def _number(value: Any) -> int:
    """An integer: decimal, 0x or 0b, with `_` between digits."""
    text = read_text(value).strip()
    if _LEADING_ZERO.fullmatch(text):
        raise wrong(
            f"{{key}} cannot be {quoted(text)}",
            rule="YAML reads a number that starts with 0 as octal",
            remedy="write 0x before hexadecimal digits, or remove the zeros",
        )
    digits = text.lstrip("+-").replace("_", "")
    base = {"0x": 16, "0b": 2}.get(digits[:2], 10)
    digits = digits[2:] if base != 10 else digits
    if not _WHOLE.fullmatch(text) or len(text) > 80 or not digits:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: an integer")
    return (-1 if text[0] == "-" else 1) * int(digits, base)


def whole(low: int = 0, high: int = LARGEST) -> Reader:
    """An integer between two others."""
    bounds = f"at least {low}" if high == LARGEST else f"from {low} to {high}"

    def read(value: Any) -> int:
        found = _number(value)
        if not low <= found <= high:
            raise wrong(f"{{key}} cannot be {quoted(read_text(value))}", rule=f"an integer {bounds}")
        return found

    return Plain(read, _INTEGER, f"integer {bounds}")


def _read_offset(value: Any) -> int:
    found: int = whole().read(value)
    if found % 4:
        raise wrong(
            f"{{key}} cannot be {quoted(read_text(value))}",
            rule="the data memory is read and written in words of 4 bytes",
            remedy=f"write {found - found % 4:#06x} or {found - found % 4 + 4:#06x}",
        )
    return found


def _read_processors(value: Any) -> int:
    text = read_text(value).strip()
    rule = f"allowed: a number from 1 to 2^{PROCESSORS}-1; hexadecimal digits may have '_' or '.' between them"
    digits = text.replace(".", "").replace("_", "")
    if _FRACTION.fullmatch(text):
        raise wrong(
            f"{{key}} cannot be {quoted(text)}: YAML takes it for a decimal fraction",
            rule=rule,
            remedy=f"write 0x{text}" if _HEXADECIMAL.fullmatch(digits) else "",
        )
    if _WHOLE.fullmatch(text) or _LEADING_ZERO.fullmatch(text):
        found = _number(value)
    elif _HEXADECIMAL.fullmatch(digits):
        found = int(digits, 16)
    else:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule=rule)
    if found == 0:
        raise wrong("{key} cannot be 0", rule="at least one processor works on a layer")
    if not 0 < found < 2**PROCESSORS:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule=rule)
    return found


def hexadecimal(text: str) -> str:
    """Digits in quotes, as processors are often written: they are hexadecimal."""
    bare = _HEXADECIMAL.fullmatch(text.strip().replace(".", "").replace("_", ""))
    return f"0x{text.strip()}" if bare and not text.strip().lower().startswith("0x") else text


def _read_layer(value: Any) -> int | str:
    text = read_text(value).strip()
    number = _WHOLE.fullmatch(text) or _LEADING_ZERO.fullmatch(text)
    return int(whole(-1).read(value)) if number else text


def _items(value: Any, most: int | None = None, rule: str = "") -> list[Any]:
    """The items of a list, or a single value as a list of one."""
    found = value if isinstance(value, list) else [read_text(value)]
    if not found:
        raise wrong("{key} is an empty list", remedy="write at least one value, or remove the line")
    if most is not None and len(found) > most:
        raise wrong(f"{{key}} has {counted(len(found), 'value')}", rule=rule)
    return found


def _list_of(item: Reader) -> JsonSchema:
    return {"anyOf": [item.schema, {"type": "array", "items": item.schema, "minItems": 1}]}


def many(item: Reader) -> Reader:
    """A list, or one value."""
    read: Callable[[Any], Any] = lambda value: tuple(item.read(one) for one in _items(value))  # noqa: E731
    return Plain(read, _list_of(item), f"{item.words}, or a list")


def _two(value: Any, item: Reader) -> tuple[int, ...]:
    return tuple(item.read(one) for one in _items(value, 2, "one number, or a list of two"))


def pair(item: Reader) -> Reader:
    """Two numbers, or one that stands for both."""
    read: Callable[[Any], Any] = lambda value: (_two(value, item)[0], _two(value, item)[-1])  # noqa: E731
    return Plain(read, _list_of(item), f"{item.words}, or two of them")


def _read_size(value: Any) -> tuple[int, int]:
    found = _two(value, whole(1))
    return (found[0], found[1]) if len(found) == 2 else (found[0], 1)


def _read_crop(value: Any) -> tuple[int, int]:
    found = _two(value, whole())
    if len(found) != 2:
        raise wrong("{key} has one value", rule="allowed: a list of two numbers")
    return found[0], found[1]


def _read_kernel_size(value: Any) -> tuple[int, ...]:
    text = read_text(value).strip().lower()
    if not re.fullmatch(r"[0-9]{1,4}(x[0-9]{1,4})?", text):
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="such as 3x3, or 1 to 9 in one dimension")
    return tuple(int(part) for part in text.split("x"))


def _read_snoop(value: Any) -> tuple[int, ...]:
    found = tuple(whole(0, 2**32 - 1).read(one) for one in _items(value))
    if len(found) != SNOOP_REGISTERS:
        rule = f"it holds the values of {SNOOP_REGISTERS} registers"
        raise wrong(f"{{key}} has {counted(len(found), 'value')}", rule=rule)
    return found


_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
TRUTH = Meaning({**words_of(_YES, True), **words_of(_NO, False)}, "true or false")
OFFSET = Plain(_read_offset, _INTEGER, "multiple of 4, in bytes")
PROCESSORS_MASK = Plain(_read_processors, _INTEGER, "a bit for each processor, such as `0x00000000ffffffff`")
LAYER = Plain(_read_layer, _INTEGER, "number or name of a layer")
SIZE = Plain(_read_size, _list_of(whole(1)), "`[rows, columns]`, or a length")
CROP = Plain(_read_crop, {"type": "array", "items": _INTEGER, "minItems": 2, "maxItems": 2}, "two integers")
KERNEL_SIZE = Plain(_read_kernel_size, {"type": ["string", "integer"]}, "such as `3x3`, or `1` to `9` in one dimension")
SNOOP = Plain(_read_snoop, _list_of(whole()), f"{SNOOP_REGISTERS} integers")
