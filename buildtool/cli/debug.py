"""`lathe debug`: a model of a library under gdb, here, in an emulator or on a device."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    AbisOption,
    ConfigOption,
    FileArgument,
    LibraryOption,
    ModelOption,
    OutputOption,
    StandOptions,
    TrustOption,
    UnverifiedOption,
    deployment_file,
    overrides,
)
from buildtool.cli.output import Output
from buildtool.cli.run import files_in, named_files
from buildtool.errors import ConfigError
from buildtool.settings import DebugSettings, Options


def debug(
    file: FileArgument = None,
    config: ConfigOption = None,
    output: OutputOption = Path("build"),
    target_abis: AbisOption = None,
    library_name: LibraryOption = None,
    model: ModelOption = None,
    input_: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=FILE", help="Data for an input: .npy, picture, sound, raw numbers."),
    ] = None,
    input_dir: Annotated[
        Path | None,
        typer.Option("--input-dir", metavar="FOLDER", help="Data for the inputs, in files of their names: <name>.npy."),
    ] = None,
    commands: Annotated[
        list[str] | None,
        typer.Option("--ex", metavar="COMMAND", help="What gdb does when the library is loaded; repeatable."),
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help="gdb ends after the commands of --ex.")] = False,
    gdb: Annotated[str, typer.Option("--gdb", metavar="PROGRAM", help="Instead of the gdb that is found.")] = "",
    gdbserver: Annotated[
        Path | None,
        typer.Option("--gdbserver", metavar="FILE", help="A gdbserver to push to a device that has none."),
    ] = None,
    only_print: Annotated[
        bool,
        typer.Option("--print", "--dry-run", help="Build, and print commands to do the rest by hand."),
    ] = False,
    allow_unverified: UnverifiedOption = False,
    trust_model_code: TrustOption = False,
    *,
    stand: StandOptions,
    out: Output,
) -> None:
    """Start a model under gdb where it runs, and stop as soon as its library is loaded.

    The library is built beside the usual one: with the same code, and with lines, types and frames.
    """
    from buildtool import workflow

    if out.json and not only_print:
        raise ConfigError("gdb does not talk JSON", remedy="leave --json out, or give --print")
    if gdbserver is not None and not gdbserver.is_file():
        raise ConfigError(f"--gdbserver cannot be '{gdbserver}': there is no such file")
    options = Options(output=output, allow_unverified=allow_unverified, trust_model_code=trust_model_code)
    inputs = {**files_in(input_dir), **named_files(input_)}
    settings = replace(stand.settings(out), model=model, inputs=inputs)
    wishes = DebugSettings(tuple(commands or ()), batch, gdb, gdbserver)
    with out.progress() as progress:
        session = workflow.debug(
            deployment_file(file, config), overrides(target_abis, library_name), options, settings, wishes, progress
        )
    if only_print:
        lines = session.by_hand()
        return out.document({"commands": lines}, *lines)
    return session.start()


def register(app: typer.Typer) -> None:
    command(app, "debug")(debug)
