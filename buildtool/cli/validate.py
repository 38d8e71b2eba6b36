"""`lathe validate`: compares a library with its source models, on every ABI and in every form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeAlias

import typer

from buildtool.cli.command import command
from buildtool.cli.inner_tensors import nodes_of
from buildtool.cli.options import (
    BuildOptions,
    DescriptionOptions,
    GpuOptions,
    ModelOption,
    StandOptions,
)
from buildtool.cli.output import Output, write_file
from buildtool.errors import ConfigError, ValidationError
from buildtool.settings import Labour, Options, Overrides, RunSettings

if TYPE_CHECKING:
    from buildtool.reports.documents import ValidationReport

KINDS = ("both", "shared", "static")
REFERENCES = ("auto", "onnxruntime", "litert", "numpy")

ReferenceOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--reference",
        metavar="|".join(REFERENCES),
        help="Reference to compare with; auto: the source framework if it is installed.",
    ),
]
PythonOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--reference-python",
        metavar="PYTHON",
        help="Python interpreter that has the source framework, to compute the reference.",
    ),
]


@dataclass(frozen=True)
class ComparisonOptions:
    """What is compared, and where the result goes beside the terminal."""

    topic: ClassVar[str] = "Comparison (with --validate in lathe run)"

    layers: Annotated[
        str,
        typer.Option(
            "--layers",
            metavar="[all|search|N|FROM:TO]",
            help="Compare the result of every node (or of these), and name the first that differs; search: bisect.",
        ),
    ] = ""
    accuracy: Annotated[
        bool, typer.Option("--accuracy", help="Run accuracy_validation_script on all its samples instead.")
    ] = False
    labelled: Annotated[
        Path | None,
        typer.Option(
            "--labelled",
            metavar="FILE",
            help="Measure the accuracy of a simulated chip instead: an .npz with `samples` and `labels`.",
        ),
    ] = None
    top: Annotated[
        int,
        typer.Option(
            "--top", min=1, help="With --labelled: count a sample as correct if its label is among the top N."
        ),
    ] = 1
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="With --accuracy or --labelled: number of worker processes.")
    ] = 1
    scheduler: Annotated[
        str,
        typer.Option("--scheduler", metavar="ADDRESS", help="With --accuracy: address of a Dask scheduler."),
    ] = ""
    fresh: Annotated[
        bool, typer.Option("--fresh", help="With --accuracy: start over instead of resuming the last run.")
    ] = False
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write the result as JUnit XML.")
    ] = None

    def check(self) -> None:
        """ConfigError where more than one comparison is asked for."""
        asked = {"--layers": self.layers, "--accuracy": self.accuracy, "--labelled": self.labelled}
        words = [word for word, wanted in asked.items() if wanted]
        if len(words) > 1:
            raise ConfigError(
                f"{' and '.join(words)} are {len(words)} comparisons", remedy="run them one after the other"
            )

    def labour(self) -> Labour:
        """ConfigError where options contradict each other."""
        self.check()
        if self.scheduler and self.workers != 1:
            raise ConfigError("--scheduler and --workers contradict each other", remedy="leave out one of them")
        return Labour(self.workers, self.scheduler, self.fresh)


def _of_kmodel(file: Path, settings: RunSettings) -> ValidationReport | None:
    """The validation of a kmodel file; None for another file, without the modules of the K210."""
    if file.suffix.lower() != ".kmodel":
        return None
    from buildtool.workflow import kmodels

    return kmodels.validate(file, settings) if kmodels.is_kmodel(file) else None


def report_validation(
    file: Path, replaced: Overrides, options: Options, settings: RunSettings, chosen: ComparisonOptions, out: Output
) -> None:
    """Validate, show the result, and end with the exit code of a failed validation where something differs."""
    from buildtool import workflow
    from buildtool.reports import accuracy, junit, layers, validation

    chosen.check()
    nodes = nodes_of(chosen.layers) if chosen.layers else None
    with out.progress() as progress:
        common = (file, replaced, options, settings, progress)
        if chosen.labelled is not None:
            labelled = workflow.Labelled(chosen.labelled, chosen.top, chosen.workers)
            measured = workflow.measure_labelled(*common, labelled=labelled)
            document, passed = measured.as_json(), measured.passed
            parts, cases = accuracy.parts(document), junit.accuracy(document)
        elif chosen.accuracy:
            measured = workflow.measure_accuracy(*common, chosen.labour())
            document, passed = measured.as_json(), measured.passed
            parts, cases = accuracy.parts(document), junit.accuracy(document)
        elif nodes is not None:
            inner = workflow.validate_layers(*common, which=nodes, search=chosen.layers == "search")
            document, passed = inner.as_json(), inner.passed
            parts, cases = layers.parts(document), junit.layers(document)
        else:
            outputs = _of_kmodel(file, settings) or workflow.validate(*common)
            document, passed = outputs.as_json(), outputs.passed
            parts, cases = validation.parts(document), junit.outputs(document)
    if chosen.junit is not None:
        write_file(chosen.junit, junit.write(document["library"], cases).decode())
    out.document(document, *parts)
    if not passed:
        raise typer.Exit(ValidationError.exit_code)


def validate(
    asked: BuildOptions,
    model: ModelOption = None,
    all_variants: Annotated[
        bool, typer.Option("--all-variants", help="Build and validate the models both as files and as code.")
    ] = False,
    kind: Annotated[
        str, typer.Option("--kind", metavar="|".join(KINDS), help="Validate only shared or only static libraries.")
    ] = "both",
    reference: ReferenceOption = "auto",
    reference_python: PythonOption = None,
    *,
    described: DescriptionOptions,
    stand: StandOptions,
    gpu: GpuOptions,
    comparison: ComparisonOptions,
    out: Output,
) -> None:
    """Compare a library with its source models, for every ABI, shared and static. Builds missing libraries.

    Exit code 9 means that an output is below its threshold.
    """

    if reference not in REFERENCES:
        raise ConfigError(
            f"--reference cannot be '{reference}'",
            rule=f"allowed: {', '.join(REFERENCES)}",
            remedy="to compare with another framework, name a Python that has it: --reference-python PYTHON",
        )
    if reference_python is not None and reference != "auto":
        raise ConfigError(
            f"--reference-python and --reference {reference} contradict each other", remedy="leave out one of them"
        )
    if kind not in KINDS:
        raise ConfigError(f"--kind cannot be '{kind}'", rule=f"allowed: {', '.join(KINDS)}")
    settings = replace(
        gpu.settings(stand.settings(out)),
        model=model,
        kinds=KINDS[1:] if kind == "both" else (kind,),
        reference=reference,
        reference_python=reference_python,
        all_variants=all_variants,
    )
    replaced = described.beside(asked.overrides())
    report_validation(asked.source(), replaced, asked.options(), settings, comparison, out)


def register(app: typer.Typer) -> None:
    command(app, "validate")(validate)
