"""Where a command's words go: its result to stdout, everything else to stderr.

With `--json` stdout carries exactly one JSON document; without, a text for people.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from buildtool.errors import LatheError, Problem
from buildtool.wording import visible

if TYPE_CHECKING:
    from buildtool.cli.progress import TerminalProgress
    from buildtool.reports.table import Table

QUIET, NORMAL, VERBOSE, DEBUG = -1, 0, 1, 2
_LEAST_WIDTH = 40
_LEVELS = {QUIET: logging.ERROR, NORMAL: logging.WARNING, VERBOSE: logging.INFO, DEBUG: logging.DEBUG}


class ClosedPipe(Exception):  # noqa: N818 (nothing went wrong)
    """Whoever read our output has seen enough. Not an OSError: typer would make a failure of it."""


def wants_colour(stream: Any = None) -> bool:
    """Colour is for terminals whose user did not opt out (https://no-color.org)."""
    stream = stream or sys.stdout
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_width() -> int | None:
    """The columns of the terminal that stdout is, or of COLUMNS; None where it is a file or a pipe."""
    if not (sys.stdout.isatty() or os.environ.get("COLUMNS")):
        return None
    return max(_LEAST_WIDTH, shutil.get_terminal_size((80, 24)).columns)


@dataclass(frozen=True)
class Output:
    """The options every command has, and the ways to say something under them."""

    json: bool = False
    verbosity: int = NORMAL

    def start_logging(self) -> None:
        """Send the log to stderr, as much of it as the user asked for."""
        level = _LEVELS[max(QUIET, min(DEBUG, self.verbosity))]
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        logger = logging.getLogger("buildtool")
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False

    def document(self, data: Mapping[str, Any], *parts: str | Table) -> None:
        """The result of the command: `data` with --json, else the parts (texts and tables) one below the other."""
        if self.json:
            write(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n")
        elif self.verbosity > QUIET:
            self.show(*parts)

    def show(self, *parts: str | Table) -> None:
        """Print texts and tables for a person."""
        for part in parts:
            text = visible(part) if isinstance(part, str) else part.render(wants_colour(), terminal_width())
            write(text.rstrip("\n") + "\n" if text else "")

    def note(self, problem: Problem) -> None:
        """Something the user should know although nothing is wrong."""
        if self.verbosity > QUIET:
            complain(visible(problem.render("note")))

    def say(self, text: str) -> None:
        """A line on stderr that --quiet silences."""
        if self.verbosity > QUIET:
            complain(visible(text))

    def progress(self) -> TerminalProgress:
        """What the workflow reports to: lines that overwrite each other on a terminal, the log elsewhere."""
        from buildtool.cli.progress import TerminalProgress

        return TerminalProgress(self)


def write(text: str) -> None:
    """Write to stdout. The one place that does."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError as problem:
        raise ClosedPipe from problem


def write_file(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    from buildtool.builders.package import write_file as write_whole

    write_whole(path, text.encode())


def complain(text: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def report_error(error: LatheError, as_json: bool) -> None:
    """Tell about a failure: as the one document on stdout with --json, else on stderr."""
    if as_json:
        write(json.dumps(error.as_json(), indent=2, ensure_ascii=False) + "\n")
        return
    text = visible(error.render())
    if wants_colour(sys.stderr):
        text = text.replace("error:", "\033[1;31merror:\033[0m")
    complain(text)
