"""`lathe test`: the native tests of the core and of the kernels, on a device."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import StandOptions, words
from buildtool.cli.output import Output
from buildtool.errors import ConfigError, ValidationError


def test(
    abi: Annotated[list[str] | None, typer.Option("--abi", "--target-abis", help="ABI to build the tests for.")] = None,
    pattern: Annotated[
        str,
        typer.Option("--filter", metavar="PATTERN", help="Only these tests: a filter of GoogleTest, or kernels: Relu*"),
    ] = "",
    cases: Annotated[
        Path | None,
        typer.Option("--cases", metavar="FOLDER", help="Cases of kernels: `python -m tests.ops` writes them."),
    ] = None,
    *,
    stand: StandOptions,
    out: Output,
) -> None:
    """Build Lathe's native tests for an ABI, and run them on a device: does everything work on this processor?

    Exit code 9 tells that a test failed.
    """
    from buildtool.config import canonical_abi
    from buildtool.reports import devices as report
    from buildtool.workflow import on_device

    try:
        abis = [canonical_abi(word) for word in words(abi) or ("host",)]
    except ValueError as problem:
        raise ConfigError(str(problem)) from problem
    settings = stand.settings(out)
    tests = []
    with out.progress() as progress:
        for name in abis:
            for device, found in on_device.test(name, settings, pattern, cases, progress).items():
                tests += [{"abi": name, "device": device, **item.as_json()} for item in found]
    document = {"tests": tests}
    out.document(document, *report.test_parts(document))
    if any(item["failed"] for item in tests):
        raise typer.Exit(ValidationError.exit_code)


def register(app: typer.Typer) -> None:
    command(app, "test")(test)
