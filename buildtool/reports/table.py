"""A table of text: aligned columns in files and pipes, as wide as the terminal allows on a terminal."""

from __future__ import annotations

from buildtool.extensions.sheets import Sheet
from buildtool.reports.fitting import fitted


class Table(Sheet):
    """A sheet that knows how it looks."""

    @classmethod
    def of(cls, sheet: Sheet) -> Table:
        return cls(sheet.columns, list(sheet.rows), sheet.title, sheet.right, sheet.optional)

    def render(self, colour: bool = False, width: int | None = None) -> str:
        """`width`: of the terminal; None: there is none, and rows are as long as they are."""
        if not self.rows:
            return ""
        return self.plain() if width is None else fitted(self, width, colour)

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


def byte_count(number: int | None) -> str:
    """A size with thousands separated, as it is compared most often by eye."""
    return "" if number is None else f"{number:,}"


def number(value: float | None, digits: int = 6) -> str:
    """A measured number, short; nothing where there is none."""
    return "" if value is None else f"{value:.{digits}g}"
