"""Shows which capability and which tests used how much of the time of a test run: `make test-times`.

A capability is a folder of `tests/`. Processor seconds are those of the tests and of the programs that they start; they
are what a change can save, because the seconds on the clock of a test grow with what else runs.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

BUDGET_MINUTES = 25
SLOWEST = 20
_PROPERTY = "processor_seconds"


@dataclass(frozen=True)
class Time:
    """What one test took. Its processor seconds are those of tests/conftest.py."""

    name: str
    seconds: float
    processor: float


@dataclass
class Share:
    """The tests of one capability."""

    times: list[Time] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return sum(time.seconds for time in self.times)

    @property
    def processor(self) -> float:
        return sum(time.processor for time in self.times)

    @property
    def slowest(self) -> Time:
        return max(self.times, key=lambda time: time.processor)


def shares(report: Path) -> tuple[dict[str, Share], float]:
    """Read pytest's JUnit report: the shares, and the seconds on the wall."""
    suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
    result: dict[str, Share] = defaultdict(Share)
    for case in suite.iter("testcase"):
        parts = case.get("classname", "").split(".")
        capability = parts[1] if len(parts) > 2 else parts[-1]
        processor = [entry.get("value", "0") for entry in case.iter("property") if entry.get("name") == _PROPERTY]
        name = "::".join([*parts[1:], case.get("name", "")])
        result[capability].times.append(Time(name, float(case.get("time", 0)), sum(map(float, processor))))
    return result, float(suite.get("time", 0))


def main() -> int:
    report = Path(sys.argv[1])
    if not report.exists():
        print(f"{report} does not exist: run `make test` first", file=sys.stderr)
        return 1
    by_capability, wall_seconds = shares(report)
    print(f"{'capability':20} {'tests':>6} {'seconds':>8} {'processor':>9}  slowest test")
    for name, share in sorted(by_capability.items(), key=lambda item: -item[1].processor):
        slowest = f"{share.slowest.processor:.1f} s {share.slowest.name}"
        print(f"{name:20} {len(share.times):6} {share.seconds:8.1f} {share.processor:9.1f}  {slowest}")
    every = [time for share in by_capability.values() for time in share.times]
    print(f"\n{'seconds':>8} {'processor':>9}  test")
    for time in sorted(every, key=lambda time: -time.processor)[:SLOWEST]:
        print(f"{time.seconds:8.1f} {time.processor:9.1f}  {time.name}")
    print(f"on the wall: {wall_seconds / 60:.1f} of {BUDGET_MINUTES} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
