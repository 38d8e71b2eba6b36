"""`lathe quantize`: finds the ranges that the tensors of a model have on samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    ConfigOption,
    FileArgument,
    ModelOption,
    OpPathOption,
    UnverifiedOption,
    deployment_file,
    overrides,
)
from buildtool.cli.output import Output
from buildtool.settings import Budget, CalibrationSettings, Labour, Options, RunSettings

_ACCURACY = "accuracy"
ESTIMATORS = ("min-max", "percentile", "enhance", "kl", "mse", "moving-average")


@dataclass(frozen=True)
class SampleOptions:
    """What the model sees, and who runs it."""

    inputs: Annotated[
        Path | None,
        typer.Option(
            "--inputs",
            metavar="PATH",
            help="The samples: a folder of .npy, .npz, pictures or sounds; such a file; or a script with samples().",
        ),
    ] = None
    samples: Annotated[int | None, typer.Option("--samples", min=1, help="Only so many, the first ones.")] = None
    workers: Annotated[int, typer.Option("--workers", min=1, help="How many processes share the samples.")] = 1
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew instead of where the last run was ended.")] = False
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was ended: done without asking.")] = False

    def given(self) -> Path:
        """Where the samples are; ConfigError where nothing says it, or options contradict each other."""
        from buildtool.errors import ConfigError

        if self.inputs is None:
            raise ConfigError("no samples are given", remedy="--inputs FOLDER, or a script that makes them")
        if self.fresh and self.resume:
            raise ConfigError("--fresh and --resume contradict each other", remedy="leave out one of them")
        return self.inputs


@dataclass(frozen=True)
class EstimatorOptions:
    """How a range follows from what was seen."""

    estimator: Annotated[
        str, typer.Option("--estimator", metavar="|".join(ESTIMATORS), help="How a range follows from the samples.")
    ] = "min-max"
    percentile: Annotated[
        float | None,
        typer.Option(
            "--percentile",
            metavar="PERCENT",
            help="percentile: of the numbers that lie outside on each side (0.01); enhance: of the samples (0).",
        ),
    ] = None
    enhance_ratio: Annotated[
        float, typer.Option("--enhance-ratio", metavar="N", help="enhance: larger leaves more extremes inside.")
    ] = 10.0
    momentum: Annotated[
        float, typer.Option("--momentum", min=0, max=1, help="moving-average: share of the mean that stays.")
    ] = 0.9
    bits: Annotated[int, typer.Option("--bits", min=2, max=16, help="kl and mse: what tensors are stored in.")] = 8


@dataclass(frozen=True)
class SensitivityOptions:
    """Which layers bear it."""

    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Measure as well what storing each layer alone costs at the outputs.")
    ] = False
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="DB|accuracy=POINTS",
            help="Propose layers to keep in single precision: until the outputs have this ratio of signal to noise in "
            "decibels, or until the accuracy script loses at most so many hundredths.",
        ),
    ] = None

    def given(self) -> Budget:
        """ConfigError where it is no number, or nothing is measured."""
        from buildtool.errors import ConfigError

        if self.budget is None:
            return Budget()
        if not self.sensitivity:
            raise ConfigError("--budget goes with --sensitivity", remedy="add --sensitivity")
        kind, equals, number = self.budget.rpartition("=")
        try:
            amount = float(number)
        except ValueError:
            amount = math.nan
        if not math.isfinite(amount) or kind not in ("", _ACCURACY) or bool(kind) != bool(equals) or amount < 0:
            raise ConfigError(
                f"--budget cannot be '{self.budget}'",
                rule=f"decibels, as in 25, or {_ACCURACY}=POINTS, as in {_ACCURACY}=0.5; not less than 0",
            )
        return Budget(points=amount) if kind else Budget(decibels=amount)


def quantize(
    file: FileArgument = None,
    config: ConfigOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The range file. Without it: the one that the deployment names, or <model>.ranges beside it.",
        ),
    ] = None,
    model: ModelOption = None,
    build_folder: Annotated[
        Path, typer.Option("--build-folder", metavar="FOLDER", help="calibration/<library>/ in it is looked into.")
    ] = Path("build"),
    allow_unverified: UnverifiedOption = False,
    op_path: OpPathOption = None,
    *,
    given: SampleOptions,
    estimator: EstimatorOptions,
    layers: SensitivityOptions,
    out: Output,
) -> None:
    """Find the ranges of a model's tensors on samples, and write them for quantize_range_file.

    Runs the model on this machine in single precision, and builds a library of its own for that.
    """
    from buildtool import workflow
    from buildtool.reports import quantisation as report
    from buildtool.reports import sensitivity as sensitivity_report

    source, budget = deployment_file(file, config), layers.given()
    calibration = CalibrationSettings(
        inputs=given.given(),
        samples=given.samples,
        estimator=estimator.estimator,
        bits=estimator.bits,
        percentile=estimator.percentile,
        ratio=estimator.enhance_ratio,
        momentum=estimator.momentum,
        output=output,
    )
    options = Options(output=build_folder, allow_unverified=allow_unverified)
    labour = Labour(given.workers, fresh=given.fresh)
    replaced, settings = overrides(op_paths=op_path), RunSettings(model=model)
    if layers.sensitivity:
        with out.progress() as progress:
            measured = workflow.sensitivity(
                source, calibration, budget, replaced, options, settings, progress, labour
            ).as_json()
        out.document(measured, *sensitivity_report.parts(measured))
        return
    with out.progress() as progress:
        found = workflow.quantize(source, calibration, replaced, options, settings, progress, labour)
    document = found.as_json()
    out.document(document, *report.parts(document))


def register(app: typer.Typer) -> None:
    command(app, "quantize")(quantize)
