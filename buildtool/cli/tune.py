"""`lathe tune`: measures every way of computing each layer, and builds with what is the fastest."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, TypeAlias

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    GpuOptions,
    LibraryOptions,
    StandOptions,
)
from buildtool.cli.output import Output

TRIAL_ROUNDS = 10

BudgetOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--tune-budget",
        min=0.001,
        metavar="SECONDS",
        help="Time limit for tuning a model on a GPU; the next run continues from its results.",
    ),
]
TUNE_BUDGET = 300.0


def tune(
    asked: LibraryOptions,
    round_: Annotated[
        int, typer.Option("--round", min=1, help="Number of runs of each library per turn.")
    ] = TRIAL_ROUNDS,
    tune_budget: BudgetOption = TUNE_BUDGET,
    *,
    stand: StandOptions,
    gpu: GpuOptions,
    out: Output,
) -> None:
    """Measure every kernel for each layer on the device, and build with the fastest.

    Kernels of GPUs are tuned, too; what they found is shipped with the library, in the folder opencl.

    The figures stay in report/tuning.json of the build: `lathe build` into the same folder keeps to them for as
    long as nothing changes that it builds from. Remove the file to go back to estimates.
    """
    from buildtool import workflow
    from buildtool.reports import tuning as report

    settings = replace(gpu.settings(stand.settings(out)), rounds=round_)
    with out.progress() as progress:
        result = workflow.tune(
            asked.source(), asked.overrides(), asked.options(), settings, progress, gpu_seconds=tune_budget
        )
    document = result.as_json()
    out.document(document, *report.parts(document))


def register(app: typer.Typer) -> None:
    command(app, "tune")(tune)
