"""The error texts of docs/how-to/troubleshooting.md are those of the source code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "troubleshooting.md"
_FOLDERS = (("buildtool", "*.py"), ("native/runtime", "*.cc"))


def _texts() -> list[str]:
    """The first column of every table of errors, split where a variable part stands."""
    tables = re.findall(r"^\| text \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    quoted = [row.split("`")[1] for table in tables for row in table.splitlines()]
    return [part.strip() for text in quoted for part in text.split("…") if part.strip()]


def test_every_text_is_in_the_source() -> None:
    sources = "\n".join(
        file.read_text(encoding="utf-8") for folder, pattern in _FOLDERS for file in (ROOT / folder).rglob(pattern)
    )
    texts = _texts()
    assert len(texts) > 20
    assert [text for text in texts if text not in sources] == []
