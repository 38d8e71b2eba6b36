"""From the tree of a file to sections: keys under one name each, values that mean something, places for messages.

`keys` says what a file may hold, and `buildtool.sections` reads it, as it reads deployment files. Here names that mean
the same become one before, and what was read becomes what the rules ask: which keys were given, where, and as what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from buildtool.errors import Problem, Where
from buildtool.sections.section import is_required, names_of, reader_of
from buildtool.sections.validate import Manner, Path, Validated, section_at, validate
from buildtool.targets.max7800x.description.fields import PROCESSORS_MASK, hexadecimal
from buildtool.targets.max7800x.description.keys import DescriptionKeys
from buildtool.wording import quoted
from buildtool.yaml_marks import Entry, Node, Scalar, place_of
from buildtool.yaml_marks import Mapping as MappingNode
from buildtool.yaml_marks import Sequence as SequenceNode


@dataclass(frozen=True)
class Given:
    """A value, where it stands, and by which of its names the key was called."""

    value: Any
    where: Where
    key: str


@dataclass(frozen=True)
class Section:
    """The values of one section by the names of their keys. `broken`: keys whose values were refused."""

    title: str  # for messages: layer 3 ('pool')
    where: Where
    given: Mapping[str, Given] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()

    def __contains__(self, key: str) -> bool:
        return key in self.given

    def get(self, key: str, default: Any = None) -> Any:
        found = self.given.get(key)
        return default if found is None else found.value

    def knows(self, *keys: str) -> bool:
        """Whether none of the keys was refused, so that a rule about them would not only repeat the complaint."""
        return self.broken.isdisjoint(keys)

    def where_of(self, key: str) -> Where:
        return self.given[key].where if key in self.given else self.where

    def called(self, key: str) -> str:
        """The name that the file uses for the key."""
        return self.given[key].key if key in self.given else key


@dataclass
class Findings:
    """What is wrong (`problems`), and what the user should know although nothing is (`notes`)."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    def refuse(self, section: Section, key: str, what: str, *, rule: str = "", remedy: str = "") -> None:
        """A problem of a key of a section, or of the section where it has no such key."""
        self.problems.append(_problem(section, key, what, rule, remedy))

    def note(self, section: Section, key: str, what: str, *, rule: str = "", remedy: str = "") -> None:
        self.notes.append(_problem(section, key, what, rule, remedy))


def _problem(section: Section, key: str, what: str, rule: str, remedy: str) -> Problem:
    text = f"{section.title}: {what}" if section.title else what
    return Problem(text, section.where_of(key), rule, remedy)


@dataclass(frozen=True)
class Sections:
    """A whole description, as written."""

    general: Section
    layers: tuple[Section, ...]
    unload: tuple[Section, ...] = ()
    buffers: tuple[Section, ...] = ()


def sections(root: Node, findings: Findings) -> Sections:
    """The sections of a file. What cannot be read is left out, and named in `findings`."""
    if not isinstance(root, MappingNode):
        rule = "it is a mapping with `arch`, `dataset`, `layers`"
        findings.problems.append(Problem("this is not a description of a network", root.where, rule))
        return Sections(Section("", root.where), ())
    return _Reading(root).sections(findings)


class _Reading:
    """Reads one file."""

    def __init__(self, root: MappingNode) -> None:
        self._names: dict[Path, str] = {}  # what keys are called in the file
        self._broken: set[Path] = set()
        self._problems: list[Problem] = []
        self._titles = dict(_titles(root))
        self._tree = self._renamed(root, DescriptionKeys, ())
        self._manner = Manner(
            name=lambda path: f"`{self._called(path)}`",
            title=self._title,
            entry="of them",
            all_keys="`lathe schema --platform ai8x` lists all keys",
        )
        self._read: Validated[DescriptionKeys] = validate(DescriptionKeys, self._tree, self._manner)
        self._broken |= self._read.broken

    def sections(self, findings: Findings) -> Sections:
        found = self._read.section or DescriptionKeys()
        general = self._section(found, (), hidden=("layers", "unload", "data_buffer"))
        layers, unload, buffers = (
            tuple(self._section(each, (key, at)) for at, each in enumerate(getattr(found, key) or ()))
            for key in ("layers", "unload", "data_buffer")
        )
        problems = [*self._problems, *self._read.problems, *self._missing(found)]
        findings.problems += sorted(problems, key=lambda problem: (problem.where.line, problem.where.column))
        return Sections(general, layers, unload, buffers)

    def _renamed(self, node: Node, owner: type[BaseModel] | None, path: Path) -> Node:
        """With one name for each key, and quoted processors as hexadecimal numbers."""
        if isinstance(node, SequenceNode):
            items = (
                self._renamed(item, section_at(DescriptionKeys, (*path, at)), (*path, at))
                for at, item in enumerate(node.items)
            )
            return replace(node, items=tuple(items))
        if not isinstance(node, MappingNode) or owner is None:
            return node
        names, kept = names_of(owner), dict[str, Entry]()
        for entry in node.entries:
            name = names.get(entry.key, entry.key)
            here = (*path, name)
            if name in kept:
                self._twice(path, kept[name], entry, self._names[here])
                continue
            self._names[here] = entry.key
            value = self._renamed(entry.value, section_at(DescriptionKeys, here), here)
            if name in owner.model_fields and reader_of(owner, name) is PROCESSORS_MASK:
                value = _unquoted(value)
            kept[name] = replace(entry, key=name, value=value)
        return replace(node, entries=tuple(kept.values()))

    def _twice(self, path: Path, first: Entry, second: Entry, called: str) -> None:
        what = f"`{second.key}` is given twice: `{called}` means the same"
        title = self._title((*path, first.key))
        text = f"{title}: {what}" if title else what
        self._problems.append(Problem(text, second.key_where, remedy="keep one of the two"))

    def _called(self, path: Path) -> str:
        return self._names.get(path, str(path[-1]))

    def _title(self, path: Path) -> str:
        return self._titles.get(path[:2], "") if len(path) > 2 else ""

    def _missing(self, found: BaseModel, path: Path = ()) -> Iterator[Problem]:
        for name in type(found).model_fields:
            value, here = getattr(found, name), (*path, name)
            if value is None and is_required(type(found), name) and here not in self._broken:
                title = self._title(here)
                what = f"the key `{name}` is missing"
                yield Problem(f"{title}: {what}" if title else what, place_of(self._tree, path))
            for at, inside in enumerate(value if isinstance(value, list) else ()):
                yield from self._missing(inside, (*here, at))

    def _section(self, found: BaseModel, path: Path, hidden: Iterable[str] = ()) -> Section:
        given = {
            name: Given(getattr(found, name), place_of(self._tree, (*path, name)), self._called((*path, name)))
            for name in found.model_fields_set
            if name not in hidden
        }
        ordered = {name: given[name] for name in type(found).model_fields if name in given}
        broken = frozenset(str(one[-1]) for one in self._broken if one[:-1] == path)
        return Section(self._titles.get(path, ""), place_of(self._tree, path), ordered, broken)


def _unquoted(value: Node) -> Node:
    if not isinstance(value, Scalar) or value.plain:
        return value
    return replace(value, text=hexadecimal(value.text), plain=True)


def _titles(root: MappingNode) -> Iterator[tuple[Path, str]]:
    """What the entries of lists are called in messages. Layers are called as the file numbers them."""
    for entry in root.entries:
        number = 0
        for at, node in enumerate(entry.value.items if isinstance(entry.value, SequenceNode) else ()):
            if entry.key != "layers":
                yield (entry.key, at), f"`{entry.key}`"
            elif isinstance(node, MappingNode):
                own, name = _text(node, "sequence"), _text(node, "name")
                number = int(own) if own.isdecimal() and len(own) < 9 else number
                yield (entry.key, at), f"layer {number} ({quoted(name)})" if name else f"layer {number}"
                number += 1


def _text(node: MappingNode, key: str) -> str:
    given = node.get(key)
    return given.value.text if given is not None and isinstance(given.value, Scalar) else ""
