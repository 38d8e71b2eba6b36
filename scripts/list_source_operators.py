"""Makes the page of source operators from the importers themselves; mkdocs calls it when it builds the site.

Run by hand, the script prints the page.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from buildtool.importers.frameworks import importer, platforms

PAGE = "source-operators.md"
LISTS = Path(__file__).with_name("source_operators.yml")
_HEAD = """# Source operators

What can be imported, by framework (`platform` in the deployment file). Some operators only where inputs that say how
they work (axes, sizes, paddings) are constants; the message names what is in the way.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: adds the page to those of the folder."""
    files.append(File.generated(config, PAGE, content=page()))
    return files


def page() -> str:
    """The page in Markdown."""
    return "\n".join([_HEAD, *_sections()])


def _sections() -> Iterator[str]:
    for platform in platforms():
        names = importer(platform).supported_operators()
        yield f"## {platform}\n\n{len(names)} operators: {_joined(names)}\n"
        yield from _compared(platform, names)


def _compared(platform: str, names: Collection[str]) -> Iterator[str]:
    """How many of the operators that others take there are."""
    for other, listed in yaml.safe_load(LISTS.read_text(encoding="utf-8")).get(platform, {}).items():
        wanted = listed.split()
        missing = [name for name in wanted if name not in names]
        told = f"all but {_joined(missing)}" if missing else "all"
        yield f"Of the {len(wanted)} in {other}: {told}.\n"


def _joined(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    print(page())
