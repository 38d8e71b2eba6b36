"""Fills in the tables of keys wherever a page asks for them, and adds the JSON schema; mkdocs calls it.

A page asks with the two comments that `buildtool.config.reference` knows, with nothing between them. So a key is
described where it is declared, and no page has to be kept up with it. Run by hand, the script prints all tables.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from buildtool.config import schema_text
from buildtool.config.reference import tables, updated_page

SCHEMA = "deployment.schema.json"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: adds the schema, which `lathe schema` prints, to the files of the site."""
    files.append(File.generated(config, SCHEMA, content=schema_text()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return updated_page(markdown)


if __name__ == "__main__":
    print("\n".join(f"<!-- keys: {name} -->\n\n{table}" for name, table in tables().items()))
