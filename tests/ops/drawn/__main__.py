"""How far every kernel is off on drawn cases: the worst error, beside its tolerance.

    python -m tests.ops.drawn [--abi host] [--count 200] [family ...]

Errors are those against a computation in double precision, as parts of the largest element of the result; `used` is
how much of the tolerance of op.yaml that is, which has an absolute part, too.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from buildtool.plan import manifest
from tests.native_builds import QEMU, cases_program, command
from tests.ops.drawn.families import drawn, families
from tests.ops.drawn.files import write_drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("families", nargs="*", metavar="family", help=f"of {' '.join(families())}; all by default")
    parser.add_argument("--abi", choices=("host", *QEMU), default="host")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--program", type=Path, help="instead of building one")
    arguments = parser.parse_args()
    program = arguments.program or cases_program(arguments.abi)
    manifests = manifest.load()
    tolerances = {kernel.name: kernel.rtol for kernel in manifests}
    print(f"{'family':18}{'kernel':44}{'cases':>6}{'error':>11}{'rtol':>9}{'used':>7}")
    for family in arguments.families or families():
        with tempfile.TemporaryDirectory() as name:
            write_drawn(Path(name), drawn(family, arguments.count), manifests)
            for kernel, cases, relative, tolerated in _errors(program, Path(name), arguments.abi):
                worst = f"{cases:6}{relative:11.1e}{tolerances[kernel]:9.0e}{tolerated:7.0%}"
                print(f"{family:18}{kernel:44}{worst}", flush=True)


def _errors(program: Path, folder: Path, abi: str) -> list[tuple[str, int, float, float]]:
    report = folder / "report.xml"
    output = f"--gtest_output=xml:{report}"
    only = "--gtest_filter=Files/OpCase.*"
    command([*QEMU.get(abi, ()), program, "--gtest_brief=1", output, only], LATHE_CASES=str(folder))
    worst: dict[str, tuple[int, float, float]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        facts = {entry.get("name"): entry.get("value", "") for entry in case.iter("property")}
        if "kernel" in facts:
            cases, relative, tolerated = worst.get(facts["kernel"], (0, 0.0, 0.0))
            errors = max(relative, float(facts["relative"])), max(tolerated, float(facts["tolerated"]))
            worst[facts["kernel"]] = (cases + 1, *errors)
    return [(kernel, *worst[kernel]) for kernel in sorted(worst, key=lambda name: re.split("__", name))]


if __name__ == "__main__":
    main()
