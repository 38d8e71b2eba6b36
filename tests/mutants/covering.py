"""Which tests of a room execute which lines of its sources: those are run first on a tree with a fault."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from coverage import CoverageData

_MOST = 40  # tests for a fault, before all those of the room


class Covering:
    """What pytest-cov wrote with `--cov-context=test`, which names a test for each line that it executed."""

    def __init__(self, data: Path) -> None:
        self._data = CoverageData(str(data))
        self._data.read()

    def tests(self, file: Path, source: str, line: int) -> list[str]:
        """At most `_MOST` tests that execute a line, spread over all that do."""
        lines = _statement(source, line)
        contexts = self._data.contexts_by_lineno(str(file.resolve()))
        found = {context for number in lines for context in contexts.get(number, ())}
        names = sorted({context.split("|")[0] for context in found if context})
        return names[:: max(1, -(-len(names) // _MOST))]


def _statement(source: str, line: int) -> Sequence[int]:
    """The lines of the innermost statement around a line; of one that holds others only up to the line."""
    starts = [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and node.end_lineno is not None and node.lineno <= line <= node.end_lineno
    ]
    return range(max(starts, default=line), line + 1)
