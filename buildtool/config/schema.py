"""The JSON schemas of deployment files and of network descriptions, for editors: `lathe schema` writes them."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from buildtool.config.models import sections
from buildtool.errors import ConfigError
from buildtool.extensions.targets import words
from buildtool.sections.section import is_required, names_of
from buildtool.sections.validate import section_at
from buildtool.wording import did_you_mean, listed, quoted

# Marks of ours that mean nothing to an editor.
_OWN_KEYWORDS = ("x-default", "x-required", "x-unsaid", "x-aliases")
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The schema, draft 2020-12. What it accepts may still break a rule between keys."""
    schema = sections().deployment.model_json_schema(mode="validation")
    definitions = schema["$defs"]
    _accept_all_spellings(definitions["ThresholdSection"])
    subgraphs = definitions["ModelSection"]["properties"]["subgraphs"]
    graph = {"$ref": "#/$defs/SubgraphSection"}
    subgraphs.pop("anyOf")
    subgraphs["anyOf"] = [
        {"type": "array", "items": graph, "minItems": 1},
        {"type": "object", "additionalProperties": graph, "minProperties": 1},
    ]
    images = {"$ref": "#/$defs/PreprocessSection"}
    for section in ("ModelSection", "SubgraphSection"):
        entry = definitions[section]["properties"]["preprocess"]
        entry["anyOf"] = [images, {"type": "array", "items": images, "minItems": 1}]
    tidy = _tidied(schema)
    return {"$schema": _DRAFT, **tidy, "title": "Lathe deployment file"}


def description_schema(platform: str) -> dict[str, Any]:
    """The schema of the network descriptions of a platform. ConfigError where it has none."""
    known = {form.platform: form.keys for form in words().descriptions if form.keys is not None}
    if platform not in known:
        raise ConfigError(
            f"there are no network descriptions of the platform {quoted(platform)}",
            rule=f"there are those of {listed(known)}" if known else "",
            remedy=did_you_mean(platform, known),
        )
    schema = known[platform].model_json_schema(mode="validation")
    for section in (known[platform], *_inside(known[platform])):
        part = schema if section is known[platform] else schema["$defs"][section.__name__]
        _accept_all_names(section, part)
        part["required"] = [name for name in section.model_fields if is_required(section, name)]
    return {"$schema": _DRAFT, **_tidied(schema), "title": f"Network description ({platform})"}


def _inside(section: type[BaseModel]) -> list[type[BaseModel]]:
    """The sections in the lists of a section."""
    return list(dict.fromkeys(found for name in section.model_fields if (found := section_at(section, (name, 0)))))


def _accept_all_names(section: type[BaseModel], schema: dict[str, Any]) -> None:
    for alias, name in names_of(section).items():
        schema["properties"][alias] = schema["properties"][name]


def schema_text(platform: str = "") -> str:
    """The schema as a file holds it: of deployment files, or of the network descriptions of a platform."""
    schema = description_schema(platform) if platform else json_schema()
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _accept_all_spellings(thresholds: dict[str, Any]) -> None:
    properties = thresholds["properties"]
    for name in sections().thresholds.model_fields:
        properties[name.upper()] = properties[name]
    for other in ("hexagon", "HEXAGON"):
        properties[other] = properties["dsp"]


def _tidied(node: Any, *, is_names: bool = False) -> Any:
    """Without generated titles, and without null: a key that is there has a value.

    `is_names` tells a mapping from names of keys to their schemas, where a name like `title` would be no keyword.
    """
    if isinstance(node, list):
        return [_tidied(item) for item in node]
    if not isinstance(node, dict):
        return node
    if is_names:
        return {name: _tidied(value) for name, value in node.items()}
    kept = {
        word: _tidied(value, is_names=word in ("properties", "$defs"))
        for word, value in node.items()
        if word not in ("title", *_OWN_KEYWORDS) and not (word == "default" and value is None)
    }
    options = kept.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        kept.pop("anyOf")
        kept = {**kept, **(rest[0] if len(rest) == 1 else {"anyOf": rest})}
    return kept
