"""Fits a table into the width of a terminal: fewer columns, then wrapped words, then one line for each cell.

A text column whose rows all say the same becomes a line above the table. Columns that the table calls optional are left
out next, and a line below names them. What is still too wide is wrapped; where that is not enough, each row becomes a
list of its cells. Nothing is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from buildtool.extensions.sheets import Sheet

_GAP = "  "
_LEAST = 12  # characters of a wrapped text column
_BREAKS = re.compile(r"[^\s/_,;-]*[\s/_,;-]?")  # a piece of a cell that stays together
_STATES = {"ok": "32", "passed": "32", "failed": "1;31", "missing": "33"}


@dataclass
class _Column:
    name: str
    cells: list[str]
    right: bool
    width: int = 0

    @property
    def natural(self) -> int:
        return max(map(len, (self.name, *self.cells)))

    @property
    def least(self) -> int:
        """Numbers are not wrapped; headings and texts are."""
        cells = max(map(len, self.cells), default=0)
        return min(self.natural, max(cells, _longest_word(self.name)) if self.right else max(_LEAST, _words(self.name)))


def _longest_word(text: str) -> int:
    return max(map(len, text.split() or [""]))


def _words(heading: str) -> int:
    return min(_longest_word(heading), 2 * _LEAST)


def fitted(sheet: Sheet, width: int, colour: bool = False) -> str:
    """The table as text whose lines are at most `width` characters long."""
    if not sheet.rows:
        return ""
    columns = [
        _Column(name, [row[index] for row in sheet.rows], name in sheet.right)
        for index, name in enumerate(sheet.columns)
    ]
    above, columns = _same_in_all(columns, width) if _total(columns) > width else ([], columns)
    kept, hidden = _without_optional(columns, sheet.optional, width)
    lines = [sheet.title] if sheet.title else []
    lines += [line for fact in above for line in wrapped(fact, width)]
    fits = _shrink(kept, width)
    lines += _table(kept, colour) if fits else _records(columns, width)
    if hidden and fits:
        lines += wrapped(f"without room for: {', '.join(hidden)} (--json has all columns)", width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text, broken behind blanks and the marks of names and paths."""
    lines, line = [], ""
    for piece in _BREAKS.findall(text):
        if line and len(line) + len(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
        while len(line.rstrip()) > width:
            lines.append(line[:width])
            line = line[width:]
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _total(columns: Sequence[_Column]) -> int:
    return sum(column.natural for column in columns) + len(_GAP) * (len(columns) - 1)


def _same_in_all(columns: list[_Column], width: int) -> tuple[list[str], list[_Column]]:
    """Facts that hold for all rows, and the other columns; as few as make the table fit, from the left."""
    facts: list[str] = []
    kept = list(columns)
    for column in columns:
        one = len(set(column.cells)) == 1 and column.cells[0] not in _STATES
        if _total(kept) > width and one and not column.right and len(kept) > 2:
            kept.remove(column)
            if column.cells[0]:
                facts.append(f"{column.name}: {column.cells[0]}")
    return ([", ".join(facts)] if facts else []), kept


def _without_optional(columns: list[_Column], optional: Sequence[str], width: int) -> tuple[list[_Column], list[str]]:
    hidden: list[str] = []
    for name in optional:
        if sum(column.least for column in columns) + len(_GAP) * (len(columns) - 1) <= width:
            break
        kept = [column for column in columns if column.name != name]
        hidden += [name] if len(kept) < len(columns) else []
        columns = kept
    return columns, hidden


def _shrink(columns: list[_Column], width: int) -> bool:
    """Sets the widths; the widest columns give way first. False where the table cannot become narrow enough."""
    for column in columns:
        column.width = column.natural
    room = width - len(_GAP) * (len(columns) - 1)
    while sum(column.width for column in columns) > room:
        widest = max((one for one in columns if one.width > one.least), key=lambda one: one.width, default=None)
        if widest is None:
            return False
        widest.width -= 1
    return True


def _table(columns: Sequence[_Column], colour: bool) -> Iterator[str]:
    yield from _row(columns, [column.name for column in columns], "1" if colour else "")
    for cells in zip(*(column.cells for column in columns), strict=True):
        yield from _row(columns, cells, "", colour)


def _row(columns: Sequence[_Column], cells: Sequence[str], style: str, states: bool = False) -> Iterator[str]:
    parts = [wrapped(cell, column.width) for column, cell in zip(columns, cells, strict=True)]
    for number in range(max(map(len, parts))):
        line = []
        for column, part, cell in zip(columns, parts, cells, strict=True):
            text = part[number] if number < len(part) else ""
            text = text.rjust(column.width) if column.right else text.ljust(column.width)
            own = _STATES.get(cell, "") if states else style
            line.append(f"\033[{own}m{text}\033[0m" if own and text.strip() else text)
        yield _GAP.join(line)


def _records(columns: Sequence[_Column], width: int) -> Iterator[str]:
    """Each row as a list of its cells."""
    names = min(max(len(column.name) for column in columns), width // 3)
    for number, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
        if number:
            yield ""
        for column, cell in zip(columns, cells, strict=True):
            heads, texts = wrapped(column.name, names), wrapped(cell, width - names - len(_GAP))
            for line in range(max(len(heads), len(texts))):
                head = heads[line] if line < len(heads) else ""
                yield f"{head.ljust(names)}{_GAP}{texts[line] if line < len(texts) else ''}"
