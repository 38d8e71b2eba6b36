"""Runs the tests of a room on a tree with a fault."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.covering import Covering
from tests.mutants.rooms import PROGRAMS, Room

_SECONDS = 240  # of a command; a fault that takes longer is found
_BUILD = "import sys; from tests.native_builds import build; print(build(*sys.argv[1:]))"
_FAST = "not slow and not arm and not sweep"


class Runner:
    """Whether the tests of a room find a fault in the tree."""

    def __init__(self, room: Room, tree: Path) -> None:
        self._room = room
        self._tree = tree
        self._cases = tempfile.TemporaryDirectory(prefix="lathe-mutants-")
        self._programs = ["op_cases_test"] if room.operator else list(PROGRAMS)
        self._without_fault: list[str] = []  # what the programs are without a fault
        self._covering: Covering | None = None

    def check(self) -> None:
        """RuntimeError where tests fail without any fault: then nothing that they say counts."""
        if self._room.operator:
            self._run([sys.executable, "-m", "tests.ops", self._cases.name, f"{self._room.operator}_*"])
        data = Path(self._cases.name) / "coverage"
        options = ["--cov=buildtool", "--cov-context=test", "--cov-report="]
        covered = [*self._room.tests, *options]
        found = self._native() if self._room.is_native else self._python(covered, COVERAGE_FILE=str(data))
        if found is not False:
            raise RuntimeError(f"the tests of {self._room.name} fail without a fault")
        if not self._room.is_native:
            self._covering = Covering(data)

    def finds(self, file: Path, source: str, line: int) -> bool | None:
        """None where the fault does not compile, or makes no difference to what is compiled for this machine."""
        if self._room.is_native:
            return self._native()
        assert self._covering is not None
        closest = self._covering.tests(file, source, line)
        return bool(closest and self._python(closest)) or self._python(list(self._room.tests))

    def _python(self, tests: Sequence[str], **environment: str) -> bool:
        arguments = Path(self._cases.name) / "arguments"
        arguments.write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", _FAST, f"@{arguments}"]
        return self._run(command, **environment) not in (0, 5)  # 5: no test was selected

    def _native(self) -> bool | None:
        if self._run([sys.executable, "-c", _BUILD, *self._programs]) != 0:
            return None
        folder = self._tree / "build" / "native" / "host" / "tests"
        made = [*(folder / program for program in self._programs), *sorted(folder.parent.glob("*.so"))]
        built = [hashlib.sha256(file.read_bytes()).hexdigest() for file in made]
        if built == self._without_fault:
            return None
        self._without_fault = self._without_fault or built  # check() comes first
        return any(self._run([str(folder / program), "--gtest_brief=1"]) != 0 for program in self._programs)

    def _run(self, command: Sequence[str], **more: str) -> int:
        """The exit code; a command that does not end counts as one that fails."""
        environment = {**os.environ, "PYTHONPATH": str(self._tree), "LATHE_CASES": self._cases.name, **more}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # a fault is planted in the same second as the last one
        try:
            done = subprocess.run(
                command, cwd=self._tree, env=environment, capture_output=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return -1
        return done.returncode
