"""From a tree to pydantic sections, with every refusal turned into a problem with a place.

A part that is refused is taken out of the data and remembered as broken, so that the rules between keys can still be
checked on the rest: all problems of a file come at once, and none of them is a mere consequence of another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from buildtool.errors import Problem
from buildtool.sections.section import names_of
from buildtool.wording import listed, nearest, quoted
from buildtool.yaml_marks import Node, place_of, plain_data

SectionT = TypeVar("SectionT", bound=BaseModel)
Path = tuple[str | int, ...]


_MOST = 500  # problems that are worded


def _no_text(*_: object) -> str:
    return ""


@dataclass(frozen=True)
class Manner:
    """How problems of one kind of file are worded."""

    name: Callable[[Path], str] = lambda path: quoted(path[-1])  # of a key
    title: Callable[[Path], str] = _no_text  # of the part of the file where a key is, before the text
    other_words: Mapping[str, str] = field(default_factory=dict)  # which no spelling distance leads to the right key
    # of an unknown key: the section of the file, the one where it stands, and the word; where it belongs
    belongs: Callable[[type[BaseModel], type[BaseModel] | None, str], str] = _no_text
    entries: str = "it holds entries by name"  # of a mapping whose keys are names
    entry: str = "entry"  # of lists
    all_keys: str = ""  # where all keys are listed
    written: Callable[[type[BaseModel]], str] = _no_text  # of the section of a whole file: how such a file is written


@dataclass(frozen=True)
class Validated(Generic[SectionT]):
    """What could be read of a tree (None if nothing), what was wrong, and where something is missing because of it."""

    section: SectionT | None
    problems: tuple[Problem, ...]
    broken: frozenset[Path]


def validate(section: type[SectionT], tree: Node, manner: Manner) -> Validated[SectionT]:
    """Reads the tree as `section`. Every round takes out what the previous one refused."""
    data = plain_data(tree)
    problems: list[Problem] = []
    broken: set[Path] = set()
    while True:
        try:
            return Validated(section.model_validate(data), tuple(problems), frozenset(broken))
        except ValidationError as refusal:
            before = len(broken)
            errors = refusal.errors(include_url=False)
            for done, error in enumerate(errors):
                if len(problems) >= _MOST:  # to find what each was meant to be takes a millisecond
                    left = f"{len(errors) - done:,} more problems are not listed"
                    problems.append(Problem(left, tree.where, remedy="correct these first"))
                    return Validated(None, tuple(problems), frozenset(broken))
                if not _is_consequence(error, broken):
                    problems.append(_problem(section, tree, error, manner))
                broken.update(_remove(section, data, error, manner))
            if len(broken) == before:
                return Validated(None, tuple(problems), frozenset(broken))


def _is_consequence(error: ErrorDetails, broken: set[Path]) -> bool:
    """Whether something is only missing because an earlier round took it out."""
    location = error["loc"]
    return error["type"] in ("missing", "too_short") and any(path[: len(location)] == location for path in broken)


def _key_path(section: type[BaseModel], location: Path) -> Path:
    """The location of the key that an error belongs to: without the place in a list of values."""
    end = len(location)
    while end and isinstance(location[end - 1], int) and section_at(section, location[:end]) is None:
        end -= 1
    return location[:end]


def section_at(root: type[BaseModel], location: Path) -> type[BaseModel] | None:
    """The class of the section at a location, None where there is a plain value or a container of sections."""
    current: Any = root
    for step in location:
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(str(step))
            current = field.annotation if field else None
        else:
            current = _item_of(current)
        current = _without_none(current)
    return current if isinstance(current, type) and issubclass(current, BaseModel) else None


def _item_of(annotation: Any) -> Any:
    arguments = getattr(annotation, "__args__", ())
    return arguments[-1] if arguments else None


def _without_none(annotation: Any) -> Any:
    arguments = [part for part in getattr(annotation, "__args__", ()) if part is not type(None)]
    has_none = type(None) in getattr(annotation, "__args__", ())
    return arguments[0] if has_none and len(arguments) == 1 else annotation


def _remove(section: type[BaseModel], data: Any, error: ErrorDetails, manner: Manner) -> set[Path]:
    """Takes the refused part out of the data. Returns what is broken now: that part, and the key it was meant to be."""
    location: Path = error["loc"]
    if error["type"] == "missing":
        return set()
    end, holder, current = 0, None, data
    for index, step in enumerate(location):
        if isinstance(current, dict):
            if step not in current:
                return set()  # an earlier error took it out
            # An item of a list goes with the whole list, for the others would move up to places that are not theirs.
            end, holder = index + 1, current
        elif not (isinstance(current, list) and isinstance(step, int)):
            break  # a single value that stands for a list
        current = current[step]
    if holder is None:
        return set()
    path = location[:end]
    del holder[path[-1]]
    owner = section_at(section, path[:-1])
    meant = _meant(str(path[-1]), owner, manner) if owner and error["type"] == "extra_forbidden" else ""
    return {path, (*path[:-1], meant)} if meant else {path}


def _problem(section: type[BaseModel], tree: Node, error: ErrorDetails, manner: Manner) -> Problem:
    path = _key_path(section, error["loc"])
    title = manner.title(path)
    unknown = error["type"] == "extra_forbidden"
    found = _unknown_key(section, tree, error["loc"], manner) if unknown else _refused(section, tree, error, manner)
    return replace(found, what=f"{title}: {found.what}") if title else found


def _refused(section: type[BaseModel], tree: Node, error: ErrorDetails, manner: Manner) -> Problem:
    location: Path = error["loc"]
    kind = error["type"]
    path = _key_path(section, location)
    name = manner.name(path) if path else "the file"
    where = place_of(tree, location)
    if kind == "lathe":
        context = error.get("ctx", {})
        rule, remedy = context["rule"], context["remedy"]
        return Problem(context["what"].replace("{key}", name), where, rule, remedy)
    if kind == "missing":
        return Problem(f"the key {name} is missing", place_of(tree, location[:-1]))
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        inside = section_at(section, location)
        keys = listed(list(inside.model_fields)[:3]) if inside else ""
        rule = f"it contains keys such as {keys}" if keys else manner.entries
        subject = name if path == location else f"an entry of {name}"
        remedy = ""
        if location and isinstance(location[-1], int):
            subject, remedy = f"an entry of {manner.name(location[:-1])}", "write `- key: value`"
        elif inside and location and location[-1] in inside.model_fields:
            remedy = f"indent it below the name of its {manner.entry}"
        elif not location:
            remedy = manner.written(section)
        return Problem(f"{subject} must be a mapping", place_of(tree, location), rule, remedy)
    if kind == "list_type":
        return Problem(f"{name} must be a list", where, remedy="begin each entry of it with `-`")
    if kind == "too_short":
        return Problem(f"{name} is empty", where, remedy=f"describe at least one {manner.entry}")
    return Problem(f"{name}: {error['msg']}", where)


def _meant(word: str, owner: type[BaseModel], manner: Manner) -> str:
    other = manner.other_words.get(word, "")
    names = names_of(owner)
    return other if other in owner.model_fields else names.get(nearest(word, names), "")


def _unknown_key(section: type[BaseModel], tree: Node, location: Path, manner: Manner) -> Problem:
    word, owner = str(location[-1]), section_at(section, location[:-1])
    where = place_of(tree, location, key=True)
    known = owner.model_fields if owner else {}
    meant = _meant(word, owner, manner) if owner else ""
    remedy = (
        f"did you mean '{meant}'?" if meant else f"known keys: {listed(known)}" if len(known) <= 12 else manner.all_keys
    )
    remedy = manner.belongs(section, owner, word) or remedy
    return Problem(f"unknown key {quoted(word)}", where, remedy=remedy)
