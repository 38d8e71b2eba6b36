"""What the resolution of a deployment shares: the tree for places, the broken parts, and the findings.

A `View` answers what a key is worth somewhere in the file: the subgraph's value, else its model's, else the default.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from buildtool.config.deployment import FileRef
from buildtool.config.models import GraphSection, sections
from buildtool.errors import Problem, Where
from buildtool.sections.section import default_of
from buildtool.wording import quoted
from buildtool.yaml_marks import Node, place_of

KeyPath = tuple[str | int, ...]


@dataclass
class Context:
    """Collects problems and notes; nothing is raised before all of a file is seen."""

    tree: Node
    folder: Path  # where relative paths start
    broken: frozenset[KeyPath]
    names: dict[KeyPath, str]  # of subgraphs that were given as a mapping
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    def where(self, path: KeyPath, *, key: bool = False) -> Where:
        return place_of(self.tree, path, key=key)

    def refuse(self, what: str, where: Where, *, rule: str = "", remedy: str = "") -> None:
        self.problems.append(Problem(what, where, rule, remedy))

    def note(self, what: str, where: Where, *, rule: str = "", remedy: str = "") -> None:
        self.notes.append(Problem(what, where, rule, remedy))

    def absolute(self, text: str) -> Path:
        """A path as the deployment file means it."""
        return Path(os.path.normpath(self.folder / text))


@dataclass(frozen=True)
class Found:
    """The value of a key, and the path of the key that gives it (empty where the default applies)."""

    value: Any
    path: KeyPath = ()

    @property
    def is_given(self) -> bool:
        return bool(self.path)


@dataclass(frozen=True)
class View:
    """The keys of the subgraph or model at `path`, from the levels that may give them, the innermost first."""

    context: Context
    path: KeyPath
    levels: tuple[tuple[KeyPath, GraphSection], ...]

    @property
    def where(self) -> Where:
        return self.context.where(self.path, key=True)

    def find(self, key: str) -> Found:
        for path, section in self.levels:
            value = getattr(section, key, None)
            if value is not None:
                return Found(value, (*path, key))
        return Found(default_of(sections().subgraph, key))

    def is_broken(self, *keys: str) -> bool:
        """Whether a value of one of the keys was refused, so that rules about it would only repeat the complaint."""
        return any((*path, key) in self.context.broken for path, _ in self.levels for key in keys)

    def where_of(self, key: str, index: int | None = None) -> Where:
        """The place of a key's value, or of an item of it, or of the section where no key gives it."""
        found = self.find(key)
        if not found.is_given:
            return self.where
        return self.context.where(found.path if index is None else (*found.path, index))

    def require(self, key: str, *, remedy: str = "") -> Any:
        """The value of a key that has to be there; None after a complaint where it is not."""
        found = self.find(key)
        if found.value is None and not self.is_broken(key):
            self.context.refuse(f"the key {quoted(key)} is missing", self.where, remedy=remedy)
        return found.value

    def files(self, key: str) -> tuple[FileRef, ...]:
        """The references of a key that names any number of files."""
        texts = self.find(key).value or []
        return tuple(self._reference(text, "", self.where_of(key, index)) for index, text in enumerate(texts))

    def file(self, key: str, checksum_key: str = "") -> FileRef | None:
        """The reference of a key that names one file."""
        text = self.find(key).value
        if text is None:
            return None
        checksum = self.find(checksum_key).value if checksum_key else None
        return self._reference(text, checksum or "", self.where_of(key))

    def _reference(self, text: str, checksum: str, where: Where) -> FileRef:
        is_url = text.startswith(("http://", "https://"))
        return FileRef(text if is_url else str(self.context.absolute(text)), checksum, where)
