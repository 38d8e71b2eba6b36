"""Runs compilers, linkers and CMake. The only place of the builders that starts a program.

Output is captured and shown only where a program fails, or line by line in verbose mode. A program never outlives us:
whatever interrupts the wait also ends the program and everything that it started.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from buildtool.errors import BuildError, LatheError, ToolchainError

SHOWN_LINES = 30  # of the output of a program that failed

# Variables that change what compilers do or how they report it. The identity of a toolchain covers none of them.
_DROPPED = frozenset(
    [
        *("CFLAGS", "CXXFLAGS", "ASMFLAGS", "LDFLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"),
        *("GCC_EXEC_PREFIX", "COMPILER_PATH", "NINJA_STATUS", "VERBOSE"),
    ]
)


@dataclass
class Processes:
    """How programs are run: `echo` gets every command and its output; `dry_run` only notes the commands."""

    echo: Callable[[str], None] | None = None
    dry_run: bool = False
    commands: list[str] = field(default_factory=list)  # all that were run, or would be, ready to paste into a shell
    variables: dict[str, str] = field(default_factory=dict)  # added to the environment of all programs
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def run(
        self,
        command: Sequence[str | Path],
        *,
        doing: str,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        error: type[LatheError] = BuildError,
    ) -> str:
        """Run to the end and return stdout and stderr together. `doing` completes "<doing> failed"."""
        words = [str(word) for word in command]
        line = shlex.join(words)
        if cwd is not None:
            line = f"cd {shlex.quote(str(cwd))} && {line}"
        self.commands.append(line)
        if self.echo:
            self.echo(f"$ {line}")
        if self.dry_run:
            return ""
        if self._stopped.is_set():
            raise error(f"{doing} was cancelled")
        try:
            process = subprocess.Popen(
                words,
                cwd=cwd,
                env=_environment({**self.variables, **(environment or {})}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as problem:
            raise ToolchainError(
                f"'{words[0]}' cannot be started: {problem.strerror or problem}", remedy="see: lathe doctor"
            ) from problem
        self._running.add(process)
        try:
            if self._stopped.is_set():  # while it started
                _end(process)
            output = self._followed(process)
        finally:
            _end(process)
            self._running.discard(process)
        if process.returncode != 0:
            raise error(f"{doing} failed", rule=_shown(line, output), remedy=_remedy(process.returncode))
        return output

    def _followed(self, process: subprocess.Popen[bytes]) -> str:
        """All that the program says, passed on line by line while it runs."""
        lines = []
        assert process.stdout is not None
        with process.stdout:
            for raw in process.stdout:
                lines.append(raw.decode("utf-8", errors="replace"))
                if self.echo and lines[-1].strip():
                    self.echo(lines[-1].rstrip())
        process.wait()
        return "".join(lines)

    def stop(self) -> None:
        """End all programs that other threads wait for, and start no more of them."""
        self._stopped.set()
        for process in list(self._running):
            _end(process)


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in _DROPPED and not key.startswith("CMAKE_")}
    return kept | {"LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"} | dict(extra or {})


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and its children if it still runs; ninja uses the grace to remove what is half-written."""
    for kind, grace in ((signal.SIGTERM, 2.0), (signal.SIGKILL, None)):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, kind)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=grace)


def _shown(line: str, output: str) -> str:
    """The command that failed, and the end of what it said. Of ninja's output, what it says about the failure."""
    lines = output.rstrip().splitlines()
    for number, text in enumerate(lines):
        if text.startswith("FAILED: "):
            lines = lines[number + 1 :]
            if lines:
                line, lines = lines[0], lines[1:]
            break
    cut = lines[-SHOWN_LINES:] if len(lines) > SHOWN_LINES else lines
    return "\n        ".join([f"the command was: {line}", *cut])


def _remedy(code: int) -> str:
    if code < 0:
        return f"the program was killed by signal {-code}"
    return "see the output above; -v shows all commands"
