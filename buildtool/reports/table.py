"""A table of text: aligned columns anywhere, with rich's borders and colours on a terminal."""

from __future__ import annotations

import io
import shutil

from buildtool.extensions.sheets import Sheet

_STATES = {"ok": "green", "passed": "green", "failed": "bold red", "missing": "yellow"}


class Table(Sheet):
    """A sheet that knows how it looks."""

    @classmethod
    def of(cls, sheet: Sheet) -> Table:
        return cls(sheet.columns, list(sheet.rows), sheet.title, sheet.right)

    def render(self, colour: bool = False) -> str:
        if not self.rows:
            return ""
        return self._rich() if colour else self.plain()

    def plain(self) -> str:
        """Columns separated by two blanks: readable in a log, easy to cut in a script."""
        lines = [tuple(self.columns), *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.columns))]
        text = [self.title] if self.title else []
        for line in lines:
            cells = [
                cell.rjust(width) if name in self.right else cell.ljust(width)
                for cell, width, name in zip(line, widths, self.columns, strict=True)
            ]
            text.append("  ".join(cells).rstrip())
        return "\n".join(text) + "\n"

    def _rich(self) -> str:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(title=self.title or None, box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
        for name in self.columns:
            table.add_column(name, justify="right" if name in self.right else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(cell, style=_STATES.get(cell, "")) for cell in row))
        buffer = io.StringIO()
        width = shutil.get_terminal_size((120, 24)).columns
        Console(file=buffer, force_terminal=True, width=width).print(table)
        return buffer.getvalue()


def byte_count(number: int | None) -> str:
    """A size with thousands separated, as it is compared most often by eye."""
    return "" if number is None else f"{number:,}"


def number(value: float | None, digits: int = 6) -> str:
    """A measured number, short; nothing where there is none."""
    return "" if value is None else f"{value:.{digits}g}"
