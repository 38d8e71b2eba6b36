"""Shows what the workflow is doing: one moving line on a terminal, log lines elsewhere."""

from __future__ import annotations

import logging
import re
import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from buildtool.cli.output import NORMAL, Output, wants_colour

if TYPE_CHECKING:
    from buildtool.errors import Problem

_log = logging.getLogger("buildtool.progress")


_COUNTED = re.compile(r"^\[(\d+)/(\d+)\]|\b(\d+) of (\d+)\b")  # of ninja, and of the workflow
_RAW = ("$ ", "-- ", "[")  # commands, and what CMake and ninja print: for -v
_SOON = 2.0  # seconds without figures
_SURE = 0.05  # of the work done, before the rest is estimated


@dataclass
class Line:
    """What is shown: the stage, what it is at, the time so far, and the time that is left where steps are counted."""

    stage: str = ""
    text: str = ""
    began: float = 0.0
    done: int = 0
    of: int = 0

    def begin(self, stage: str) -> None:
        self.stage, self.text, self.began, self.done, self.of = stage, "", time.monotonic(), 0, 0

    def step(self, text: str) -> None:
        counted = _COUNTED.search(text)
        if counted:
            self.done, self.of = (int(number) for number in counted.groups() if number is not None)
        if not text.startswith(_RAW):
            self.text = text
        elif counted:
            self.text = f"{self.done} of {self.of}"

    def words(self, now: float) -> str:
        parts, seconds = [self.stage, *([self.text] if self.text else [])], now - self.began
        if seconds < _SOON:
            return ": ".join(parts)
        times = [f"{seconds:.0f} s"]
        if self.done < self.of and self.done >= _SURE * self.of > 0:
            times.append(f"about {max(1.0, seconds * (self.of - self.done) / self.done):.0f} s left")
        return f"{': '.join(parts)} ({', '.join(times)})"

    def __rich__(self) -> Any:
        from rich.text import Text

        return Text(self.words(time.monotonic()), overflow="ellipsis", no_wrap=True)


class TerminalProgress:
    """The workflow's `Progress`, for people. Use it as a context, so that the line disappears at the end."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._status: Any = None
        self._line = Line()

    def __enter__(self) -> TerminalProgress:
        if self._out.verbosity == NORMAL and wants_colour(sys.stderr):
            from rich.console import Console

            self._status = Console(stderr=True).status(self._line)
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
        self._line.begin(name)

    def step(self, text: str) -> None:
        """Something inside the current stage begins."""
        _log.info("%s: %s", self._line.stage, text)
        self._line.step(text)

    def note(self, problem: Problem) -> None:
        """Something the user should know although nothing is wrong."""
        self._out.note(problem)

    def _end_stage(self) -> None:
        if self._line.stage:
            _log.info("%s: %.2f s", self._line.stage, time.monotonic() - self._line.began)
