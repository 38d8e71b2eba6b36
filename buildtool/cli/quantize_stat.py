"""`lathe quantize-stat`: one range for each tensor from a log of `run --quantize-stat`, as MACE's tool of that name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output


def quantize_stat(
    log_file: Annotated[
        Path | None, typer.Option("--log-file", metavar="FILE", help="Output of lathe run --quantize-stat.")
    ] = None,
    percentile: Annotated[
        float, typer.Option("--percentile", metavar="PERCENT", help="Share of samples to ignore on each side.")
    ] = 0.0,
    enhance: Annotated[bool, typer.Option("--enhance", help="Ignore rare outliers that widen the ranges.")] = False,
    enhance_ratio: Annotated[
        float, typer.Option("--enhance-ratio", metavar="N", help="With --enhance: larger values keep more outliers.")
    ] = 10.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Range file to write, instead of stdout.")
    ] = None,
    *,
    out: Output,
) -> None:
    """Convert the log of lathe run --quantize-stat to a range file."""
    from buildtool import workflow
    from buildtool.errors import ConfigError
    from buildtool.quant import range_files
    from buildtool.reports import quantisation as report

    if log_file is None:
        raise ConfigError(
            "--log-file is missing", remedy="pass the log that `lathe run --quantize-stat` printed: --log-file FILE"
        )
    found = workflow.ranges_of_log(log_file, output, percentile, enhance, enhance_ratio)
    document = found.as_json()
    if output is None:
        out.document(document, range_files.text(found.ranges))
    else:
        out.document(document, *report.parts(document))


def register(app: typer.Typer) -> None:
    command(app, "quantize-stat")(quantize_stat)
