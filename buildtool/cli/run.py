"""`lathe run`: runs the models of a library, here or in an emulator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    AbisOption,
    ConfigOption,
    DataFormatOption,
    FileArgument,
    GraphFormatOption,
    LibraryOption,
    MaceOption,
    MessagesOption,
    ModelOption,
    OutputOption,
    UnverifiedOption,
    deployment_file,
    overrides,
)
from buildtool.cli.output import Output
from buildtool.cli.tune import TRIAL_ROUNDS
from buildtool.cli.validate import CpuOption, ThreadsOption, TimeoutOption, report_validation
from buildtool.errors import ConfigError
from buildtool.settings import Options, RunSettings


def named_files(words: list[str] | None) -> dict[str, Path]:
    """`name=file` by name."""
    files: dict[str, Path] = {}
    for word in words or ():
        name, equals, file = word.partition("=")
        if not equals or not name or not file:
            raise ConfigError(f"--input cannot be '{word}'", rule="--input NAME=FILE.npy")
        files[name] = Path(file)
    return files


def files_in(folder: Path | None) -> dict[str, Path]:
    """The .npy files of a folder by the name of their tensor."""
    if folder is None:
        return {}
    files = {file.stem: file for file in sorted(folder.glob("*.npy"))}
    if not files:
        raise ConfigError(f"no .npy file stands in {folder}", rule="--input-dir FOLDER holds <input>.npy files")
    return files


def run(
    file: FileArgument = None,
    config: ConfigOption = None,
    output: OutputOption = Path("build"),
    target_abis: AbisOption = None,
    library_name: LibraryOption = None,
    model_graph_format: GraphFormatOption = None,
    model_data_format: DataFormatOption = None,
    no_messages: MessagesOption = False,
    mace_compat: MaceOption = False,
    model: ModelOption = None,
    input_: Annotated[
        list[str] | None, typer.Option("--input", metavar="NAME=FILE", help="Data for an input: .npy, or raw numbers.")
    ] = None,
    input_dir: Annotated[
        Path | None, typer.Option("--input-dir", metavar="FOLDER", help="Data for the inputs: <name>.npy files.")
    ] = None,
    output_dir: Annotated[
        Path | None, typer.Option("--output-dir", metavar="FOLDER", help="Write the outputs there: <name>.npy files.")
    ] = None,
    round_: Annotated[int, typer.Option("--round", min=1, help="How often to run, for the time it takes.")] = 1,
    num_threads: ThreadsOption = -1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random inputs.")] = 0,
    cpu: CpuOption = "",
    timeout: TimeoutOption = 600.0,
    validate: Annotated[bool, typer.Option("--validate", help="Compare with the source model, too.")] = False,
    tune: Annotated[bool, typer.Option("--tune", help="First find the fastest way of computing each layer.")] = False,
    allow_unverified: UnverifiedOption = False,
    *,
    out: Output,
) -> None:
    """Run the models of a library: on this machine, and for ARM in an emulator. Builds what is not built yet.

    Inputs without data get random numbers inside the declared input_ranges.
    """
    from buildtool import workflow
    from buildtool.reports import run as report

    source, options = deployment_file(file, config), Options(output=output, allow_unverified=allow_unverified)
    settings = RunSettings(
        model=model,
        inputs={**files_in(input_dir), **named_files(input_)},
        output_folder=output_dir,
        rounds=round_,
        threads=num_threads,
        seed=seed,
        cpu=cpu,
        timeout=timeout,
    )
    replaced = overrides(target_abis, library_name, model_graph_format, model_data_format, no_messages, mace_compat)
    if tune:
        with out.progress() as progress:
            workflow.tune(source, replaced, options, replace(settings, rounds=max(round_, TRIAL_ROUNDS)), progress)
    if validate:
        report_validation(source, replaced, options, settings, out)
        return
    with out.progress() as progress:
        result = workflow.run(source, replaced, options, settings, progress)
    document = result.as_json()
    out.document(document, *report.parts(document))


def register(app: typer.Typer) -> None:
    command(app, "run")(run)
