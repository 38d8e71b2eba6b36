"""`lathe validate`: compares a library with its source models, on every ABI and in every form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

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
from buildtool.errors import ConfigError, ValidationError
from buildtool.settings import Options, Overrides, RunSettings

KINDS = ("both", "shared", "static")
REFERENCES = ("auto", "onnxruntime", "litert", "numpy")

ThreadsOption: TypeAlias = Annotated[
    int, typer.Option("--num-threads", min=-1, help="Threads of the library; -1: one per core.")
]
CpuOption: TypeAlias = Annotated[
    str, typer.Option("--cpu", metavar="MODEL", help="The processor that the emulator imitates, such as cortex-a53.")
]
ReferenceOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--reference",
        metavar="|".join(REFERENCES),
        help="Who gives the right answer; auto: the source framework where it is installed.",
    ),
]
PythonOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--reference-python",
        metavar="PYTHON",
        help="An interpreter that has the source framework, which then gives the right answer there.",
    ),
]
TimeoutOption: TypeAlias = Annotated[
    float, typer.Option("--timeout", min=1, metavar="SECONDS", help="The most time that one run may take.")
]


def report_validation(file: Path, replaced: Overrides, options: Options, settings: RunSettings, out: Output) -> None:
    """Validate, show the result, and end with the exit code of a failed validation where something differs."""
    from buildtool import workflow
    from buildtool.reports import validation as report

    with out.progress() as progress:
        result = workflow.validate(file, replaced, options, settings, progress)
    document = result.as_json()
    out.document(document, *report.parts(document))
    if not result.passed:
        raise typer.Exit(ValidationError.exit_code)


def validate(
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
    all_variants: Annotated[
        bool, typer.Option("--all-variants", help="Build and validate the models as files and as code, both.")
    ] = False,
    kind: Annotated[
        str, typer.Option("--kind", metavar="|".join(KINDS), help="Only the shared or only the static libraries.")
    ] = "both",
    reference: ReferenceOption = "auto",
    reference_python: PythonOption = None,
    num_threads: ThreadsOption = -1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random inputs.")] = 0,
    cpu: CpuOption = "",
    timeout: TimeoutOption = 600.0,
    allow_unverified: UnverifiedOption = False,
    *,
    out: Output,
) -> None:
    """Compare a library with its source models, for every ABI, shared and static. Builds what is not built yet.

    Exit code 9 tells that an output is below its threshold.
    """

    if reference not in REFERENCES:
        raise ConfigError(f"--reference cannot be '{reference}'", rule=f"allowed: {', '.join(REFERENCES)}")
    if reference_python is not None and reference != "auto":
        raise ConfigError(
            f"--reference-python and --reference {reference} contradict each other", remedy="leave out one of them"
        )
    if kind not in KINDS:
        raise ConfigError(f"--kind cannot be '{kind}'", rule=f"allowed: {', '.join(KINDS)}")
    options = Options(output=output, allow_unverified=allow_unverified)
    settings = RunSettings(
        model=model,
        kinds=KINDS[1:] if kind == "both" else (kind,),
        threads=num_threads,
        seed=seed,
        cpu=cpu,
        timeout=timeout,
        reference=reference,
        reference_python=reference_python,
        all_variants=all_variants,
    )
    replaced = overrides(target_abis, library_name, model_graph_format, model_data_format, no_messages, mace_compat)
    report_validation(deployment_file(file, config), replaced, options, settings, out)


def register(app: typer.Typer) -> None:
    command(app, "validate")(validate)
