"""From a tree to pydantic sections, with every refusal turned into a problem with a place.

A part that is refused is taken out of the data and remembered as broken, so that the rules between keys can still be
checked on the rest: all problems of a file come at once, and none of them is a mere consequence of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from buildtool.config.models import sections
from buildtool.errors import Problem
from buildtool.wording import listed, nearest, quoted
from buildtool.yaml_marks import Node, place_of, plain_data

SectionT = TypeVar("SectionT", bound=BaseModel)
Path = tuple[str | int, ...]

# Words of other tools and of good sense that no spelling distance leads to the right key.
_OTHER_WORDS = {
    "abis": "target_abis",
    "file": "model_file_path",
    "path": "model_file_path",
    "model_path": "model_file_path",
    "framework": "platform",
    "name": "library_name",
    "precision": "data_type",
    "sha256": "model_sha256_checksum",
    "inputs": "input_tensors",
    "outputs": "output_tensors",
    "device": "runtime",
}


@dataclass(frozen=True)
class Validated(Generic[SectionT]):
    """What could be read of a tree (None if nothing), what was wrong, and where something is missing because of it."""

    section: SectionT | None
    problems: tuple[Problem, ...]
    broken: frozenset[Path]


def validate(section: type[SectionT], tree: Node) -> Validated[SectionT]:
    """Reads the tree as `section`. Every round takes out what the previous one refused."""
    data = plain_data(tree)
    problems: list[Problem] = []
    broken: set[Path] = set()
    while True:
        try:
            return Validated(section.model_validate(data), tuple(problems), frozenset(broken))
        except ValidationError as refusal:
            before = len(broken)
            for error in refusal.errors(include_url=False):
                if not _is_consequence(error, broken):
                    problems.append(_problem(section, tree, error))
                broken.update(_remove(section, data, error))
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


def _remove(section: type[BaseModel], data: Any, error: ErrorDetails) -> set[Path]:
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
    meant = _meant(str(path[-1]), owner) if owner and error["type"] == "extra_forbidden" else ""
    return {path, (*path[:-1], meant)} if meant else {path}


def _problem(section: type[BaseModel], tree: Node, error: ErrorDetails) -> Problem:
    location: Path = error["loc"]
    kind = error["type"]
    if kind == "extra_forbidden":
        return _unknown_key(section, tree, location)
    path = _key_path(section, location)
    name = quoted(path[-1]) if path else "the file"
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
        rule = f"it contains keys such as {keys}" if keys else "it contains the models by name"
        subject = "the file" if not location else name if path == location else f"an entry of {name}"
        return Problem(f"{subject} must be a mapping", place_of(tree, location), rule)
    if kind == "list_type":
        return Problem(f"{name} must be a list", where)
    if kind == "too_short":
        return Problem(f"{name} is empty", where, remedy="describe at least one model")
    return Problem(f"{name}: {error['msg']}", where)


def _meant(word: str, owner: type[BaseModel]) -> str:
    other = _OTHER_WORDS.get(word, "")
    return other if other in owner.model_fields else nearest(word, owner.model_fields)


def _unknown_key(section: type[BaseModel], tree: Node, location: Path) -> Problem:
    word, owner = str(location[-1]), section_at(section, location[:-1])
    where = place_of(tree, location, key=True)
    known = owner.model_fields if owner else {}
    meant = _meant(word, owner) if owner else ""
    remedy = (
        f"did you mean '{meant}'?"
        if meant
        else f"known keys: {listed(known)}"
        if len(known) <= 12
        else "`lathe schema` lists all keys"
    )
    model = sections().model.model_fields
    if owner is section and word in model and section is sections().deployment:
        remedy = f"'{word}' belongs to a model, under 'models'"
    elif owner in (sections().model, sections().subgraph) and word in section.model_fields:
        remedy = f"'{word}' belongs to the top level of the file"
    elif owner is sections().subgraph and word in model:
        remedy = f"'{word}' belongs to the model"
    return Problem(f"unknown key {quoted(word)}", where, remedy=remedy)
