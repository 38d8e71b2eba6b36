"""`lathe where`: the folders that other build systems ask for."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output


class Part(str, Enum):
    """What can be asked for."""

    BAZEL = "bazel"
    CMAKE = "cmake"
    EXAMPLES = "examples"
    INCLUDE = "include"
    NATIVE = "native"
    TOOLCHAINS = "toolchains"


def where(
    part: Annotated[Part, typer.Argument(metavar="PART", help="bazel, cmake, examples, include, native, toolchains.")],
    *,
    out: Output,
) -> None:
    """Print the folder of a part of Lathe: `cmake` is what find_package(Lathe) wants as Lathe_DIR."""
    from buildtool import resources

    folders = {
        Part.BAZEL: resources.bazel_dir,
        Part.CMAKE: resources.cmake_dir,
        Part.EXAMPLES: resources.examples_dir,
        Part.INCLUDE: resources.include_dir,
        Part.NATIVE: resources.native_dir,
        Part.TOOLCHAINS: resources.toolchains_dir,
    }
    folder = str(folders[part]())
    out.document({"folder": folder}, folder)


def register(app: typer.Typer) -> None:
    command(app, "where")(where)
