"""`lathe run`: runs the models of a library, here, in an emulator or on a device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from buildtool.cli.bench import ROUNDS, measured, report_benchmark
from buildtool.cli.command import command
from buildtool.cli.inner_tensors import InsideOptions
from buildtool.cli.mace_words import MaceWords
from buildtool.cli.options import (
    BuildOptions,
    DescriptionOptions,
    GpuOptions,
    InputOptions,
    ModelOption,
    StandOptions,
)
from buildtool.cli.output import Output
from buildtool.cli.tune import TRIAL_ROUNDS, TUNE_BUDGET, BudgetOption
from buildtool.cli.validate import ComparisonOptions, report_validation
from buildtool.errors import ConfigError
from buildtool.settings import BenchSettings, Options, Overrides, RunSettings


@dataclass(frozen=True)
class StepOptions:
    """What happens besides a run, or instead of it: the commands of the same names."""

    topic: ClassVar[str] = "Steps beside a run"

    validate: Annotated[bool, typer.Option("--validate", help="Also compare with the source model.")] = False
    tune: Annotated[bool, typer.Option("--tune", help="Tune the layers first, as lathe tune does.")] = False
    tune_budget: BudgetOption = TUNE_BUDGET
    benchmark: Annotated[bool, typer.Option("--benchmark", help="Measure, as lathe bench does.")] = False
    quantize_stat: Annotated[
        bool,
        typer.Option(
            "--quantize-stat",
            help="Print the ranges of all tensors for every sample of --input-dir, for quantize-stat.",
        ),
    ] = False

    def check(self, out: Output) -> None:
        """ConfigError where the steps do not go together."""
        if self.quantize_stat and (self.validate or self.benchmark or out.json):
            raise ConfigError("--quantize-stat prints only a log", remedy="remove --json")
        if self.validate and self.benchmark and out.json:
            raise ConfigError(
                "--validate and --benchmark write two JSON documents", remedy="with --json, give only one of them"
            )


@dataclass(frozen=True)
class WayOptions(InputOptions):
    """How a run goes, what goes in, and where the outputs go."""

    output_dir: Annotated[
        Path | None,
        typer.Option("--output-dir", metavar="FOLDER", help="Write the outputs to this folder: <name>.npy."),
    ] = None
    round_: Annotated[
        int | None,
        typer.Option("--round", min=1, help=f"Number of timed runs. [default: 1; with --benchmark {ROUNDS}]"),
    ] = None
    restart_round: Annotated[
        int,
        typer.Option("--restart-round", min=1, help="Number of times to restart the program and repeat all rounds."),
    ] = 1
    cpu_affinity_policy: Annotated[
        int,
        typer.Option(
            "--cpu-affinity-policy",
            min=0,
            max=4,
            help="Cores: 0 all, 1 big, 2 little, 3 as many of the fastest as threads, 4 of the slowest.",
        ),
    ] = 0
    memory: Annotated[bool, typer.Option("--memory", help="Report the memory use of the run.")] = False
    vlog_level: Annotated[
        int, typer.Option("--vlog-level", min=-1, help="Log to stderr: 1 every step, 2 every node.")
    ] = -1
    debug_mode: Annotated[
        bool,
        typer.Option("--debug-mode", help="Name the node after which the program crashes; implies --vlog-level 2."),
    ] = False

    def settings(self, settings: RunSettings) -> RunSettings:
        """The settings with them."""
        return replace(
            settings,
            inputs=self.files(),
            output_folder=self.output_dir,
            rounds=self.round_ or 1,
            restarts=self.restart_round,
            affinity=self.cpu_affinity_policy,
            trace=max(self.vlog_level, 2 if self.debug_mode else 0, 0),
        )


def _log_ranges(
    source: Path, replaced: Overrides, options: Options, settings: RunSettings, folder: Path | None, out: Output
) -> None:
    """The log that MACE's tools call range_log, on stdout."""
    from buildtool import workflow

    with out.progress() as progress:
        workflow.log_ranges(source, out.show, folder, replaced, options, settings, progress)


def _run_kmodel(file: Path, settings: RunSettings, ways: WayOptions, inside: InsideOptions, out: Output) -> None:
    """A file for the K210, simulated."""
    from buildtool.reports import run as report
    from buildtool.workflow import kmodels

    if inside.compare is not None or inside.trap_nan or ways.memory:
        raise ConfigError(
            "--compare, --trap-nan and --memory are for libraries", remedy="write the layers of a kmodel: --dump FOLDER"
        )
    document = kmodels.run(file, settings).as_json()
    if inside.dump is not None:
        out.say(f"wrote {kmodels.dump(file, settings, inside.dump)}")
    out.document(document, *report.parts(document))


def run(
    asked: BuildOptions,
    model: ModelOption = None,
    *,
    described: DescriptionOptions,
    steps: StepOptions,
    ways: WayOptions,
    stand: StandOptions,
    gpu: GpuOptions,
    comparison: ComparisonOptions,
    inside: InsideOptions,
    mace: MaceWords,
    out: Output,
) -> None:
    """Run the models of a library: on this machine, in an emulator, or on a device. Builds what is missing.

    Inputs without data get random numbers inside the declared input_ranges.
    """
    from buildtool import workflow
    from buildtool.reports import run as report

    steps.check(out)
    mace.tell(out)
    source, options = asked.source(), asked.options()
    samples = ways.input_dir if steps.quantize_stat else None
    ways = replace(ways, input_dir=None) if samples else ways  # its files are no inputs of one run
    settings = replace(ways.settings(gpu.settings(stand.settings(out))), model=model)
    replaced = described.beside(asked.overrides())
    if steps.quantize_stat:
        _log_ranges(source, replaced, options, settings, samples, out)
        return
    if steps.tune:
        with out.progress() as progress:
            trials = replace(settings, rounds=max(settings.rounds, TRIAL_ROUNDS))
            workflow.tune(source, replaced, options, trials, progress, gpu_seconds=steps.tune_budget)
    if steps.validate:
        report_validation(source, replaced, options, settings, comparison, out)
    if steps.benchmark:
        report_benchmark(source, replaced, options, measured(settings, ways.round_), BenchSettings(), out)
    if steps.validate or steps.benchmark:
        return
    if source.suffix.lower() == ".kmodel" and source.is_file():
        _run_kmodel(source, settings, ways, inside, out)
        return
    with out.progress() as progress:
        result = workflow.run(source, replaced, options, settings, progress)
        inside.look(source, replaced, options, settings, progress, out)
    document = result.as_json()
    for line in (line for run in document["runs"] for line in run.get("log", ())):
        out.say(line)
    out.document(document, *report.parts(document, memory=ways.memory))


def register(app: typer.Typer) -> None:
    command(app, "run")(run)
