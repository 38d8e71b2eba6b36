"""What the text of a value means: one reader per kind. A reader raises `WrongValueError` for what it does not take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from buildtool.targets.max7800x.devices import PROCESSORS
from buildtool.wording import counted, listed, nearest, quoted
from buildtool.yaml_marks import Node, Scalar, Sequence

Reader = Callable[[Node], Any]

LARGEST = 2**31 - 1
_WHOLE = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_FRACTION = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9_]+)(?:[eE][-+][0-9]+)?")
_HEXADECIMAL = re.compile(r"(?:0x)?[0-9a-fA-F]+", re.IGNORECASE)
_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


class WrongValueError(Exception):
    """The refusal of a value. In `what`, `{key}` stands for the key that the value belongs to."""

    def __init__(self, what: str, *, rule: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what, self.rule, self.remedy = what, rule, remedy


def text_of(node: Node) -> str:
    """The text of a single value."""
    if not isinstance(node, Scalar):
        kind = "list" if isinstance(node, Sequence) else "mapping"
        raise WrongValueError(f"{{key}} must be a single value, not a {kind}")
    if node.is_null or not node.text.strip():
        raise WrongValueError("{key} has no value", remedy="write a value, or remove the line")
    return node.text.strip()


def number(node: Node) -> int:
    """A whole number: decimal, 0x or 0b, with `_` between digits."""
    text = text_of(node)
    if _LEADING_ZERO.fullmatch(text):
        raise WrongValueError(
            f"{{key}} cannot be {quoted(text)}",
            rule="YAML reads a number that starts with 0 as octal",
            remedy="write 0x before hexadecimal digits, or remove the zeros",
        )
    if not _WHOLE.fullmatch(text) or len(text) > 80:
        raise WrongValueError(f"{{key}} cannot be {quoted(text)}", rule="allowed: an integer")
    sign, digits = (-1 if text[0] == "-" else 1), text.lstrip("+-").replace("_", "")
    base = {"0x": 16, "0b": 2}.get(digits[:2], 10)
    digits = digits[2:] if base != 10 else digits
    if not digits:
        raise WrongValueError(f"{{key}} cannot be {quoted(text)}", rule="allowed: an integer")
    return sign * int(digits, base)


def whole(low: int = 0, high: int = LARGEST) -> Reader:
    """A whole number between two others."""

    def read(node: Node) -> int:
        value = number(node)
        if not low <= value <= high:
            bounds = f"at least {low}" if high == LARGEST else f"from {low} to {high}"
            raise WrongValueError(f"{{key}} cannot be {quoted(text_of(node))}", rule=f"an integer {bounds}")
        return value

    return read


def offset(node: Node) -> int:
    """A place in the data memory: bytes from its start."""
    value: int = whole()(node)
    if value % 4:
        raise WrongValueError(
            f"{{key}} cannot be {quoted(text_of(node))}",
            rule="the data memory is read and written in words of 4 bytes",
            remedy=f"write {value - value % 4:#06x} or {value - value % 4 + 4:#06x}",
        )
    return value


def truth(node: Node) -> bool:
    """True or false, as YAML 1.1 spells them."""
    text = text_of(node)
    if text.lower() not in _TRUTHS:
        raise WrongValueError(f"{{key}} cannot be {quoted(text)}", rule="allowed: true or false")
    return _TRUTHS[text.lower()]


def choice(words: Mapping[str, Any]) -> Reader:
    """One of some words, whatever their case."""

    def read(node: Node) -> Any:
        text = text_of(node)
        if text.lower() not in words:
            meant = nearest(text, words)
            raise WrongValueError(
                f"{{key}} cannot be {quoted(text)}",
                rule=f"allowed: {listed(words)}",
                remedy=f"did you mean '{meant}'?" if meant else "",
            )
        return words[text.lower()]

    return read


def name(node: Node) -> str:
    """Any text."""
    return text_of(node)


def processors(node: Node) -> int:
    """A bit for each processor: a number, or hexadecimal digits with `_` or `.` between them."""
    text = text_of(node)
    plain = isinstance(node, Scalar) and node.plain
    rule = f"allowed: a number from 1 to 2^{PROCESSORS}-1; hexadecimal digits may have '_' or '.' between them"
    if plain and _FRACTION.fullmatch(text):
        raise WrongValueError(
            f"{{key}} cannot be {quoted(text)}: YAML takes it for a decimal fraction",
            rule=rule,
            remedy=f"write 0x{text}" if _HEXADECIMAL.fullmatch(text.replace(".", "").replace("_", "")) else "",
        )
    if plain and (_WHOLE.fullmatch(text) or _LEADING_ZERO.fullmatch(text)):
        value = number(node)
    else:
        digits = text.replace(".", "").replace("_", "")
        if not _HEXADECIMAL.fullmatch(digits):
            raise WrongValueError(f"{{key}} cannot be {quoted(text)}", rule=rule)
        value = int(digits, 16)
    if value == 0:
        raise WrongValueError("{key} cannot be 0", rule="at least one processor works on a layer")
    if not 0 < value < 2**PROCESSORS:
        raise WrongValueError(f"{{key}} cannot be {quoted(text)}", rule=rule)
    return value


def either(numbers: Reader, node: Node) -> int | str:
    """A number, or the name of something."""
    text = text_of(node)
    return int(numbers(node)) if _WHOLE.fullmatch(text) or _LEADING_ZERO.fullmatch(text) else text


def layer_reference(node: Node) -> int | str:
    """A layer by number (-1: the input) or by name."""
    return either(whole(-1), node)


def items(node: Node) -> tuple[Node, ...]:
    """The items of a list, or a single value as a list of one."""
    if isinstance(node, Sequence):
        if not node.items:
            raise WrongValueError("{key} is an empty list", remedy="write at least one value, or remove the line")
        return node.items
    text_of(node)  # refuses mappings
    return (node,)


def many(reader: Reader) -> Reader:
    """A list, or one value."""
    return lambda node: tuple(reader(item) for item in items(node))


def pair(reader: Reader) -> Reader:
    """Two numbers, or one that stands for both."""

    def read(node: Node) -> tuple[int, int]:
        values = _at_most_two(reader, node)
        return values[0], values[-1]

    return read


def size(node: Node) -> tuple[int, int]:
    """Rows and columns, or a length alone."""
    values = _at_most_two(whole(1), node)
    return (values[0], values[1]) if len(values) == 2 else (values[0], 1)


def exactly_two(reader: Reader) -> Reader:
    """A list of two numbers."""

    def read(node: Node) -> tuple[int, int]:
        values = _at_most_two(reader, node)
        if len(values) != 2:
            raise WrongValueError("{key} has one value", rule="allowed: a list of two numbers")
        return values[0], values[1]

    return read


def _at_most_two(reader: Reader, node: Node) -> tuple[int, ...]:
    values = tuple(reader(item) for item in items(node))
    if len(values) > 2:
        raise WrongValueError(f"{{key}} has {counted(len(values), 'value')}", rule="one number, or a list of two")
    return values


def kernel_size(node: Node) -> tuple[int, ...]:
    """`3x3`, or the length of a kernel of one dimension."""
    text = text_of(node).lower()
    if not re.fullmatch(r"[0-9]{1,4}(x[0-9]{1,4})?", text):
        raise WrongValueError(f"{{key}} cannot be {quoted(text)}", rule="such as 3x3, or 1 to 9 in one dimension")
    return tuple(int(part) for part in text.split("x"))


def quantization(node: Node) -> int:
    """Bits of weights; -1 stands for plus and minus one."""
    return int(choice({"1": 1, "2": 2, "4": 4, "8": 8, "bin": -1, "binary": -1})(node))


def words_of(words: Iterable[str], value: Any) -> dict[str, Any]:
    """Several spellings of one thing."""
    return dict.fromkeys(words, value)
