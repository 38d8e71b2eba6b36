"""Arguments and options that several commands share, spelled once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from buildtool.errors import ConfigError
from buildtool.settings import Overrides

FileArgument: TypeAlias = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="The deployment file.", show_default=False)
]
ConfigOption: TypeAlias = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The deployment file, as MACE's tools take it.")
]
OutputOption: TypeAlias = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="The folder that holds <library>/.")
]
AbisOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--target-abis", "--abi", metavar="ABI[,ABI]", help="Only these ABIs, instead of those of the file; repeatable."
    ),
]
LibraryOption: TypeAlias = Annotated[
    str | None, typer.Option("--library-name", metavar="NAME", help="Instead of the name in the file.")
]
ModelOption: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Only this model, where there are several.")
]
UnverifiedOption: TypeAlias = Annotated[
    bool, typer.Option("--allow-unverified", help="Download files that the deployment gives no checksum for.")
]
ToolchainOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--toolchain", metavar="FILE", help="Build with this CMake toolchain file; --abi then only names the result."
    ),
]
OpPathOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--op-path", metavar="FOLDER", help="A folder with operators, beside those of the file; repeatable."),
]
GraphFormatOption: TypeAlias = Annotated[
    str | None, typer.Option("--model-graph-format", metavar="file|code", help="Instead of that of the file.")
]
DataFormatOption: TypeAlias = Annotated[
    str | None, typer.Option("--model-data-format", metavar="file|code", help="Instead of that of the file.")
]

MessagesOption: TypeAlias = Annotated[
    bool, typer.Option("--no-messages", help="A smaller library: it tells codes, and no texts of messages.")
]

MaceOption: TypeAlias = Annotated[
    bool, typer.Option("--mace-compat", help="With headers of MACE's C++ interface, and the library named libmace.")
]


def deployment_file(argument: Path | None, option: Path | None) -> Path:
    """The one deployment file of the command line, whichever way it was given."""
    if argument is not None and option is not None and argument != option:
        raise ConfigError(
            f"two deployment files are given: {argument} and --config {option}", remedy="give one of them"
        )
    file = argument or option
    if file is None:
        raise ConfigError("no deployment file is given", remedy="write one with: lathe init MODEL")
    return file


def overrides(
    abis: list[str] | None = None,
    library_name: str | None = None,
    graph_format: str | None = None,
    data_format: str | None = None,
    no_messages: bool = False,
    mace_compat: bool = False,
    toolchain: Path | None = None,
    op_paths: list[Path] | None = None,
) -> Overrides:
    """What the command line says instead of the deployment file."""
    words = tuple(word for item in abis or () for word in item.replace(",", " ").split())
    return Overrides(
        target_abis=words,
        library_name=library_name,
        model_graph_format=graph_format,
        model_data_format=data_format,
        messages=False if no_messages else None,
        mace_compat="1" if mace_compat else None,
        toolchain=toolchain,
        op_paths=tuple(op_paths or ()),
    )
