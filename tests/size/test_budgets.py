"""Tailored libraries stay below their budgets of bytes (budgets.yml)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from buildtool.reports.size import difference
from tests.size.measure import EMPTY, KB, Measured, measure, read

BUDGETS = read()


def over_budget(row: dict[str, Any], found: Measured) -> str:
    """What to say about a library that is too large: by how much, and which parts grew. Empty for the others."""
    excess = found.total - row["budget"] * KB
    if excess <= 0:
        return ""
    grown = difference(row["parts"], found.parts).plain()
    return f"{found.total:,} bytes, {excess:,} above the budget of {row['budget']} KB; since {row['date']}:\n{grown}"


def _marks(network: str, abi: str) -> list[pytest.MarkDecorator]:
    slow = [] if network == EMPTY and abi == "host" else [pytest.mark.slow]
    return slow if abi == "host" else [*slow, pytest.mark.arm]


@pytest.mark.parametrize(
    ("network", "abi"),
    [pytest.param(network, abi, marks=_marks(network, abi)) for network in BUDGETS for abi in BUDGETS[network]],
)
def test_a_library_stays_below_its_budget(network: str, abi: str, tmp_path: Path) -> None:
    complaint = over_budget(BUDGETS[network][abi], measure(network, abi, tmp_path))
    assert not complaint, complaint


def test_a_library_above_its_budget_is_compared_with_the_last_one() -> None:
    row = {"budget": 1, "date": "2026-01-01", "parts": {"relu": 500, "conv": 400}}
    assert over_budget(row, Measured(1024, {})) == ""
    told = over_budget(row, Measured(1524, {"relu": 500, "conv": 900, "gemm": 124}))
    assert "1,524 bytes, 500 above the budget of 1 KB" in told
    lines = [line.split() for line in told.splitlines()[2:]]
    assert lines == [["conv", "400", "900", "+500"], ["gemm", "0", "124", "+124"]]
