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

PAGE = "reference/passes.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: adds the page to those of the folder."""
    files.append(File.generated(config, PAGE, content=page()))
    return files


def page() -> str:
    """The text of the page."""
    lines = [
        "# Passes",
        "",
        "Passes rewrite the graph between import and planning. The pipeline runs them in this order, repeatedly until",
        "no pass changes the graph. Each pass keeps the values of the outputs and the names of outputs and layers;",
        "the verifier checks the graph after each. `graph_optimize_options` selects passes by name, and `--emit=ir`",
        "writes the graph. The last passes run once, when a target lowers the graph, if the target requests them.",
        "",
        "| pass | what it does | needs |",
        "|---|---|---|",
    ]
    lines += [f"| `{one.name}` | {one.summary} | {', '.join(one.requires)} |" for one in available()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
