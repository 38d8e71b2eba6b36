"""The tables of keys on the reference page, made from the descriptions beside the keys.

A page has two comments for each table, `<!-- keys: NAME -->` and `<!-- end of keys -->`; `updated_page` puts the table
between them when the site is built (scripts/list_keys.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import BaseModel

from buildtool.config.abis import ALIASES, targets
from buildtool.config.built import is_built
from buildtool.config.device_file import DeviceSection
from buildtool.config.models import DeploymentSection, FrontendSection, GraphSection, MicroSection, sections
from buildtool.config.preprocess_keys import PreprocessSection
from buildtool.extensions.targets import words
from buildtool.sections.section import is_dead, names_of, reader_of
from buildtool.sections.validate import section_at

_BLOCK = re.compile(r"(<!-- keys: ([a-z0-9-]+) -->\n).*?(<!-- end of keys -->)", re.DOTALL)

_GROUPS: dict[str, tuple[str, ...]] = {
    "model": (
        "platform",
        "model_",
        "weight_",
        "runtime",
        "data_type",
        "graph_optimize_options",
        "obfuscate",
        "winograd",
    ),
    "tensors": ("input_", "output_", "check_", "order"),
    "validation": ("validation_", "input_files", "accuracy_", "backend"),
    "quantize": ("quantize", "change_concat_ranges"),
    "gpu": ("limit_opencl", "opencl_", "cl_mem_type"),
}


def tables() -> dict[str, str]:
    """Every table by its name in the page."""
    grouped = {name: _table(GraphSection, _group_keys(name)) for name in _GROUPS}
    dead = [key for key in GraphSection.model_fields if is_dead(GraphSection, key)]
    return {
        "top": _table(DeploymentSection, [key for key in DeploymentSection.model_fields if key != "models"]),
        "targets": _target_table(),
        **grouped,
        "thresholds": _table(sections().thresholds, sections().thresholds.model_fields),
        "preprocess": _table(PreprocessSection, PreprocessSection.model_fields),
        "micro": _table(MicroSection, MicroSection.model_fields),
        "frontend": _table(FrontendSection, FrontendSection.model_fields),
        **{name: _table(section, section.model_fields) for name, section in words().sections.items()},
        **_descriptions(),
        "dead": "\n".join(f"- `{key}`" for key in dead) + "\n",
        "devices": _table(DeviceSection, DeviceSection.model_fields),
    }


def _descriptions() -> dict[str, str]:
    """Of each kind of network description: the top of a file, and each list in it."""
    found = {}
    for form in words().descriptions:
        keys = form.keys
        if keys is not None:
            inside = {name: section for name in keys.model_fields if (section := section_at(keys, (name, 0)))}
            found[form.platform] = _table(keys, keys.model_fields)
            found |= {f"{form.platform}-{name}": _table(part, part.model_fields) for name, part in inside.items()}
    return {name.replace("_", "-"): table for name, table in found.items()}


def updated_page(page: str) -> str:
    """The page with all of its tables. Raises KeyError for a table that does not exist."""
    made = tables()
    return _BLOCK.sub(lambda match: f"{match[1]}\n{made[match[2]]}\n{match[3]}", page)


def documented_keys() -> set[str]:
    """Every key of a model or subgraph that some table holds; a test compares it with all keys."""
    return {key for name in _GROUPS for key in _group_keys(name)} | {"micro", "preprocess"}


def _group_keys(name: str) -> list[str]:
    elsewhere = ("input_files",) if name == "tensors" else ()
    return [key for key in GraphSection.model_fields if key.startswith(_GROUPS[name]) and key not in elsewhere]


def _table(section: type[BaseModel], keys: Iterable[str]) -> str:
    rows = ["| Key | Value | Default | Meaning |", "|---|---|---|---|"]
    for key in keys:
        field = section.model_fields[key]
        names = [name for name, meant in names_of(section).items() if meant == key]
        cells = (
            ", ".join(f"`{name}`" for name in names),
            _value_words(section, key),
            _default_words(section, key),
            field.description or "",
        )
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows) + "\n"


def _target_table() -> str:
    rows = ["| Target | Also written | What it is |", "|---|---|---|"]
    for name, title in targets().items():
        others = ", ".join(f"`{alias}`" for alias, target in ALIASES.items() if target == name)
        built = "" if is_built("target_abis", name) else " (not built yet)"
        rows.append(f"| `{name}` | {others} | {title}{built} |")
    return "\n".join(rows) + "\n"


def _value_words(section: type[BaseModel], key: str) -> str:
    reader = reader_of(section, key)
    if reader is None:
        return "list of mappings" if section_at(section, (key, 0)) else "mapping"
    return reader.words


def _default_words(section: type[BaseModel], key: str) -> str:
    extra = section.model_fields[key].json_schema_extra
    marks = extra if isinstance(extra, dict) else {}
    if marks.get("x-required"):
        return "**required**"
    if "x-default" in marks:
        return str(marks["x-default"])
    if "default" not in marks:
        return "none"
    default = marks["default"]
    if isinstance(default, list):
        default = ", ".join(str(item) for item in default)
    return f"`{default}`" if default != "" else '`""`'
