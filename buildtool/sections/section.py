"""Mappings with a fixed set of keys, each with what it accepts, means and defaults to.

Here a key that the file does not give is None; the defaults are carried beside the descriptions.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from buildtool.sections import readers
from buildtool.sections.readers import Many

Text = Annotated[str | None, readers.TEXT]
Texts = Annotated[list[str] | None, Many(readers.TEXT)]
Path = Annotated[str | None, readers.PATH]
Paths = Annotated[list[str] | None, Many(readers.PATH)]
Flag = Annotated[int | None, readers.FLAG]
Whole = Annotated[int | None, readers.WHOLE]
Numbers = Annotated[list[int] | None, Many(readers.WHOLE)]
Ignored = Annotated[Any, readers.ANYTHING]


def key(
    description: str,
    *,
    default: Any = None,
    default_words: str = "",
    required: bool = False,
    unsaid: str = "",
    aliases: tuple[str, ...] = (),
) -> Any:
    """A key that may be absent. `default` applies where it is; `default_words` describe one that is no plain value.

    `unsaid`: what it means where the command line names it without a value. `aliases`: other names of the key.
    """
    extra: dict[str, Any] = {} if default is None else {"default": default}
    if default_words:
        extra["x-default"] = default_words
    if required:
        extra["x-required"] = True
    if unsaid:
        extra["x-unsaid"] = unsaid
    if aliases:
        extra["x-aliases"] = list(aliases)
    return Field(default=None, description=description, json_schema_extra=extra)


def dead_key(description: str) -> Any:
    """A key that old files hold and nothing reads any more; it gives a note."""
    return Field(default=None, description=description, json_schema_extra={"deprecated": True})


class Section(BaseModel):
    """A mapping that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def default_of(section: type[BaseModel], name: str) -> Any:
    """The default of a key, None where it has no plain one."""
    extra = section.model_fields[name].json_schema_extra
    return extra.get("default") if isinstance(extra, dict) else None


def is_required(section: type[BaseModel], name: str) -> bool:
    """Whether the key may not be absent."""
    extra = section.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("x-required"))


@functools.cache
def names_of(section: type[BaseModel]) -> Mapping[str, str]:
    """Every name that a key of the section may have, and the name of the key."""
    found = {name: name for name in section.model_fields}
    for name, field in section.model_fields.items():
        extra = field.json_schema_extra
        aliases = extra.get("x-aliases", ()) if isinstance(extra, dict) else ()
        found |= {str(alias): name for alias in (aliases if isinstance(aliases, list) else ())}
    return found


def is_dead(section: type[BaseModel], name: str) -> bool:
    """Whether nothing reads the key any more."""
    extra = section.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("deprecated"))


def unsaid_of(section: type[BaseModel], name: str) -> str:
    """What the key means without a value."""
    extra = section.model_fields[name].json_schema_extra
    return str(extra.get("x-unsaid", "")) if isinstance(extra, dict) else ""


def reader_of(section: type[BaseModel], name: str) -> readers.Reader | Many | None:
    """What reads the value of a key; None for a section inside."""
    for part in section.model_fields[name].metadata:
        if isinstance(part, readers.Reader | Many):
            return part
    return None
