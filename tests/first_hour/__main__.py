"""`make first-hour`: how many models get through `lathe init`, `check` and `build` unedited; build/first-hour.json."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.first_hour.models import CASES, NETWORKS, models
from tests.first_hour.trying import BUILT, CHECKED, FAILED, REFUSED, Outcome, attempt
from tests.importers import healthy_sources

RESULT = Path(__file__).resolve().parents[2] / "build" / "first-hour.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.first_hour", description=__doc__)
    parser.add_argument("--targets", nargs="+", default=["host", "k210", "max78000", "cortex-m4"])
    parser.add_argument("--kinds", nargs="+", choices=(NETWORKS, CASES), default=[NETWORKS, CASES])
    parser.add_argument("--frameworks", nargs="+", choices=healthy_sources.FRAMEWORKS, default=(), help="only these")
    parser.add_argument("--every", type=int, default=1, help="of the cases, each nth only")
    parser.add_argument("--check-only", action="store_true", help="do not build")
    parser.add_argument("--ranges", action="store_true", help="measure the ranges that chips need on a drawn sample")
    parser.add_argument("--result", type=Path, default=RESULT)
    options = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            for number, model in enumerate(models(kind, Path(folder), options.frameworks)):
                if kind == CASES and number % options.every:
                    continue
                for target in options.targets:
                    outcomes.append(attempt(model, target, Path(folder), not options.check_only, options.ranges))
                    show(outcomes[-1])
    options.result.parent.mkdir(parents=True, exist_ok=True)
    options.result.write_text(json.dumps({"outcomes": [one.as_json() for one in outcomes]}, indent=1) + "\n")
    sys.stdout.write("\n".join([*table(outcomes), ""]))
    return int(any(one.result == FAILED for one in outcomes))


def show(outcome: Outcome) -> None:
    """What did not get through, while the others are tried."""
    if outcome.result in (FAILED, REFUSED):
        first = next((line for line in outcome.message.splitlines() if "error:" in line), outcome.message[-300:])
        where = f"{outcome.framework} {outcome.name} {outcome.target}"
        sys.stdout.write(f"{where}: {outcome.result} by {outcome.step}, exit code {outcome.code}: {first}\n")
        sys.stdout.flush()


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each framework, kind and target."""
    groups: dict[tuple[str, str, str], Counter[str]] = {}
    for one in outcomes:
        counted = groups.setdefault((one.framework, one.kind, one.target), Counter())
        counted.update([one.result, *(["answered"] if one.answered else [])])
    lines = [
        f"{'framework':<12}{'kind':<10}{'target':<11}{'tried':>6}{'passed':>8}{'refused':>9}{'failed':>8}{'asked':>7}"
    ]
    for (framework, kind, target), counted in sorted(groups.items()):
        passed = counted[BUILT] + counted[CHECKED]
        tried = passed + counted[REFUSED] + counted[FAILED]
        numbers = f"{tried:>6}{passed:>8}{counted[REFUSED]:>9}{counted[FAILED]:>8}{counted['answered']:>7}"
        lines.append(f"{framework:<12}{kind:<10}{target:<11}{numbers}")
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
