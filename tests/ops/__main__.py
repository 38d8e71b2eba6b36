"""Writes the cases of kernels, and hostile models of their operators, for the program `op_cases_test`.

    python -m tests.ops FOLDER [PATTERN [ISA ...]]

A pattern such as `conv2d*` is that of the names of files, which begin with those of kernels; `ISA`: only kernels for
these.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatch
from pathlib import Path

from buildtool.plan import manifest
from tests.ops.case import cases_of, operators_with_cases
from tests.ops.hostile_models import write_hostile
from tests.ops.native_cases import write_cases, write_natives
from tests.ops.stored import stored_cases


def write(folder: Path, pattern: str, isas: list[str]) -> int:
    """Writes the files; how many there are."""
    manifests = manifest.load()
    start = pattern.partition("*")[0]
    wanted = {kernel.op for kernel in manifests if kernel.name.startswith(start) or start.startswith(kernel.name)}
    for seed, operator in enumerate(operators_with_cases()):
        if operator in wanted:
            cases, stored = list(cases_of(operator)), list(stored_cases(operator))
            write_cases(folder, cases, manifests)
            write_natives(folder, operator, stored, manifests)
            write_hostile(folder, cases, stored, manifests.of(operator), seed)
    others = {kernel.name for kernel in manifests if isas and kernel.isa not in isas}
    for file in folder.glob("*.case"):
        if not fnmatch(file.stem, pattern) or any(file.stem.startswith(f"{name}_") for name in others):
            file.unlink()
    return len(list(folder.glob("*.case")))


if __name__ == "__main__":
    print(write(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "*", sys.argv[3:]))
