"""Tables as data: what targets show. `reports.table` renders them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Sheet:
    """Rows under headings. Columns named in `right` are aligned to the right."""

    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    title: str = ""
    right: frozenset[str] = frozenset()

    def add(self, *cells: object) -> None:
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} cells do not fit {len(self.columns)} columns")
        self.rows.append(tuple("" if cell is None else str(cell) for cell in cells))
