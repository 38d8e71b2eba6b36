"""Runs the conformance suites: `make conformance`, or `python -m tests.conformance [--suite S] [--filter TEXT]`.

Writes build/conformance.json, and with `--page` the table of docs/conformance.md and the cases that the tests then
expect to pass (expected.json).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from buildtool.errors import LatheError, RunError
from buildtool.runtime import Library
from tests.conformance import cases, exclusions, runner
from tests.conformance.cases import ConformanceCase
from tests.native_builds import full_library

ROOT = Path(__file__).resolve().parent.parent.parent
RESULT = ROOT / "build" / "conformance.json"
PAGE = ROOT / "docs" / "conformance.md"
EXPECTED = Path(__file__).parent / "expected.json"


@dataclass(frozen=True)
class Row:
    """One case as it went."""

    name: str
    suite: str
    operators: tuple[str, ...]
    is_edge: bool
    excluded: str
    outcome: runner.Outcome

    @property
    def reference(self) -> bool:
        return not self.excluded and self.outcome.reference == runner.PASSED

    @property
    def native(self) -> bool:
        return not self.excluded and self.outcome.native == runner.PASSED

    @property
    def failed(self) -> bool:
        return not self.excluded and not (self.reference and self.native)


_library: Library | None = None


def _open_library(path: Path) -> None:
    global _library
    _library = Library(path)


def run_case(case: ConformanceCase) -> Row:
    excluded = exclusions.reason(case)
    outcome = runner.Outcome("", "") if excluded else runner.run(case, _library)
    return Row(case.name, case.suite, case.operators, case.is_edge, excluded, outcome)


def run_all(chosen: Sequence[ConformanceCase], library: Path, jobs: int) -> list[Row]:
    """Every case, spread over processes. RunError where the library cannot be opened or kills a process."""
    Library(library)  # tells what is wrong with it; the processes could only die of it
    with ProcessPoolExecutor(jobs, initializer=_open_library, initargs=(library,)) as pool:
        try:
            return list(pool.map(run_case, chosen, chunksize=8))
        except BrokenProcessPool as problem:
            raise RunError(
                "a process that ran conformance cases died",
                rule="a library answers every model with outputs or a status",
                remedy="find the case with --filter and --jobs 1",
            ) from problem


def summary(rows: Iterable[Row]) -> dict[str, int]:
    rows = list(rows)
    return {
        "total": len(rows),
        "reference": sum(row.reference for row in rows),
        "native": sum(row.native for row in rows),
        "excluded": sum(bool(row.excluded) for row in rows),
        "failed": sum(row.failed for row in rows),
        "frozen": sum(row.outcome.frozen for row in rows),
    }


def as_json(rows: list[Row]) -> dict[str, Any]:
    suites = {suite: summary(row for row in rows if row.suite == suite) for suite in cases.SUITES}
    suites["edge"] = summary(row for row in rows if row.is_edge)
    failures = [
        {"case": row.name, "suite": row.suite, "reference": row.outcome.reference, "native": row.outcome.native}
        for row in rows
        if row.failed
    ]
    return {"onnx": onnx.__version__, "suites": suites, "failures": failures}


def passing(rows: Iterable[Row]) -> dict[str, list[str]]:
    """The cases that pass natively, by suite."""
    found = [row for row in rows if row.native]
    return {suite: sorted(row.name for row in found if row.suite == suite) for suite in cases.SUITES}


def page(rows: list[Row]) -> str:
    """The committed table: suites, exclusions by reason, and the operators of the node suite."""
    lines = [
        "# ONNX conformance",
        "",
        "The test cases of the `onnx` package, executed by the importer, the passes and the NumPy evaluator",
        "(reference) or the built runtime on the host (native). Written by",
        f"`python -m tests.conformance --page` with onnx {onnx.__version__}.",
        "",
        "Lathe needs tensors that determine a shape at build time; *frozen* counts the cases whose small inputs",
        "were converted to weights for that reason. *edge* is the part of *node* with one operator, common types and",
        "rank <= 5.",
        "",
        "| suite | cases | reference | native | excluded | failed | frozen |",
        "|---|---|---|---|---|---|---|",
    ]
    for suite, numbers in as_json(rows)["suites"].items():
        lines.append(f"| {suite} | " + " | ".join(str(number) for number in numbers.values()) + " |")
    reasons = Counter(row.excluded for row in rows if row.excluded)
    lines += ["", "## Excluded", "", "| reason | cases |", "|---|---|"]
    lines += [f"| {reason} | {count} |" for reason, count in reasons.most_common()]
    lines += ["", "## Operators", "", "| operator | cases | reference | native | excluded |", "|---|---|---|---|---|"]
    by_operator: dict[str, list[Row]] = {}
    for row in rows:
        if row.suite == "node":
            by_operator.setdefault(row.operators[0] if len(row.operators) == 1 else "(several)", []).append(row)
    for name, found in sorted(by_operator.items()):
        numbers = summary(found)
        cells = (numbers["total"], numbers["reference"], numbers["native"], numbers["excluded"])
        lines.append(f"| {name} | " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--suite", action="append", choices=cases.SUITES, help="only this one; may be repeated")
    parser.add_argument("--filter", default="", help="only cases whose name holds this text")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="show what was in the way of each failed case")
    parser.add_argument("--page", action="store_true", help="write docs/conformance.md and expected.json (all suites)")
    options = parser.parse_args()
    if options.page and (options.suite or options.filter):
        parser.error("--page needs all suites and cases")
    chosen = [
        case for suite in options.suite or cases.SUITES for case in cases.load(suite) if options.filter in case.name
    ]
    library = full_library()
    try:
        rows = run_all(chosen, library, options.jobs)
    except LatheError as problem:
        print(problem.render(), file=sys.stderr)
        return problem.exit_code
    result = as_json(rows)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        PAGE.write_text(page(rows))
        EXPECTED.write_text(json.dumps(passing(rows), indent=1) + "\n")
    for suite, numbers in result["suites"].items():
        if numbers["total"]:
            print(f"{suite:18}" + "  ".join(f"{key} {value}" for key, value in numbers.items()))
    if options.verbose:
        for failure in result["failures"]:
            text = failure["reference"] if failure["reference"] != runner.PASSED else failure["native"]
            print(f"{failure['case']}: {text[:200]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
