"""`lathe doctor`: what each target needs, what is here, and how to get the rest."""

from __future__ import annotations

from typing import Annotated

import typer

from buildtool.cli.command import command
from buildtool.cli.options import AbisOption, DeviceFileOption, DeviceOption, words
from buildtool.cli.options import devices as chosen
from buildtool.cli.output import Output
from buildtool.errors import ConfigError, DeviceError, ToolchainError
from buildtool.settings import DeviceSpec


def doctor(
    target_abis: AbisOption = None,
    install: Annotated[
        bool,
        typer.Option("--install", help="Install missing packages with apt-get; without root, print the command."),
    ] = False,
    security: Annotated[
        bool, typer.Option("--security", help="Try the protections against hostile files, and list them instead.")
    ] = False,
    device: DeviceOption = None,
    device_yml: DeviceFileOption = None,
    *,
    out: Output,
) -> None:
    """Check what each target needs. Exit code 6 if a target cannot be built.

    Without --target-abis, only this machine has to be able to build for itself; the other targets are listed, and so
    are the ways to devices: adb, ssh and OpenCL.

    With --security: exit code 6 if a protection against hostile files is missing.

    With --device or --device-yml: say what these devices have. Exit code 10 where one does not answer.
    """
    if security:
        _protections(out)
        return
    specs = chosen(device, device_yml, out)
    if specs:
        if target_abis or install:
            raise ConfigError(
                "--device checks devices; --target-abis and --install are for this machine", remedy="give one"
            )
        _ask(specs, out)
        return
    from buildtool.config import canonical_abi, is_built, is_target
    from buildtool.reports import machine

    abis = tuple(canonical_abi(abi) if is_target(abi) else abi for abi in words(target_abis))
    unbuilt = tuple(abi for abi in abis if is_target(abi) and not is_built("target_abis", abi))
    findings = machine.examine(abis, unbuilt)
    if install and machine.packages(findings):
        machine.install(machine.packages(findings), say=out.say)
        findings = machine.examine(abis, unbuilt)
    document = machine.document(findings)
    out.document(document, *machine.parts(document))
    # Without a wish of the user only the machine itself must be fit; other targets are offers.
    wanted = [item for item in findings if not item.here and (abis or item.target == "host") and item.required]
    if wanted:
        raise typer.Exit(ToolchainError.exit_code)


def _protections(out: Output) -> None:
    from buildtool.reports import security

    document = security.document(security.examine())
    out.document(document, *security.parts(document))
    if not all(item["holds"] for item in document["protections"]):
        raise typer.Exit(ToolchainError.exit_code)


def _ask(specs: tuple[DeviceSpec, ...], out: Output) -> None:
    from buildtool.reports import device_health
    from buildtool.workflow.on_device import survey

    with out.progress() as progress:
        found = survey(specs, all_others=False, progress=progress)
    document = device_health.document([item.as_json() for item in found])
    out.document(document, *device_health.parts(document))
    if any(item.problem for item in found):
        raise typer.Exit(DeviceError.exit_code)


def register(app: typer.Typer) -> None:
    command(app, "doctor")(doctor)
