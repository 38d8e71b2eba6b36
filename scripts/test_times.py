"""Shows which capability used how much of the time of a test run: `make test-times`.

A capability is a folder of `tests/`. The times are those of the tests themselves, added up; with two workers the clock
on the wall shows about half of it.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

BUDGET_MINUTES = 45


@dataclass
class Share:
    """What the tests of one capability took."""

    tests: int = 0
    seconds: float = 0.0
    slowest: str = ""
    slowest_seconds: float = 0.0

    def add(self, name: str, seconds: float) -> None:
        self.tests += 1
        self.seconds += seconds
        if seconds >= self.slowest_seconds:
            self.slowest, self.slowest_seconds = name, seconds


def shares(report: Path) -> tuple[dict[str, Share], float]:
    """Read pytest's JUnit report: the shares, and the seconds on the wall."""
    suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
    result: dict[str, Share] = defaultdict(Share)
    for case in suite.iter("testcase"):
        parts = case.get("classname", "").split(".")
        capability = parts[1] if len(parts) > 2 else parts[-1]
        result[capability].add(case.get("name", ""), float(case.get("time", 0)))
    return result, float(suite.get("time", 0))


def main() -> int:
    report = Path(sys.argv[1])
    if not report.exists():
        print(f"{report} does not exist: run `make test` first", file=sys.stderr)
        return 1
    by_capability, wall_seconds = shares(report)
    print(f"{'capability':20} {'tests':>6} {'seconds':>8}  slowest test")
    for name, share in sorted(by_capability.items(), key=lambda item: -item[1].seconds):
        print(f"{name:20} {share.tests:6} {share.seconds:8.1f}  {share.slowest_seconds:.1f} s {share.slowest}")
    print(f"on the wall: {wall_seconds / 60:.1f} of {BUDGET_MINUTES} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
