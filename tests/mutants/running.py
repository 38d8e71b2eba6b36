"""Runs the tests of a room on a tree with a fault."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.rooms import PROGRAMS, Room, near

_SECONDS = 240  # of a command; a fault that takes longer is found
_BUILD = "import sys; from tests.native_builds import build; print(build(*sys.argv[1:]))"
_FAST = "not slow and not arm and not sweep"


class Runner:
    """Whether the tests of a room find a fault in the tree."""

    def __init__(self, room: Room, tree: Path) -> None:
        self._room = room
        self._tree = tree
        self._cases = tempfile.TemporaryDirectory(prefix="lathe-mutants-")

    def check(self) -> None:
        """RuntimeError where tests fail without any fault: then nothing that they say counts."""
        if self._room.operator:
            self._run([sys.executable, "-m", "tests.ops", self._cases.name, f"{self._room.operator}_*"])
        found = self._native() if self._room.is_native else self._python(list(self._room.tests))
        if found is not False:
            raise RuntimeError(f"the tests of {self._room.name} fail without a fault")

    def finds(self, file: Path) -> bool | None:
        """None where the fault does not compile."""
        if self._room.is_native:
            return self._native()
        closest = near(self._room, file, self._tree)
        return bool(closest and self._python(closest)) or self._python(list(self._room.tests))

    def _python(self, tests: Sequence[str]) -> bool:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", _FAST, *tests]
        return self._run(command) not in (0, 5)  # 5: no test was selected

    def _native(self) -> bool | None:
        programs = ["op_cases_test"] if self._room.operator else list(PROGRAMS)
        if self._run([sys.executable, "-c", _BUILD, *programs]) != 0:
            return None
        folder = self._tree / "build" / "native" / "host" / "tests"
        return any(self._run([str(folder / program), "--gtest_brief=1"]) != 0 for program in programs)

    def _run(self, command: Sequence[str]) -> int:
        """The exit code; a command that does not end counts as one that fails."""
        environment = {**os.environ, "PYTHONPATH": str(self._tree), "LATHE_CASES": self._cases.name}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # a fault is planted in the same second as the last one
        try:
            done = subprocess.run(
                command, cwd=self._tree, env=environment, capture_output=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return -1
        return done.returncode
