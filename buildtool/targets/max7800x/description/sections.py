"""From the tree of a file to sections: keys under one name each, values that mean something, places for messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from buildtool.errors import Problem, Where
from buildtool.targets.max7800x.description.keys import (
    BUFFER_KEYS,
    GLOBAL_KEYS,
    LAYER_KEYS,
    SECTIONS,
    UNLOAD_KEYS,
    Key,
)
from buildtool.targets.max7800x.description.values import WrongValueError
from buildtool.wording import counted, did_you_mean, nearest, quoted
from buildtool.yaml_marks import Entry, Node, Scalar
from buildtool.yaml_marks import Mapping as MappingNode
from buildtool.yaml_marks import Sequence as SequenceNode

SNOOP_REGISTERS = 32


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
        where = root.where
        findings.problems.append(
            Problem(
                "this is not a description of a network", where, rule="it is a mapping with `arch`, `dataset`, `layers`"
            )
        )
        return Sections(Section("", where), ())
    own = [entry for entry in root.entries if entry.key not in SECTIONS]
    general = _section("", root.where, own, GLOBAL_KEYS, findings, known_too=SECTIONS)
    _check_snoop(general, findings)
    return Sections(
        general,
        tuple(_layers(root, findings)),
        tuple(_listed(root, "unload", UNLOAD_KEYS, findings)),
        tuple(_listed(root, "data_buffer", BUFFER_KEYS, findings)),
    )


def _check_snoop(general: Section, findings: Findings) -> None:
    if "snoop" in general and len(general.get("snoop")) != SNOOP_REGISTERS:
        findings.refuse(
            general,
            "snoop",
            f"`snoop` has {counted(len(general.get('snoop')), 'value')}",
            rule=f"it holds the values of {SNOOP_REGISTERS} registers",
        )


def _layers(root: MappingNode, findings: Findings) -> Iterator[Section]:
    entry = root.get("layers")
    if entry is None:
        remedy = _misspelt("layers", root)
        findings.problems.append(Problem("the key `layers` is missing", root.where, remedy=remedy))
        return
    number = 0
    for node in _maps(entry, findings):
        own = _text(node, "sequence")
        number = int(own) if own.isdecimal() and len(own) < 9 else number
        yield _section(_layer_title(number, node), node.where, node.entries, LAYER_KEYS, findings)
        number += 1


def _layer_title(number: int, node: MappingNode) -> str:
    """Layers are called as the file numbers them."""
    name = _text(node, "name")
    return f"layer {number} ({quoted(name)})" if name else f"layer {number}"


def _text(node: MappingNode, key: str) -> str:
    given = node.get(key)
    return given.value.text if given is not None and isinstance(given.value, Scalar) else ""


def _listed(root: MappingNode, name: str, keys: Sequence[Key], findings: Findings) -> Iterator[Section]:
    entry = root.get(name)
    for node in _maps(entry, findings) if entry is not None else ():
        yield _section(f"`{name}`", node.where, node.entries, keys, findings)


def _maps(entry: Entry, findings: Findings) -> Iterator[MappingNode]:
    """The mappings of a list of mappings."""
    if not isinstance(entry.value, SequenceNode) or not entry.value.items:
        findings.problems.append(
            Problem(f"`{entry.key}` must be a list", entry.key_where, remedy="begin each entry of it with `-`")
        )
        return
    for node in entry.value.items:
        if isinstance(node, MappingNode):
            yield node
        else:
            findings.problems.append(
                Problem(f"an entry of `{entry.key}` must be a mapping", node.where, remedy="write `- key: value`")
            )


def _misspelt(key: str, root: MappingNode) -> str:
    meant = nearest(key, (entry.key for entry in root.entries if entry.key not in SECTIONS))
    return f"did you mean '{meant}'?" if meant else ""


def _section(
    title: str,
    where: Where,
    entries: Sequence[Entry],
    keys: Sequence[Key],
    findings: Findings,
    *,
    known_too: Sequence[str] = (),
) -> Section:
    by_name = {name: key for key in keys for name in (key.name, *key.aliases)}
    given: dict[str, Given] = {}
    broken: set[str] = set()
    for entry in entries:
        key = by_name.get(entry.key)
        if key is None:
            findings.refuse(
                Section(title, entry.key_where),
                "",
                f"the key {quoted(entry.key)} is unknown",
                remedy=did_you_mean(entry.key, (*by_name, *known_too)),
            )
        elif key.name in given or key.name in broken:
            findings.refuse(
                Section(title, entry.key_where),
                "",
                f"`{entry.key}` is given twice" + _other_name(given.get(key.name), entry.key),
                remedy="keep one of the two",
            )
        else:
            _read(Section(title, where), key, entry, given, broken, findings)
    section = Section(title, where, given, frozenset(broken))
    for key in keys:
        if key.required and key.name not in given and key.name not in broken:
            findings.refuse(section, "", f"the key `{key.name}` is missing")
    return section


def _other_name(first: Given | None, name: str) -> str:
    return f": `{first.key}` means the same" if first is not None and first.key != name else ""


def _read(
    section: Section, key: Key, entry: Entry, given: dict[str, Given], broken: set[str], findings: Findings
) -> None:
    where = entry.value.where
    if isinstance(entry.value, MappingNode) or (isinstance(entry.value, Scalar) and entry.value.is_null):
        where = entry.key_where
    try:
        given[key.name] = Given(key.read(entry.value), where, entry.key)
    except WrongValueError as wrong:
        broken.add(key.name)
        what = wrong.what.replace("{key}", f"`{entry.key}`")
        findings.refuse(Section(section.title, where), "", what, rule=wrong.rule, remedy=wrong.remedy)
