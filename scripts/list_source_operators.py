"""Writes docs/reference/source-operators.md: the operators that each importer supports."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml

from buildtool.importers.frameworks import importer, platforms

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "source-operators.md"
LISTS = Path(__file__).with_name("source_operators.yml")
_HEAD = """# Supported operators

The operators that Lathe imports, by framework (`platform` in the deployment file). Some need constant inputs for axes,
sizes or paddings; the error message names the input. `lathe inspect ops MODEL` checks one model against each ABI.
Written by `scripts/list_source_operators.py`.
"""


def page() -> str:
    """The page in Markdown."""
    return "\n".join([_HEAD, *_sections()])


def _sections() -> Iterator[str]:
    for platform in platforms():
        names = importer(platform).supported_operators()
        yield f"## {platform}\n\n{len(names)} operators: {_joined(names)}\n"
        yield from _compared(platform, names)


def _compared(platform: str, names: Collection[str]) -> Iterator[str]:
    """How many of the operators of other converters the importer supports."""
    for other, listed in yaml.safe_load(LISTS.read_text(encoding="utf-8")).get(platform, {}).items():
        wanted = listed.split()
        missing = [name for name in wanted if name not in names]
        coverage = f"all but {_joined(missing)}" if missing else "all"
        yield f"Of the {len(wanted)} in {other}: {coverage}.\n"


def _joined(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
