"""Measures the commit of the tree, adds it to the history and draws that: `make bench-history`.

The history is history.jsonl beside this file, to be committed; the picture is build/benchmark-history.svg.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from buildtool.builders.toolchain import probe
from buildtool.errors import LatheError
from tests.bench.arm.counting import CountingError
from tests.bench.history import chart, records
from tests.bench.history.measure import FIGURES, figures

PICTURE = records.ROOT / "build" / "benchmark-history.svg"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.history",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--dry", action="store_true", help="show the figures of a tree with changes; add nothing")
    parser.add_argument("--draw", action="store_true", help="draw what is there; measure nothing")
    options = parser.parse_args()
    try:
        entries = records.read()
        if not options.draw:
            entries = _measured(entries, options.dry)
    except (CountingError, LatheError, records.HistoryError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(chart.picture(entries, FIGURES), encoding="utf-8")
    sys.stderr.write(f"{PICTURE.relative_to(records.ROOT)} shows {len(entries)} entries\n")
    return 0


def _measured(entries: list[records.Entry], dry: bool) -> list[records.Entry]:
    """The history with the tree's commit, which is in the file unless `dry`."""
    commit, date, subject = ("changed", "", "not committed") if dry else records.commit()
    cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    machine = records.machine(cpuinfo, probe("host").version, os.cpu_count() or 1)
    entry = records.Entry(commit, date, subject, machine, figures(lambda text: sys.stderr.write(f"{text}\n")))
    sys.stdout.write("\n".join(records.changes([*entries, entry])) + "\n")
    if dry:
        return [*entries, entry]
    records.append(entry)
    return records.read()


if __name__ == "__main__":
    sys.exit(main())
