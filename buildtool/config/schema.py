"""The JSON schema of deployment files, for editors: `lathe schema` writes it."""

from __future__ import annotations

import json
from typing import Any

from buildtool.config.models import sections

# Marks of ours that mean nothing to an editor.
_OWN_KEYWORDS = ("x-default", "x-required", "x-unsaid")


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
    tidy = _tidied(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **tidy, "title": "Lathe deployment file"}


def schema_text() -> str:
    """The schema as a file holds it."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


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
