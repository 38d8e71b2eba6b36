"""The page of sizes says what was measured, and nothing where nothing was."""

from __future__ import annotations

import pytest

from tests.size import table
from tests.size.table import Files, page


def test_rows_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    class Known:
        version = "g++ 12"

    monkeypatch.setattr(table, "probe", lambda abi: Known())
    cmake = {("net", "host"): Files(1000, 3000), ("net", "arm64-v8a"): Files(900, 2000)}
    text = page(["net"], cmake, {("net", "host"): Files(1001, 3001)}, {"host": 10_000, "arm64-v8a": 9_000})
    rows = [line for line in text.splitlines() if line.startswith(("| net", "| all"))]
    assert rows == [
        "| net | host | 1,000 | 3,000 | 1,001 | 3,001 | 10.0% |",
        "| net | arm64-v8a | 900 | 2,000 |  |  | 10.0% |",
        "| all operators | host | 10,000 | | | | |",
        "| all operators | arm64-v8a | 9,000 | | | | |",
    ]
    assert "host: g++ 12; arm64-v8a: g++ 12" in text
