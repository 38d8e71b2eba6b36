"""`lathe debug`: a model of a library under gdb, here, in an emulator or on a device."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    DeploymentOptions,
    InputOptions,
    ModelOption,
    StandOptions,
)
from buildtool.cli.output import Output
from buildtool.errors import ConfigError
from buildtool.settings import DebugSettings


def debug(
    asked: DeploymentOptions,
    model: ModelOption = None,
    commands: Annotated[
        list[str] | None,
        typer.Option("--ex", metavar="COMMAND", help="gdb command to run once the library is loaded; repeatable."),
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help="Exit gdb after the commands of --ex.")] = False,
    gdb: Annotated[str, typer.Option("--gdb", metavar="PROGRAM", help="gdb to use.")] = "",
    gdbserver: Annotated[
        Path | None,
        typer.Option("--gdbserver", metavar="FILE", help="gdbserver to copy to a device that has none."),
    ] = None,
    only_print: Annotated[
        bool,
        typer.Option("--print", "--dry-run", help="Build, and print the commands for the remaining steps."),
    ] = False,
    *,
    given: InputOptions,
    stand: StandOptions,
    out: Output,
) -> None:
    """Start a model under gdb where it runs, and stop as soon as its library is loaded.

    The library is built beside the usual one: with the same code, and with lines, types and frames.
    """
    from buildtool import workflow

    if out.json and not only_print:
        raise ConfigError("gdb has no JSON output", remedy="remove --json, or add --print")
    if gdbserver is not None and not gdbserver.is_file():
        raise ConfigError(f"--gdbserver cannot be '{gdbserver}': there is no such file")
    settings = replace(stand.settings(out), model=model, inputs=given.files())
    wishes = DebugSettings(tuple(commands or ()), batch, gdb, gdbserver)
    with out.progress() as progress:
        session = workflow.debug(asked.source(), asked.overrides(), asked.options(), settings, wishes, progress)
    if only_print:
        lines = session.by_hand()
        return out.document({"commands": lines}, *lines)
    return session.start()


def register(app: typer.Typer) -> None:
    command(app, "debug")(debug)
