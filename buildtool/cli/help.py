"""How a command shows its options: by topic where there are many, and in the words of users rather than of types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from typer.core import TyperCommand

GENERAL = "Output of the command"
_MANY = 20  # options: from here on they are grouped
_TYPE = re.compile(r" <[\w \[\]]+>$")  # typer adds it to arguments
_BRACES = re.compile(r"^\{([A-Z_]+)(?:\.\.\.)?\}")  # and these to those that are required
_VALUES = {"int": "N", "float": "NUMBER", "str": "WORD", "Path": "FILE"}


class HelpfulCommand(TyperCommand):
    """A command whose options have topics."""

    topics: ClassVar[Mapping[str, str]] = {}  # by the name of the parameter

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [_BRACES.sub(r"\1", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then options in the order of their topics."""
        arguments: list[tuple[str, str]] = []
        groups: dict[str, list[tuple[str, str]]] = {}
        parameters = self.get_params(ctx)
        topics = self.topics if len(parameters) > _MANY else {}
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                arguments.append((_TYPE.sub("", record[0]), record[1]))
            else:
                usual = GENERAL if topics and parameter.name == "help" else "Options"
                groups.setdefault(topics.get(parameter.name or "", usual), []).append(record)
        for title, records in (("Arguments", arguments), *groups.items()):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def with_topics(topics: Mapping[str, str]) -> type[HelpfulCommand]:
    """A class of commands whose parameters have these topics."""
    return type("Command", (HelpfulCommand,), {"topics": dict(topics)})


def name_value(annotation: Any) -> None:
    """Give an option that takes a value, and says nothing about it, a word for it instead of its type's name."""
    inner = str(getattr(annotation, "__origin__", annotation))
    for info in getattr(annotation, "__metadata__", ()):
        word = next((word for kind, word in _VALUES.items() if re.search(rf"\b{kind}\b", inner)), "")
        if word and hasattr(info, "metavar") and info.metavar is None and not getattr(info, "count", False):
            info.metavar = word
