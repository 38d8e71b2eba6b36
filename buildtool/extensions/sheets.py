"""Tables as data: what targets show. `reports.table` renders them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from buildtool.wording import visible


@dataclass
class Sheet:
    """Rows under headings. Columns whose name is in `right` are aligned to the right; those in `optional` are left out
    in this order where a terminal has no room for them.
    """

    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    title: str = ""
    right: frozenset[str] = frozenset()
    optional: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.title = visible(self.title)

    def add(self, *cells: object) -> None:
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} cells do not fit {len(self.columns)} columns")
        self.rows.append(tuple("" if cell is None else visible(str(cell)) for cell in cells))
