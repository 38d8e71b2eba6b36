"""The page about memory tells what the planner does today, and the planner is as good as the page promises."""

from __future__ import annotations

import runpy

import pytest

from tests.size.measure import ROOT


@pytest.mark.slow
def test_the_page_is_what_the_planner_does() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "memory_table.py"))
    rows = list(script["rows"]())
    assert [name for name, arena, bound in rows if arena > script["TARGET_RATIO"] * bound] == []
    renew = "renew it: python scripts/memory_table.py > docs/reference/memory.md"
    assert (ROOT / "docs" / "reference" / "memory.md").read_text() == script["page"](rows), renew
