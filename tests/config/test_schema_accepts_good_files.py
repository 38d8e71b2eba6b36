"""The schema accepts what the loader accepts, read the way an editor reads YAML.

The checker below knows the few keywords that the schema uses, and fails on any other.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from buildtool.config import description_schema, json_schema

GOOD = sorted((Path(__file__).parent / "good").glob("*.yml"))
SCHEMA = json_schema()
DESCRIPTION = description_schema("ai8x")
DEFINITIONS = SCHEMA["$defs"] | DESCRIPTION["$defs"]
DESCRIBED = Path(__file__).parents[2] / "examples" / "max7800x" / "described" / "network.yaml"
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}
SILENT = {"description", "default", "deprecated", "title", "$schema", "$defs"}


def complaints(schema: dict[str, Any], value: Any, at: str) -> list[str]:
    """What the schema has against a value."""
    found: list[str] = []
    for word, rule in schema.items():
        if word in SILENT:
            continue
        found += KEYWORDS[word](rule, value, at, schema)  # type: ignore[operator]
    return found


def _reference(rule: str, value: Any, at: str, schema: dict[str, Any]) -> list[str]:
    return complaints(DEFINITIONS[rule.rpartition("/")[2]], value, at)


def _type(rule: str | list[str], value: Any, at: str, schema: dict[str, Any]) -> list[str]:
    allowed = tuple(kind for name in ([rule] if isinstance(rule, str) else rule) for kind in TYPES[name])
    return [] if isinstance(value, allowed) else [f"{at}: {value!r} is no {rule}"]


def _properties(rule: dict[str, Any], value: Any, at: str, schema: dict[str, Any]) -> list[str]:
    known = value if isinstance(value, dict) else {}
    return [line for key in known if key in rule for line in complaints(rule[key], known[key], f"{at}.{key}")]


def _additional(rule: Any, value: Any, at: str, schema: dict[str, Any]) -> list[str]:
    others = [key for key in value if key not in schema.get("properties", {})] if isinstance(value, dict) else []
    if rule is False:
        return [f"{at}: unknown {key}" for key in others]
    return [line for key in others for line in complaints(rule, value[key], f"{at}.{key}")]


def _any_of(rule: list[dict[str, Any]], value: Any, at: str, schema: dict[str, Any]) -> list[str]:
    tries = [complaints(option, value, at) for option in rule]
    return [] if [] in tries else [line for lines in tries for line in lines]


def _items(rule: dict[str, Any], value: Any, at: str, schema: dict[str, Any]) -> list[str]:
    items = value if isinstance(value, list) else []
    return [line for index, item in enumerate(items) for line in complaints(rule, item, f"{at}[{index}]")]


def _size(value: Any, rule: int, sign: int, at: str) -> list[str]:
    """`sign`: 1 for the smallest size, -1 for the largest."""
    wrong = isinstance(value, list) and (len(value) - rule) * sign < 0
    return [f"{at}: {len(value)} values, and the limit is {rule}"] if wrong else []


KEYWORDS = {
    "$ref": _reference,
    "type": _type,
    "properties": _properties,
    "additionalProperties": _additional,
    "anyOf": _any_of,
    "items": _items,
    "enum": lambda rule, value, at, _: [] if value in rule else [f"{at}: {value!r} is not in {rule}"],
    "pattern": lambda rule, value, at, _: [] if re.search(rule, str(value)) else [f"{at}: {value!r}"],
    "required": lambda rule, value, at, _: [f"{at}: no {key}" for key in rule if key not in value],
    "minimum": lambda rule, value, at, _: (
        [] if isinstance(value, str) or value >= rule else [f"{at}: {value} < {rule}"]
    ),
    "maximum": lambda rule, value, at, _: (
        [] if isinstance(value, str) or value <= rule else [f"{at}: {value} > {rule}"]
    ),
    "minItems": lambda rule, value, at, _: _size(value, rule, 1, at),
    "maxItems": lambda rule, value, at, _: _size(value, rule, -1, at),
    "minProperties": lambda rule, value, at, _: [] if len(value) >= rule else [f"{at}: empty"],
}


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_schema_accepts(path: Path) -> None:
    assert complaints(SCHEMA, yaml.safe_load(path.read_text(encoding="utf-8")), path.stem) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("platform: keras", "platform: karas"),
        ("quantize: 1", "quantise: 1"),
        ("target_abis: [host]", "target_abis: {host: 1}"),
        ("backend: cmsis", "backend: 1"),
        ("models:", "model:"),
    ],
)
def test_schema_refuses(old: str, new: str) -> None:
    text = (Path(__file__).parent / "good" / "keras_int8_host.yml").read_text(encoding="utf-8")
    assert old in text
    assert complaints(SCHEMA, yaml.safe_load(text.replace(old, new)), "")


def test_schema_of_descriptions_accepts_what_is_read() -> None:
    text = DESCRIBED.read_text(encoding="utf-8")
    assert complaints(DESCRIPTION, yaml.safe_load(text), "network") == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("layers:", "layer:", "unknown layer"),
        ("operation: linear", "operatino: linear", "unknown operatino"),
        ("operation: linear", "op: lineer", "'lineer'"),
        ("output_width: 32", "output_width: 16", "16"),
        ("arch: digits", "", "no arch"),
    ],
)
def test_schema_of_descriptions_refuses(old: str, new: str, complaint: str) -> None:
    text = DESCRIBED.read_text(encoding="utf-8")
    assert old in text
    assert complaint in "\n".join(complaints(DESCRIPTION, yaml.safe_load(text.replace(old, new)), "network"))
