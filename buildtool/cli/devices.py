"""`lathe devices`: which devices there are, and what they are."""

from __future__ import annotations

from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import DeviceFileOption, DeviceOption
from buildtool.cli.options import devices as chosen
from buildtool.cli.output import Output
from buildtool.errors import DeviceError


def devices(
    device: DeviceOption = None,
    device_yml: DeviceFileOption = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the files that Lathe keeps on the devices.")] = False,
    *,
    out: Output,
) -> None:
    """List the devices that models can run on, and their properties. Does not reserve devices.

    Exit code 10 tells that a device that was named does not answer.
    """
    from buildtool.reports import devices as report
    from buildtool.workflow.on_device import survey

    specs = chosen(device, device_yml, out)
    with out.progress() as progress:
        found = survey(specs, all_others=not device, clear=clear, progress=progress)
    document = {"devices": [item.as_json() for item in found]}
    out.document(document, *report.parts(document))
    if specs and any(item.problem for item in found):
        raise typer.Exit(DeviceError.exit_code)


def register(app: typer.Typer) -> None:
    command(app, "devices")(devices)
