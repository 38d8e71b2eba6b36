"""`lathe bench`: measures the models of a library where they run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    GpuOptions,
    LibraryOptions,
    ModelOption,
    StandOptions,
)
from buildtool.cli.output import Output
from buildtool.errors import ConfigError
from buildtool.settings import BenchSettings, Options, Overrides, RunSettings

ROUNDS = 100
WARMUP = 10


def peak_figures(word: str) -> tuple[float, float]:
    """`GMACS,GBS` as two numbers; zeros of the empty word."""
    if not word:
        return 0.0, 0.0
    try:
        macs, gigabytes = (float(part) for part in word.split(","))
        if not (0 < macs < 1e9 and 0 < gigabytes < 1e9):
            raise ValueError
    except ValueError as problem:
        raise ConfigError(
            f"--peak cannot be '{word}'", rule="--peak GMACS,GBS: two positive numbers, such as 58.5,18"
        ) from problem
    return macs, gigabytes


@dataclass(frozen=True)
class ChipOptions:
    """What is said of a chip that is simulated."""

    topic: ClassVar[str] = "Simulated chips"

    power: Annotated[
        str,
        typer.Option(
            "--power",
            metavar="WATTS[,EACH]",
            help="Power of a simulated chip: of its accelerator, and of each active processor.",
        ),
    ] = ""


def watts(word: str) -> tuple[float, float] | None:
    """`WATTS` or `WATTS,EACH` as two numbers."""
    if not word:
        return None
    try:
        always, each = (float(part) for part in (word if "," in word else f"{word},0").split(","))
        if not (0 <= always < 1e3 and 0 <= each < 1e3):
            raise ValueError
    except ValueError as problem:
        raise ConfigError(
            f"--power cannot be '{word}'", rule="--power WATTS or WATTS,EACH: numbers of watts, such as 0.02,0.0005"
        ) from problem
    return always, each


def measured(settings: RunSettings, rounds: int | None) -> RunSettings:
    """The settings of a run with as many rounds as a benchmark takes, unless the user says how many."""
    return replace(settings, rounds=rounds or ROUNDS, warmup=WARMUP)


def report_benchmark(
    file: Path, replaced: Overrides, options: Options, settings: RunSettings, wishes: BenchSettings, out: Output
) -> None:
    """Measure, and show the result."""
    from buildtool import workflow
    from buildtool.reports import benchmark as report

    with out.progress() as progress:
        document = workflow.bench(file, replaced, options, settings, wishes, progress).as_json()
    out.document(document, *report.parts(document))


def bench(
    asked: LibraryOptions,
    model: ModelOption = None,
    round_: Annotated[int, typer.Option("--round", min=1, help="Number of timed runs.")] = ROUNDS,
    warmup: Annotated[int, typer.Option("--warmup", min=0, help="Number of warm-up runs.")] = WARMUP,
    filter_: Annotated[
        str,
        typer.Option(
            "--filter",
            metavar="REGEX",
            help="Single operators of the model, each alone: those whose <operator>/<sizes>/<kernel> has a part that"
            " matches; . for all.",
        ),
    ] = "",
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="FILE", help="Compare with an earlier result (output of --json)."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="FOLDER|FILE",
            help="Compare with another library in alternating runs: a build folder or a deployment file.",
        ),
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="Number of alternating rounds of --against.")] = 10,
    peak: Annotated[
        str,
        typer.Option("--peak", metavar="GMACS,GBS", help="Peak performance of the processor, instead of measuring it."),
    ] = "",
    trace: Annotated[
        Path | None, typer.Option("--trace", metavar="FILE", help="Also write a trace for Perfetto.")
    ] = None,
    *,
    chip: ChipOptions,
    stand: StandOptions,
    gpu: GpuOptions,
    out: Output,
) -> None:
    """Measure the models of a library: time, spread, every node, and how near it comes to the machine's peak.

    In an emulator instructions are counted instead; of a chip that is simulated cycles are computed. The result is kept
    in report/benchmark.json of the build, and its charts in report/index.html.
    """
    settings = replace(gpu.settings(stand.settings(out)), model=model, rounds=round_, warmup=warmup)
    wishes = BenchSettings(compare, against, pairs, filter_, peak_figures(peak), trace, watts(chip.power))
    report_benchmark(asked.source(), asked.overrides(), asked.options(), settings, wishes, out)


def register(app: typer.Typer) -> None:
    command(app, "bench")(bench)
