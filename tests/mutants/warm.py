"""Tries faults in Python sources in a process that has loaded the tests of a room once: one fork for each fault.

A fault is planted in the forked process, as the code of the functions that are loaded. Programs that tests start
do not see it. `python -m tests.mutants.warm FD FD FOLDER...` reads a fault as JSON from each line of the first
descriptor (`file`, `module`, `line`, `source` with the fault) and answers `killed`, `survived` or `invalid` on the
second, after a first line `ready`, or `failed` where more than a tenth of the tests fails without a fault.
"""

from __future__ import annotations

import ast
import gc
import importlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import IO, Any

import coverage
import pytest

_SECONDS = 600  # of processor time for the tests of a fault; one that takes longer is found
_WALL = 240
_BYTES = 8 << 30
_FIRST = 40  # tests for a fault, before all those of the room
_FAST = "not slow and not arm and not sweep"


def main() -> int:
    faults, answers, *folders = sys.argv[1:]
    channels = os.fdopen(int(faults), "r", encoding="utf-8"), os.fdopen(int(answers), "w", encoding="utf-8")
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:cov", "-m", _FAST, *folders]
    return int(pytest.main(options, plugins=[_Loop(*channels)]))


class _Loop:
    """Takes the place of the loop that runs the tests that pytest has collected."""

    def __init__(self, faults: IO[str], answers: IO[str]) -> None:
        self._faults = faults
        self._answers = answers

    def _say(self, word: str) -> None:
        self._answers.write(word + "\n")
        self._answers.flush()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        with tempfile.TemporaryDirectory(prefix="lathe-mutants-") as folder:
            data = Path(folder) / "coverage"
            failed = Path(folder) / "failed"
            if _forked(lambda: _cover(session, data, failed), _WALL * 8) != 0:
                self._say("failed")
                return True
            for name in failed.read_text(encoding="utf-8").splitlines():
                del items[name]
            executed = coverage.CoverageData(str(data))
            executed.read()
            self._say("ready")
            while line := self._faults.readline():
                self._say(_answer(json.loads(line), items, executed))
        return True


def _answer(fault: dict[str, Any], items: dict[str, pytest.Item], executed: coverage.CoverageData) -> str:
    file, source = fault["file"], fault["source"]
    importlib.import_module(fault["module"])  # many are loaded only when they are needed
    changes = list(replacements(Path(file), source))
    if not changes:
        return "invalid"
    names = covering(executed, file, Path(file).read_text(encoding="utf-8"), fault["line"])
    names = [name for name in names if name in items]
    first = [items[name] for name in names[:: max(1, -(-len(names) // _FIRST))]]
    for tests in (first, list(items.values())):
        if tests and _forked(lambda tests=tests: _try(tests, changes), _WALL) != 0:
            return "killed"
    return "survived"


def replacements(file: Path, source: str) -> Iterator[tuple[FunctionType, CodeType]]:
    """The loaded functions that are another code in the changed source, and that code."""
    old = compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)
    changed = dict(_pairs(old, compile(source, str(file), "exec", dont_inherit=True)))
    for item in gc.get_objects():
        if isinstance(item, FunctionType) and item.__code__.co_filename == str(file) and item.__code__ in changed:
            code = changed[item.__code__]
            if code != item.__code__ and code.co_freevars == item.__code__.co_freevars:
                yield item, code


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Codes within codes, as they correspond."""
    inner = [[code for code in parent.co_consts if isinstance(code, CodeType)] for parent in (old, new)]
    yield old, new
    if len(inner[0]) == len(inner[1]):
        for pair in zip(*inner, strict=True):
            yield from _pairs(*pair)


def covering(executed: coverage.CoverageData, file: str, source: str, line: int) -> list[str]:
    """The tests that execute a line, or what lies above it in the innermost statement around it."""
    starts = [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and node.end_lineno is not None and node.lineno <= line <= node.end_lineno
    ]
    contexts = executed.contexts_by_lineno(file)
    lines = range(max(starts, default=line), line + 1)
    return sorted({context for number in lines for context in contexts.get(number, ()) if context})


def _cover(session: pytest.Session, data: Path, failed: Path) -> int:
    """Runs all tests; those that fail without a fault tell nothing and are left out."""
    measured = coverage.Coverage(data_file=str(data), config_file=False, source=["buildtool"])
    measured.start()
    names = []
    for item, following in _with_following(session.items):
        before = session.testsfailed
        measured.switch_context(item.nodeid)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed > before:
            names.append(item.nodeid)
    measured.stop()
    measured.save()
    failed.write_text("\n".join(names), encoding="utf-8")
    return int(len(names) > len(session.items) // 10)


def _try(tests: Sequence[pytest.Item], changes: Sequence[tuple[FunctionType, CodeType]]) -> int:
    for function, code in changes:
        function.__code__ = code
    for item, following in _with_following(tests):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return 1
    return 0


def _with_following(tests: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    return zip(tests, [*tests[1:], None], strict=True)


def _forked(work: Any, seconds: float) -> int:
    """The answer of a forked process; -1 where it does not end, or not by itself."""
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
            code = work()
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return -1


if __name__ == "__main__":
    sys.exit(main())
