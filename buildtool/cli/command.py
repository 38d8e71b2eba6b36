"""Registers a function as a command and gives it the options that every command has."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from buildtool.cli.help import GENERAL, name_value, with_topics
from buildtool.cli.output import DEBUG, QUIET, VERBOSE, Output

Function = TypeVar("Function", bound=Callable[..., None])

_COMMON: dict[str, Any] = {
    "as_json": Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")],
    "verbose": Annotated[int, typer.Option("--verbose", "-v", count=True, help="Say more; twice for everything.")],
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")],
}
_DEFAULTS: dict[str, Any] = {"as_json": False, "verbose": 0, "quiet": False}


def command(app: typer.Typer, name: str | None = None) -> Callable[[Function], Function]:
    """A decorator for `def <command>(..., out: Output) -> None`; the docstring is the help text.

    The parameter `out` is not an option: it is made from --json, --verbose and --quiet, which are added here. A
    parameter whose type is a dataclass stands for the options that are its fields, and gets them as one. Its `topic` is
    the heading of these options in the help of commands with many.
    """

    def register(function: Function) -> Function:
        signature = inspect.signature(function, eval_str=True)
        groups: dict[str, type[Any]] = {
            parameter.name: parameter.annotation
            for parameter in signature.parameters.values()
            if parameter.name != "out" and _is_group(parameter.annotation)
        }
        own = [
            option
            for parameter in signature.parameters.values()
            if parameter.name != "out"
            for option in (_fields(groups[parameter.name]) if parameter.name in groups else [parameter])
        ]
        common = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[key], annotation=annotation)
            for key, annotation in _COMMON.items()
        ]

        @functools.wraps(function)
        def run(*, as_json: bool, verbose: int, quiet: bool, **arguments: Any) -> None:
            out = Output(json=as_json, verbosity=QUIET if quiet else min(verbose * VERBOSE, DEBUG))
            out.start_logging()
            made = {
                name: group(**{field.name: arguments.pop(field.name) for field in dataclasses.fields(group)})
                for name, group in groups.items()
            }
            function(**arguments, **made, out=out)

        # The command line is made from what the wrapper says of itself, not from what it wraps.
        del run.__dict__["__wrapped__"]
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own] + common
        run.__dict__["__signature__"] = signature.replace(parameters=parameters)
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        for parameter in parameters:
            name_value(parameter.annotation)
        topics = dict.fromkeys(_COMMON, GENERAL) | {
            field.name: getattr(group, "topic", "Options") for group in groups.values() for field in _fields(group)
        }
        app.command(
            name, cls=with_topics(topics), short_help=inspect.cleandoc(function.__doc__ or "").partition("\n")[0]
        )(run)
        return function

    return register


def _is_group(annotation: Any) -> bool:
    return dataclasses.is_dataclass(annotation)


def _fields(group: type[Any]) -> list[inspect.Parameter]:
    """The options of a group: its fields, in the order in which they stand there."""
    return list(inspect.signature(group, eval_str=True).parameters.values())
