"""Runs the tests of a room on a tree with a fault."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from tests.mutants.mutation import Mutation
from tests.mutants.rooms import PROGRAMS, Room

_SECONDS = 240  # of a command; a fault that takes longer is found
_PROGRAM_SECONDS = 20  # of a program that tests natively, and beside that ten times what it takes without a fault
_FIRST_SECONDS = 3600  # of a build of everything, and of writing cases
_WITH_CASES = ("slice", "concat")  # operators that stand around others in cases with rows that lie apart
_BUILD = """
import sys
from tests.native_builds import build
variant, operators, *programs = sys.argv[1:]
build(*programs, variant=variant, options=[f"-DLATHE_OPERATORS={operators}"] if operators else [])
"""


class Runner:
    """Whether the tests of a room find a fault in the tree."""

    def __init__(self, room: Room, tree: Path) -> None:
        self._room = room
        self._tree = tree
        self._cases = tempfile.TemporaryDirectory(prefix="lathe-mutants-")
        self._programs = {"asan": ("op_cases_test",)} if room.operator else PROGRAMS
        self._without_fault: dict[str, list[str]] = {}  # what the programs of each variant are without a fault
        self._seconds: dict[Path, float] = {}  # that each of these programs may take
        self._operators = ";".join((room.operator, *_WITH_CASES)) if room.operator else ""
        self._faults: IO[str] | None = None  # to a process of `warm`
        self._answers: IO[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def check(self) -> None:
        """RuntimeError where tests fail without any fault: then nothing that they say counts."""
        if self._room.operator:
            write = [sys.executable, "-m", "tests.ops", self._cases.name, f"{self._room.operator}_*"]
            if self._run(write, _FIRST_SECONDS) != 0:
                raise RuntimeError(f"the cases of {self._room.operator} cannot be written")
        found = self._native(_FIRST_SECONDS) if self._room.is_native else self._warm()
        if found is not False:
            raise RuntimeError(f"the tests of {self._room.name} fail without a fault")

    def end(self) -> None:
        for channel in (self._faults, self._answers):
            if channel is not None:
                channel.close()  # the process ends with it
        if self._process is not None:
            self._process.wait()
        self._cases.cleanup()

    def finds(self, file: Path, source: str, mutation: Mutation) -> bool | None:
        """None where the fault does not compile, or makes no difference to what is compiled for this machine."""
        planted = mutation.planted(source)
        if not self._room.is_native:
            return self._ask(file, planted, mutation.line(source))
        try:
            file.write_text(planted, encoding="utf-8")
            return self._native()
        finally:
            file.write_text(source, encoding="utf-8")

    def _warm(self) -> bool:
        """Starts the process that has loaded the tests; whether they fail."""
        (faults, self_faults), (self_answers, answers) = os.pipe(), os.pipe()
        command = [sys.executable, "-m", "tests.mutants.warm", str(faults), str(answers), *self._room.tests]
        environment = {**os.environ, "PYTHONPATH": str(self._tree)}
        self._process = subprocess.Popen(
            command, cwd=self._tree, env=environment, pass_fds=(faults, answers), stdout=subprocess.DEVNULL
        )
        os.close(faults)
        os.close(answers)
        self._faults, self._answers = os.fdopen(self_faults, "w"), os.fdopen(self_answers)
        return self._answers.readline() != "ready\n"

    def _ask(self, file: Path, planted: str, line: int) -> bool | None:
        assert self._faults is not None
        assert self._answers is not None
        module = ".".join(file.relative_to(self._tree).with_suffix("").parts)
        json.dump({"file": str(file), "module": module, "line": line, "source": planted}, self._faults)
        self._faults.write("\n")
        self._faults.flush()
        return {"killed": True, "survived": False, "invalid": None}[self._answers.readline().strip()]

    def _native(self, seconds: float = _SECONDS) -> bool | None:
        """None where no program changes by the fault."""
        differs = not self._without_fault  # check() comes first
        for variant, programs in self._programs.items():
            if self._run([sys.executable, "-c", _BUILD, variant, self._operators, *programs], seconds) != 0:
                return None
            folder = self._tree / "build" / "native" / (f"host-{variant}" if variant else "host") / "tests"
            made = [*(folder / program for program in programs), *sorted(folder.parent.glob("*.so"))]
            built = [hashlib.sha256(file.read_bytes()).hexdigest() for file in made]
            if built == self._without_fault.setdefault(variant, built) and not differs:
                continue
            differs = True
            if any(self._fails(folder / program) for program in programs):
                return True
        return False if differs else None

    def _fails(self, program: Path) -> bool:
        """Its first run is the one without a fault, and decides how long the others may take."""
        started = time.monotonic()
        failed = self._run([str(program), "--gtest_brief=1"], self._seconds.get(program, _SECONDS)) != 0
        taken = time.monotonic() - started
        self._seconds.setdefault(program, min(_SECONDS, _PROGRAM_SECONDS + 10 * taken))
        return failed

    def _run(self, command: Sequence[str], seconds: float = _SECONDS) -> int:
        """The exit code; a command that does not end counts as one that fails."""
        environment = {**os.environ, "PYTHONPATH": str(self._tree), "LATHE_CASES": self._cases.name}
        try:
            done = subprocess.run(
                command, cwd=self._tree, env=environment, capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return -1
        return done.returncode
