"""Makes the page of passes from the passes themselves; mkdocs calls it when it builds the site.

Every pass is there with its summary, in the order of the pipeline. Run by hand, the script prints the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from buildtool.passes.pipeline import available

PAGE = "passes.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: adds the page to those of the folder."""
    files.append(File.generated(config, PAGE, content=page()))
    return files


def page() -> str:
    """The text of the page."""
    lines = [
        "# Passes",
        "",
        "What happens to a graph between the importer and the kernels. The pipeline runs these passes in this order,",
        "again and again until none finds anything to do. Each computes the same outputs as before, keeps the names of",
        "outputs and layers, and is followed by a check of the whole graph. `graph_optimize_options` selects passes by",
        "name, and `--emit=ir` writes the graph down. The last ones run once, when a target takes the graph over,",
        "where it asks for them.",
        "",
        "| pass | what it does | needs |",
        "|---|---|---|",
    ]
    lines += [f"| `{one.name}` | {one.summary} | {', '.join(one.requires)} |" for one in available()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
