"""`lathe quantize`: finds the ranges that the tensors of a model have on samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from buildtool.cli.command import command
from buildtool.cli.options import (
    ConfigOption,
    FileArgument,
    ModelOption,
    OpPathOption,
    TrustOption,
    UnverifiedOption,
    deployment_file,
)
from buildtool.cli.output import Output
from buildtool.cli.quantize_checkpoint import SchemeOptions, quantize_checkpoint
from buildtool.settings import Budget, CalibrationSettings, Corrections, Labour, Options, Overrides, RunSettings

_ACCURACY = "accuracy"
ROUNDINGS = ("nearest", "adaptive")
ESTIMATORS = ("min-max", "percentile", "enhance", "kl", "mse", "moving-average")


@dataclass(frozen=True)
class SampleOptions:
    """What the model sees, and who runs it."""

    inputs: Annotated[
        Path | None,
        typer.Option(
            "--inputs",
            metavar="PATH",
            help="Samples: a folder of .npy, .npz, images or audio; one such file; or a script with samples().",
        ),
    ] = None
    samples: Annotated[int | None, typer.Option("--samples", min=1, help="Use only the first N samples.")] = None
    workers: Annotated[int, typer.Option("--workers", min=1, help="Number of worker processes.")] = 1
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over instead of resuming the last run.")] = False
    resume: Annotated[bool, typer.Option("--resume", help="Resume the last run (the default).")] = False

    def given(self) -> Path:
        """Where the samples are; ConfigError where nothing says it, or options contradict each other."""
        from buildtool.errors import ConfigError

        if self.inputs is None:
            raise ConfigError("--inputs is missing", remedy="--inputs FOLDER, or a script that makes them")
        if self.fresh and self.resume:
            raise ConfigError("--fresh and --resume contradict each other", remedy="leave out one of them")
        return self.inputs


@dataclass(frozen=True)
class EstimatorOptions:
    """How a range follows from what was seen."""

    estimator: Annotated[
        str,
        typer.Option("--estimator", metavar="|".join(ESTIMATORS), help="Method that derives a range from the samples."),
    ] = "min-max"
    percentile: Annotated[
        float | None,
        typer.Option(
            "--percentile",
            metavar="PERCENT",
            help="percentile: share of values outside on each side (0.01); enhance: share of samples (0).",
        ),
    ] = None
    enhance_ratio: Annotated[
        float, typer.Option("--enhance-ratio", metavar="N", help="enhance: larger values keep more outliers.")
    ] = 10.0
    momentum: Annotated[
        float, typer.Option("--momentum", min=0, max=1, help="moving-average: weight of the previous mean.")
    ] = 0.9
    bits: Annotated[int, typer.Option("--bits", min=2, max=16, help="kl and mse: bits of the stored tensors.")] = 8


@dataclass(frozen=True)
class CorrectionOptions:
    """What is changed in weights and biases before they are stored."""

    bias_correction: Annotated[
        bool, typer.Option("--bias-correction", help="Correct biases for the mean shift that rounding causes.")
    ] = False
    rounding: Annotated[
        str,
        typer.Option(
            "--rounding",
            metavar="|".join(ROUNDINGS),
            help="adaptive: round the weights of a layer together, so that its results change least.",
        ),
    ] = ROUNDINGS[0]
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            metavar="FILE",
            help="Output file for quantize_weights_file. Default: the file that the deployment names, or one "
            "beside the ranges.",
        ),
    ] = None

    def given(self) -> Corrections:
        """ConfigError where there is no such rounding."""
        from buildtool.errors import ConfigError

        if self.rounding not in ROUNDINGS:
            raise ConfigError(f"--rounding cannot be '{self.rounding}'", rule=f"allowed: {', '.join(ROUNDINGS)}")
        return Corrections(self.bias_correction, self.rounding != ROUNDINGS[0], self.weights)


@dataclass(frozen=True)
class SensitivityOptions:
    """Which layers bear it."""

    sensitivity: Annotated[
        bool,
        typer.Option("--sensitivity", help="Also measure the error at the outputs of quantising each layer alone."),
    ] = False
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="DB|accuracy=POINTS",
            help="Propose layers to keep in single precision until the outputs reach this signal-to-noise ratio in "
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
            help="The range file. Default: the one that the deployment names, or <model>.ranges beside it.",
        ),
    ] = None,
    model: ModelOption = None,
    build_folder: Annotated[
        Path, typer.Option("--build-folder", metavar="FOLDER", help="Folder that holds calibration/<library>/.")
    ] = Path("build"),
    allow_unverified: UnverifiedOption = False,
    trust_model_code: TrustOption = False,
    op_path: OpPathOption = None,
    *,
    given: SampleOptions,
    estimator: EstimatorOptions,
    weights: CorrectionOptions,
    layers: SensitivityOptions,
    scheme: SchemeOptions,
    out: Output,
) -> None:
    """Measure the tensor ranges of a model on samples, and write them for quantize_range_file.

    Runs the model on this machine in single precision, and builds a library of its own for that.
    With --scheme: turn the weights of a checkpoint into whole numbers; nothing runs.
    """
    if scheme.scheme is not None:
        quantize_checkpoint(file, output, scheme, out)
        return
    source = deployment_file(file, config)
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
    asked = _Asked(
        source,
        calibration,
        weights.given(),
        layers.given() if layers.sensitivity or layers.budget else None,
        Overrides(op_paths=tuple(op_path or ())),
        Options(output=build_folder, allow_unverified=allow_unverified, trust_model_code=trust_model_code),
        RunSettings(model=model),
        Labour(given.workers, fresh=given.fresh),
    )
    _answer(asked, out)


@dataclass(frozen=True)
class _Asked:
    """What all options together say."""

    source: Path
    calibration: CalibrationSettings
    corrections: Corrections
    budget: Budget | None  # None: no layer is measured
    replaced: Overrides
    options: Options
    settings: RunSettings
    labour: Labour


def _answer(asked: _Asked, out: Output) -> None:
    """Finds the ranges; then changes weights, and then measures layers, where that is asked for."""
    from buildtool import workflow
    from buildtool.reports import corrections, quantisation, sensitivity

    common = (asked.replaced, asked.options, asked.settings)
    with out.progress() as progress:
        ranges = workflow.quantize(asked.source, asked.calibration, *common, progress, asked.labour)
        document: dict[str, Any] = ranges.as_json()
        parts = quantisation.parts(document)
        weights: Path | None = None
        if asked.corrections.wanted:
            changed = workflow.correct(asked.source, ranges, asked.calibration, asked.corrections, *common, progress)
            weights = changed.file
            document["corrections"] = changed.as_json()
            parts.append(corrections.words(document["corrections"]))
        if asked.budget is not None:
            measured = workflow.sensitivity(
                asked.source, ranges, asked.calibration, asked.budget, weights, *common, progress
            )
            document["sensitivity"] = measured.as_json()
            parts += sensitivity.parts(document["sensitivity"])
    out.document(document, *parts)


def register(app: typer.Typer) -> None:
    command(app, "quantize")(quantize)
