"""What the page says of Paddle-Lite's operators is what the importer does."""

from __future__ import annotations

from pathlib import Path

from buildtool.importers.paddle import supported_operators
from tests.importers.paddle.lite_operators import BASIC, EXTRA

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "paddle.md"


def table() -> str:
    """The rows of the page's table."""
    rows = []
    for name, listed in (("basic", BASIC), ("extra", EXTRA)):
        missing = sorted(listed - set(supported_operators()))
        words = ", ".join(f"`{operator}`" for operator in missing)
        rows.append(f"| {name} | {len(listed)} | {len(listed) - len(missing)} | {words} |")
    return "\n".join(rows)


def test_page() -> None:
    assert table() in _PAGE.read_text(encoding="utf-8")
