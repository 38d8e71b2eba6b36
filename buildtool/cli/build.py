"""`lathe build`: from a deployment file to libraries, headers, models and an archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from buildtool.cli.command import command
from buildtool.cli.convert import EmitOption, emitted
from buildtool.cli.options import (
    AbisOption,
    ConfigOption,
    DataFormatOption,
    DescriptionOptions,
    FallbackOption,
    FileArgument,
    GraphFormatOption,
    LibraryOption,
    MaceOption,
    MessagesOption,
    OpPathOption,
    OutputOption,
    ToolchainOption,
    TrustOption,
    UnverifiedOption,
    deployment_file,
    overrides,
)
from buildtool.cli.output import VERBOSE, Output
from buildtool.errors import ValidationError
from buildtool.settings import Options, Overrides

DepfileOption: TypeAlias = Annotated[
    tuple[Path, str] | None,
    typer.Option("--depfile", metavar="FILE NAME", help="Write what the build depends on, as a rule of make for NAME."),
]
JavaOption: TypeAlias = Annotated[
    bool, typer.Option("--java", help="With classes for Java, and what ties them to the library.")
]
AarOption: TypeAlias = Annotated[
    bool, typer.Option("--aar", help="With <library>.aar for Android: --java, the models, and headers for CMake.")
]
NdkCheckOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--ndk-check",
        help="Check without an NDK that the library fits Android, and execute it; without FILE, compile all sources.",
    ),
]


def build(
    file: FileArgument = None,
    config: ConfigOption = None,
    output: OutputOption = Path("build"),
    target_abis: AbisOption = None,
    library_name: LibraryOption = None,
    model_graph_format: GraphFormatOption = None,
    model_data_format: DataFormatOption = None,
    no_messages: MessagesOption = False,
    mace_compat: MaceOption = False,
    emit: EmitOption = None,
    allow_unverified: UnverifiedOption = False,
    trust_model_code: TrustOption = False,
    toolchain: ToolchainOption = None,
    op_paths: OpPathOption = None,
    fallback: FallbackOption = "",
    no_archive: Annotated[bool, typer.Option("--no-archive", help="Do not pack the result.")] = False,
    depfile: DepfileOption = None,
    java: JavaOption = False,
    aar: AarOption = False,
    ndk_check: NdkCheckOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands, run none of them.")] = False,
    *,
    described: DescriptionOptions,
    out: Output,
) -> None:
    """Build the library of a deployment file, with everything that belongs to it."""
    from buildtool import workflow
    from buildtool.artifacts import depfile as dependencies
    from buildtool.reports import build as report
    from buildtool.requests import deployments, model_sources

    options = Options(
        output=output,
        emit=emitted(emit),
        allow_unverified=allow_unverified,
        trust_model_code=trust_model_code,
        archive=not no_archive,
        java=java,
        aar=aar,
    )
    formats = (model_graph_format, model_data_format)
    replaced = overrides(target_abis, library_name, *formats, no_messages, mace_compat, toolchain, op_paths, fallback)
    replaced = described.beside(replaced)
    if ndk_check:
        return _check_for_android(deployment_file(file, config) if file or config else None, replaced, options, out)
    file = deployment_file(file, config)
    read = dependencies.FilesRead() if depfile else None
    with out.progress() as progress:
        if dry_run:
            commands = workflow.commands(file, replaced, options, progress)
        else:
            built = workflow.build(file, replaced, options, progress)
            if read and depfile:
                deployment = deployments.load_deployment(file, replaced)
                dependencies.write(*depfile, model_sources.inputs_of(deployment, options, read))
    if dry_run:
        return out.document({"commands": list(commands)}, *commands)
    document = built.as_json()
    return out.document(document, *report.parts(document, verbose=out.verbosity >= VERBOSE))


def _check_for_android(file: Path | None, replaced: Overrides, options: Options, out: Output) -> None:
    from buildtool import workflow

    with out.progress() as progress:
        report = workflow.ndk_check(file, replaced, options, progress)
    out.document(report.as_json(), *report.parts())
    if not report.passed:
        raise typer.Exit(ValidationError.exit_code)


def register(app: typer.Typer) -> None:
    command(app, "build")(build)
