"""The one tree of errors. Every message says what is wrong, where, by which rule, and what to do about it.

A `LatheError` carries one or more `Problem`s, so that a file with five mistakes is reported once, not five times.
The class decides the exit code of the command; the text of a problem never does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

_LONGEST = 6000  # characters of a part of a message
_END = 3000  # of which so many are the end of it
_MOST = 200  # problems that are shown


def _shortened(text: str) -> str:
    """A part of a message for people. Files of strangers have lists of 100,000 entries, and names that are as long."""
    left_out = len(text) - _LONGEST
    if left_out <= 0:
        return text
    return f"{text[: _LONGEST - _END]} [{left_out:,} characters left out] {text[-_END:]}"


@dataclass(frozen=True)
class Where:
    """A place a user can go to: a position in a file, or a node or value of a model. Unknown parts stay empty."""

    file: str = ""
    line: int = 0  # 1-based; 0 means unknown
    column: int = 0  # 1-based; 0 means unknown
    model: str = ""
    node: str = ""
    value: str = ""

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        parts = [place] if place else []
        for label, text in (("model", self.model), ("node", self.node), ("value", self.value)):
            if text:
                parts.append(f"{label} '{_shortened(text)}'")
        return ", ".join(parts)


@dataclass(frozen=True)
class Problem:
    """One mistake: what is wrong, where, the rule it breaks and the remedy (each may be empty but `what`)."""

    what: str
    where: Where = Where()
    rule: str = ""
    remedy: str = ""

    def render(self, severity: str = "error") -> str:
        place = str(self.where)
        what = f"{severity}: {_shortened(self.what)}"
        lines = [f"{place}: {what}" if place else what]
        if self.rule:
            lines.append(f"  rule: {_shortened(self.rule)}")
        if self.remedy:
            lines.append(f"  fix:  {_shortened(self.remedy)}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        where = {key: value for key, value in vars(self.where).items() if value}
        data: dict[str, Any] = {"what": self.what, "where": where, "rule": self.rule, "remedy": self.remedy}
        return {key: value for key, value in data.items() if value}


class LatheError(Exception):
    """Base of all errors that a user may see. Raise a subclass."""

    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        what: str | Problem | Sequence[Problem],
        *,
        where: Where | None = None,
        rule: str = "",
        remedy: str = "",
    ) -> None:
        if isinstance(what, Problem):
            problems: Iterable[Problem] = (what,)
        elif isinstance(what, str):
            problems = (Problem(what, where or Where(), rule, remedy),)
        else:
            problems = what
        self.problems: tuple[Problem, ...] = tuple(problems)
        if not self.problems:
            raise ValueError("an error needs at least one problem")
        super().__init__(self.render())

    def render(self) -> str:
        text = "\n".join(problem.render() for problem in self.problems[:_MOST])
        if len(self.problems) > _MOST:
            text += f"\n{len(self.problems):,} errors; these are the first {_MOST}, --json lists all"
        elif len(self.problems) > 1:
            text += f"\n{len(self.problems)} errors"
        return text

    def as_json(self) -> dict[str, Any]:
        return {
            "error": type(self).__name__,
            "exit_code": self.exit_code,
            "problems": [problem.as_json() for problem in self.problems],
        }


class ConfigError(LatheError):
    """A deployment or device file, or a command line, is wrong."""

    exit_code = 2


class ModelFileError(LatheError):
    """A model file is missing, truncated, hostile, or not what its checksum says."""

    exit_code = 3


class UnsupportedError(LatheError):
    """The input is well-formed but needs something Lathe does not do (an operator, a type, a target)."""

    exit_code = 4


class GraphError(LatheError):
    """A graph breaks a rule of the intermediate representation (shape mismatch, unknown attribute, cycle)."""

    exit_code = 5


class ToolchainError(LatheError):
    """A compiler, linker, emulator or package that a target needs is missing or too old."""

    exit_code = 6


class BuildError(LatheError):
    """Compiling, linking or packaging failed, or the result breaks a promise (needed libraries, symbols)."""

    exit_code = 7


class RunError(LatheError):
    """A built library refused a model or its inputs, or crashed."""

    exit_code = 8


class ValidationError(LatheError):
    """A library ran, and its outputs are not those of the reference."""

    exit_code = 9


class DeviceError(LatheError):
    """A device or emulator is not reachable or misbehaves."""

    exit_code = 10


class InternalError(LatheError):
    """A defect of Lathe itself; the message asks for a report."""

    exit_code = 70
