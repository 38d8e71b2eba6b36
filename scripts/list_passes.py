"""Writes docs/reference/passes.md: every pass with its summary, in the order of the pipeline."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from buildtool.passes.pipeline import available

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "passes.md"


def page() -> str:
    """The text of the page."""
    lines = [
        "# Passes",
        "",
        "What happens to a graph between the importer and the kernels. The pipeline runs these passes in this order,",
        "again and again until none finds anything to do. Each computes the same outputs as before, keeps the names of",
        "outputs and layers, and is followed by a check of the whole graph. `graph_optimize_options` selects passes by",
        "name, and `--emit=ir` writes the graph down. The last ones run once, when a target takes the graph over,",
        "where it asks for them. Written by `scripts/list_passes.py`.",
        "",
        "| pass | what it does | needs |",
        "|---|---|---|",
    ]
    lines += [f"| `{one.name}` | {one.summary} | {', '.join(one.requires)} |" for one in available()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
