"""The history: one line of JSON per commit and machine, in the order in which they were measured."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FILE = Path(__file__).with_name("history.jsonl")


class HistoryError(Exception):
    """The file or the tree does not allow an entry; the message says what to do."""


@dataclass(frozen=True)
class Entry:
    """What was measured of one commit on one machine."""

    commit: str
    date: str  # of the commit
    subject: str
    machine: str
    figures: Mapping[str, float]

    def line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"


def read(file: Path = FILE) -> list[Entry]:
    entries = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines() if file.exists() else (), 1):
        try:
            entries.append(_checked(Entry(**json.loads(line))))
        except (TypeError, ValueError) as problem:
            raise HistoryError(f"{file}:{number}: no entry of the history: {problem}; remove the line") from problem
    return entries


def _checked(entry: Entry) -> Entry:
    texts = (entry.commit, entry.date, entry.subject, entry.machine)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("commit, date, subject and machine are texts")
    if not all(isinstance(value, int | float) for value in entry.figures.values()):
        raise ValueError("figures are numbers")
    return entry


def append(entry: Entry, file: Path = FILE) -> None:
    """Add a line. One of the same commit and machine is replaced, and the others stay as they are."""
    kept = [old for old in read(file) if (old.commit, old.machine) != (entry.commit, entry.machine)]
    beside = file.with_suffix(".new")
    beside.write_text("".join(each.line() for each in [*kept, entry]), encoding="utf-8")
    beside.replace(file)


def commit(root: Path = ROOT) -> tuple[str, str, str]:
    """The commit of the tree, its date and its subject."""
    changed = [line[3:] for line in _git(root, "status", "--porcelain").splitlines()]
    changed = [name for name in changed if not name.endswith(FILE.name)]
    if changed:
        raise HistoryError(
            f"'{changed[0]}' differs from the last commit, so that figures would not be those of a commit: "
            "commit or remove it, or say DRY=1 to see the figures"
        )
    short, date, subject = _git(root, "log", "-1", "--format=%h%n%cs%n%s").splitlines()
    return short, date, subject


def machine(cpuinfo: str, compiler: str, cores: int) -> str:
    """What times depend on, in one line."""
    names = [line.partition(":")[2].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {cores} cores, {compiler}"


def changes(entries: Sequence[Entry]) -> list[str]:
    """The last entry beside the one before it on the same machine, a line per figure."""
    last = entries[-1]
    before = next((entry for entry in reversed(entries[:-1]) if entry.machine == last.machine), None)
    lines = []
    for name, value in last.figures.items():
        old = before.figures.get(name) if before is not None else None
        change = f"  {(value / old - 1) * 100:+.1f}% since {before.commit}" if before is not None and old else ""
        lines.append(f"{name:42} {value:>14,.10g}{change}")
    return lines


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout
