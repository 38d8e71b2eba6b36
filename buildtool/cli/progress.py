"""Shows what the workflow is doing: one moving line on a terminal, log lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from buildtool.cli.output import NORMAL, Output, wants_colour

if TYPE_CHECKING:
    from buildtool.errors import Problem

_log = logging.getLogger("buildtool.progress")


class TerminalProgress:
    """The workflow's `Progress`, for people. Use it as a context, so that the line disappears at the end."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._status: Any = None
        self._stage = ""
        self._began = 0.0

    def __enter__(self) -> TerminalProgress:
        if self._out.verbosity == NORMAL and wants_colour(sys.stderr):
            from rich.console import Console

            self._status = Console(stderr=True).status("")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
        if kind is None:
            self._end_stage()

    def stage(self, name: str) -> None:
        """A stage of the workflow begins, and the one before it is over."""
        self._end_stage()
        self._stage, self._began = name, time.monotonic()
        self._show(name)

    def step(self, text: str) -> None:
        """Something inside the current stage begins."""
        _log.info("%s: %s", self._stage, text)
        self._show(f"{self._stage}: {text}")

    def note(self, problem: Problem) -> None:
        """Something the user should know although nothing is wrong."""
        self._out.note(problem)

    def _end_stage(self) -> None:
        if self._stage:
            _log.info("%s: %.2f s", self._stage, time.monotonic() - self._began)

    def _show(self, text: str) -> None:
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(text, overflow="ellipsis", no_wrap=True))
