"""The kinds of values that only deployment and device files have."""

from __future__ import annotations

import math
import re
from typing import Any

from buildtool.config.abis import ALIASES, canonical_abi, known_targets, spellings, targets, unloaded
from buildtool.config.deployment import Dimension, ShapeConfig
from buildtool.sections.readers import LARGEST, JsonSchema, Plain, Reader, read_text, wrong
from buildtool.wording import counted, did_you_mean, quoted

MAX_RANK = 8
MAX_DIMENSION = LARGEST


def _read_port(value: Any) -> int:
    text = read_text(value)
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65535:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: a port from 1 to 65535")
    return int(text)


def _read_checksum(value: Any) -> str:
    text = read_text(value)
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        digits = re.fullmatch(r"[0-9a-fA-F]+", text)
        found = f"{counted(len(text), 'digit')}" if digits else quoted(text)
        raise wrong(
            f"{{key}} is not a SHA-256 checksum: {found}",
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
        remedy = "write bounds for a dimension that is known only at run time, such as 1..8"
        unknown = re.fullmatch(r"-1|\?|None|[A-Za-z_]\w*", text) is not None
        split = re.fullmatch(r"[0-9]+([xX*; ]\s*[0-9]+)+", text)
        raise wrong(
            f"{quoted(text or whole)} is not a dimension, in {{key}}",
            rule='a shape is a list of dimensions such as "1,224,224,3", or of bounds such as "1,3,32..960,32..960"',
            remedy=remedy if unknown else f"write it as {','.join(re.findall('[0-9]+', text))}" if split else "",
        )
    low, high = (int(part[:12]) for part in (bounds.group(1), bounds.group(2) or bounds.group(1)))
    if not 1 <= low <= high <= MAX_DIMENSION:
        order = "the lower bound comes first" if low > high else f"a dimension is between 1 and {MAX_DIMENSION}"
        remedy = f"write {high}..{low}" if low > high else ""
        raise wrong(f"{quoted(text)} is not a dimension, in {{key}}", rule=order, remedy=remedy)
    return low if low == high else (low, high)


def _read_shape(value: Any) -> ShapeConfig:
    parts = _parts(value)
    if len(parts) > MAX_RANK:
        raise wrong(
            f"a shape in {{key}} has {len(parts)} dimensions", rule=f"a tensor has at most {MAX_RANK} dimensions"
        )
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
    if len(parts) != 2 or len(numbers) != 2 or numbers[0] > numbers[1]:
        raise wrong(
            f"{{key}} has {quoted(','.join(parts))} for a range", rule='a range is "low,high" with low not above high'
        )
    return numbers[0], numbers[1]


def _read_real(value: Any) -> float:
    text = read_text(value)
    number = _number(text)
    if number is None:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: a number")
    return number


def _read_similarity(value: Any) -> float:
    text = read_text(value)
    number = _number(text)
    if number is None or not 0 <= number <= 1:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: a cosine similarity from 0 to 1")
    return number


class _Abi(Reader):
    """A target. Which there are depends on the packages that are installed."""

    def read(self, value: Any) -> str:
        text = read_text(value)
        try:
            return canonical_abi(text)
        except ValueError:
            raise wrong(
                f"{{key}} cannot be {quoted(text)}",
                rule=f"allowed: {known_targets()}",
                remedy=did_you_mean(text, spellings())
                or unloaded()
                or "name one of them; `lathe doctor` shows which of them can be built here",
            ) from None

    @property
    def schema(self) -> JsonSchema:
        return {"enum": [*targets(), *ALIASES]}

    @property
    def words(self) -> str:
        return "target"


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


_SIZES: JsonSchema = {
    "anyOf": [{"type": ["string", "integer"]}, {"type": "array", "items": {"type": ["string", "integer"]}}]
}
_PAIR: JsonSchema = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}]
}

CHECKSUM = Plain(_read_checksum, {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}, "64 hexadecimal digits")
PORT = Plain(_read_port, {"type": "integer", "minimum": 1, "maximum": 65535}, "port")
SHAPE = Plain(_read_shape, _SIZES, "shape such as `1,224,224,3` or, with bounds, `1,3,32..960,32..960`")
RANGE = Plain(_read_range, _PAIR, "range such as `-1.0,1.0`")
REAL = Plain(_read_real, {"type": "number"}, "number")
SIMILARITY = Plain(_read_similarity, {"type": "number", "minimum": 0, "maximum": 1}, "number from 0 to 1")
ABI = _Abi()
GLIBC = Plain(_read_glibc, {"type": ["string", "number"]}, "version")
ANDROID_API = Plain(_read_android_api, {"type": "integer", "minimum": 21, "maximum": 99}, "number from 21 on")
