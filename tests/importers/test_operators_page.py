"""The committed page of supported operators is what the importers support."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "list_source_operators.py"


def test_the_page_of_supported_operators_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("list_source_operators", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = ROOT / "docs" / "reference" / "source-operators.md"
    assert page.read_text(encoding="utf-8") == module.page(), f"run {SCRIPT.relative_to(ROOT)}"
