"""Two builds beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from buildtool.benchmark import comparison
from buildtool.reports import build_comparison


def compare(before: Path, after: Path) -> dict[str, Any]:
    """What differs between the builds of two folders. ConfigError where one is none."""
    return build_comparison.compare(before, after, comparison.with_earlier)
