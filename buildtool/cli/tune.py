"""`lathe tune`: measures every way of computing each layer, and builds with what is the fastest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    AbisOption,
    ConfigOption,
    DataFormatOption,
    FileArgument,
    GpuOptions,
    GraphFormatOption,
    LibraryOption,
    MaceOption,
    MessagesOption,
    OutputOption,
    StandOptions,
    TrustOption,
    UnverifiedOption,
    deployment_file,
    overrides,
)
from buildtool.cli.output import Output
from buildtool.settings import Options

TRIAL_ROUNDS = 10

BudgetOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--tune-budget",
        min=0.001,
        metavar="SECONDS",
        help="The most time that tuning a model on a GPU takes; what it found is kept, and the next time it goes on.",
    ),
]
TUNE_BUDGET = 300.0


def tune(
    file: FileArgument = None,
    config: ConfigOption = None,
    output: OutputOption = Path("build"),
    target_abis: AbisOption = None,
    library_name: LibraryOption = None,
    model_graph_format: GraphFormatOption = None,
    model_data_format: DataFormatOption = None,
    no_messages: MessagesOption = False,
    mace_compat: MaceOption = False,
    round_: Annotated[
        int, typer.Option("--round", min=1, help="How often each library runs in each of its turns.")
    ] = TRIAL_ROUNDS,
    tune_budget: BudgetOption = TUNE_BUDGET,
    allow_unverified: UnverifiedOption = False,
    trust_model_code: TrustOption = False,
    *,
    stand: StandOptions,
    gpu: GpuOptions,
    out: Output,
) -> None:
    """Measure every way of computing each layer where the library runs, and build with the fastest.

    Kernels of GPUs are tuned, too; what they found is shipped with the library, in the folder opencl.

    The figures stay in report/tuning.json of the build: `lathe build` into the same folder keeps to them for as
    long as nothing changes that it builds from. Remove the file to go back to estimates.
    """
    from buildtool import workflow
    from buildtool.reports import tuning as report

    options = Options(output=output, allow_unverified=allow_unverified, trust_model_code=trust_model_code)
    settings = replace(gpu.settings(stand.settings(out)), rounds=round_)
    replaced = overrides(target_abis, library_name, model_graph_format, model_data_format, no_messages, mace_compat)
    with out.progress() as progress:
        source = deployment_file(file, config)
        result = workflow.tune(source, replaced, options, settings, progress, gpu_seconds=tune_budget)
    document = result.as_json()
    out.document(document, *report.parts(document))


def register(app: typer.Typer) -> None:
    command(app, "tune")(tune)
