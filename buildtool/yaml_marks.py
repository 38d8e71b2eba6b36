"""YAML into a tree of text that remembers where everything stood.

Scalars stay the text that the user wrote: `on`, `2.20` and a checksum of digits mean themselves, and the reader of a
key decides what its text is. Aliases and merge keys (`<<`) work; depth, size and expansion are bounded, so that no file
can exhaust the machine.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as AnySequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from buildtool.errors import ConfigError, Problem, Where
from buildtool.wording import near_files, quoted

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_NODES = 50_000  # aliases count as often as they are used

_STRING_TAG = "tag:yaml.org,2002:str"
_NO_TAG = "lathe:untagged"
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True)
class Scalar:
    """A piece of text; `plain` if it stood without quotes."""

    text: str
    where: Where
    plain: bool = True

    @property
    def is_null(self) -> bool:
        return self.plain and self.text in _NULLS


@dataclass(frozen=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    where: Where


@dataclass(frozen=True)
class Entry:
    """A key and its value."""

    key: str
    key_where: Where
    value: Node


@dataclass(frozen=True)
class Mapping:
    """Keys with values, in the order of the file, each key once."""

    entries: tuple[Entry, ...]
    where: Where

    def get(self, key: str) -> Entry | None:
        return self._by_key.get(key)

    @functools.cached_property
    def _by_key(self) -> dict[str, Entry]:
        return {entry.key: entry for entry in reversed(self.entries)}


Node: TypeAlias = Scalar | Sequence | Mapping
Location: TypeAlias = AnySequence[str | int]


@dataclass(frozen=True)
class Document:
    """A tree, and what was wrong with its text although a tree could be made."""

    root: Node
    problems: tuple[Problem, ...] = ()


def plain_data(node: Node) -> Any:
    """The tree as dicts, lists, strings and None."""
    if isinstance(node, Mapping):
        return {entry.key: plain_data(entry.value) for entry in node.entries}
    if isinstance(node, Sequence):
        return [plain_data(item) for item in node.items]
    return None if node.is_null else node.text


def place_of(root: Node, location: Location, *, key: bool = False) -> Where:
    """Where the value at a location stands (or its key), or the innermost part of the way there that exists."""
    node, where = root, root.where
    for step in location:
        if isinstance(node, Mapping) and isinstance(step, str):
            entry = node.get(step)
            if entry is None:
                break
            node = entry.value
            missing = isinstance(node, Scalar) and node.is_null
            where = entry.key_where if key or missing or isinstance(node, Mapping) else node.where
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            where = node.where
        else:
            break
    return where


def read_yaml(path: Path, *, environment: AnyMapping[str, str] | None = None) -> Document:
    """The tree of a file, with `${NAME}` expanded in its values. Raises ConfigError where there is no tree to show."""
    return parse_yaml(_read_text(path), str(path), environment=environment)


def parse_yaml(text: str, name: str, *, environment: AnyMapping[str, str] | None = None) -> Document:
    """The tree of a text; `name` is the file that problems point to."""
    root = _compose(text, name)
    if root is None:
        raise ConfigError("the file is empty", where=Where(name), remedy="`lathe init` writes a first version")
    walk = _Walk(name, os.environ if environment is None else environment)
    return Document(walk.convert(root, ()), tuple(walk.problems))


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        remedy = near_files(path) or "correct the path"
        raise ConfigError("there is no such file", where=Where(str(path)), remedy=remedy) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        remedy = "name the file itself, not its folder" if path.is_dir() else ""
        raise ConfigError(f"cannot read the file: {reason}", where=Where(str(path)), remedy=remedy) from None
    if len(data) > MAX_BYTES:
        raise ConfigError(
            "the file is too large", where=Where(str(path)), rule=f"a configuration file has at most {MAX_BYTES} bytes"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise ConfigError(
            f"byte 0x{data[error.start]:02x} is not valid UTF-8",
            where=Where(str(path), line, column),
            remedy="save the file with the encoding UTF-8",
        ) from None


class _Loader(yaml.SafeLoader):
    """Composes nodes without guessing their types, and no deeper than allowed."""

    depth = 0
    name_of_file = ""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        return _NO_TAG

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
                raise ConfigError(_too_deep(Where(self.name_of_file, mark.line + 1, mark.column + 1)))
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _too_deep(where: Where) -> Problem:
    return Problem("lists and mappings are nested too deeply", where, rule=f"at most {MAX_DEPTH} levels")


def _compose(text: str, name: str) -> yaml.Node | None:
    try:
        loader = _Loader(text)
        loader.name_of_file = name
        return loader.get_single_node()
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        where = Where(name, before.count("\n") + 1, error.position - before.rfind("\n"))
        raise ConfigError(
            f"character U+{error.character:04X} is not allowed in YAML", where=where, remedy="remove it"
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Where(name, mark.line + 1, mark.column + 1) if mark else Where(name)
        raise ConfigError(
            f"this is not valid YAML: {' '.join(filter(None, (error.context, error.problem)))}",
            where=where,
            remedy="indent with spaces, not tabs" if "\\t" in str(error.problem) else "",
        ) from None
    except (yaml.YAMLError, ValueError, OverflowError, IndexError, RecursionError) as error:
        # PyYAML passes on what a broken escape or directive makes Python say.
        raise ConfigError(f"this is not valid YAML: {error}", where=Where(name)) from None


def _is_harmful(char: str) -> bool:
    return (ord(char) < 32 and char not in "\n\t") or 0xD800 <= ord(char) < 0xE000


@dataclass
class _Walk:
    """Turns PyYAML's nodes into ours and collects what is wrong with them."""

    name: str
    environment: AnyMapping[str, str]
    problems: list[Problem] = field(default_factory=list)
    count: int = 0

    def convert(self, node: yaml.Node, parents: tuple[int, ...]) -> Node:
        where = self._where(node)
        self.count += 1
        if self.count > MAX_NODES:
            rule = f"at most {MAX_NODES} values, each use of an alias counts"
            raise ConfigError(Problem("the file holds too many values", where, rule=rule))
        if id(node) in parents:
            remedy = "write the value out instead of the alias"
            raise ConfigError(Problem("this alias contains itself", where, remedy=remedy))
        if len(parents) >= MAX_DEPTH:
            raise ConfigError(_too_deep(where))
        if node.tag not in (_NO_TAG, _STRING_TAG):
            self._problem(f"the tag {quoted(node.tag)} is not supported", where, remedy="remove the tag")
        inside = (*parents, id(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, where, inside)
        if isinstance(node, yaml.SequenceNode):
            return Sequence(tuple(self.convert(item, inside) for item in node.value), where)
        assert isinstance(node, yaml.ScalarNode)
        plain = node.style is None and node.tag != _STRING_TAG
        return Scalar(self._checked(self._expand(node.value, where), where), where, plain)

    def _mapping(self, node: yaml.MappingNode, where: Where, inside: tuple[int, ...]) -> Mapping:
        entries: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for key_node, value_node in node.value:
            key_where = self._where(key_node)
            if not isinstance(key_node, yaml.ScalarNode) or (key_node.style is None and key_node.value in _NULLS):
                self._problem(
                    "a key must be a word", key_where, remedy='write `key: value`; quote a key such as "null"'
                )
                continue
            key = self._checked(key_node.value, key_where)
            if key == "<<" and key_node.style is None:
                for entry in self._merge(value_node, inside):
                    merged.setdefault(entry.key, entry)
                continue
            if key in entries:
                first = entries[key].key_where
                what = f"the key {quoted(key)} is given twice; first in line {first.line}"
                self._problem(what, key_where, remedy="remove one of the two lines")
            entries.setdefault(key, Entry(key, key_where, self.convert(value_node, inside)))
        return Mapping((*entries.values(), *(entry for key, entry in merged.items() if key not in entries)), where)

    def _merge(self, node: yaml.Node, inside: tuple[int, ...]) -> tuple[Entry, ...]:
        value = self.convert(node, inside)
        parts = value.items if isinstance(value, Sequence) else (value,)
        if not all(isinstance(part, Mapping) for part in parts):
            self._problem("'<<' needs a mapping or a list of mappings", self._where(node))
        return tuple(entry for part in parts if isinstance(part, Mapping) for entry in part.entries)

    def _checked(self, text: str, where: Where) -> str:
        # A double-quoted escape can make characters that no file system or terminal takes.
        bad = next((char for char in text if not char.isprintable() and _is_harmful(char)), "")
        if bad:
            self._problem(f"character U+{ord(bad):04X} is not allowed here", where, remedy="remove it")
        return text

    def _expand(self, text: str, where: Where) -> str:
        def value_of(match: re.Match[str]) -> str:
            name = match.group(1)
            if name not in self.environment:
                self._problem(
                    f"the environment variable {quoted(name)} is not set", where, remedy=f"set it: export {name}=..."
                )
                return ""
            return self.environment[name]

        return _VARIABLE.sub(value_of, text) if "${" in text else text

    def _where(self, node: yaml.Node) -> Where:
        return Where(self.name, node.start_mark.line + 1, node.start_mark.column + 1)

    def _problem(self, what: str, where: Where, *, remedy: str = "") -> None:
        self.problems.append(Problem(what, where, remedy=remedy))
