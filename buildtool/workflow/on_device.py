"""What is done with devices themselves: the stages of `lathe devices` and `lathe test`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from buildtool.builders import native_tests
from buildtool.builders.process import Processes
from buildtool.devices import native_tests as running
from buildtool.devices.choose import devices_for
from buildtool.devices.native_tests import Tested
from buildtool.devices.survey import Found, everything
from buildtool.devices.survey import survey as survey_of
from buildtool.errors import RunError
from buildtool.settings import SILENT, DeviceSpec, Progress, RunSettings


def survey(
    chosen: Sequence[DeviceSpec], *, all_others: bool = True, clear: bool = False, progress: Progress = SILENT
) -> list[Found]:
    """What the devices say of themselves; `all_others`: this machine, its emulators and those of adb, too."""
    progress.stage("ask the devices")
    return survey_of(everything(chosen) if all_others else chosen, clear=clear)


def test(
    abi: str, settings: RunSettings, pattern: str = "", cases: Path | None = None, progress: Progress = SILENT
) -> dict[str, list[Tested]]:
    """Build the native tests for an ABI and run them on its devices: what each found, by the device.

    The kernels are tested where `cases` is a folder of their cases.
    """
    devices = devices_for(abi, settings)
    processes = Processes(echo=progress.step)
    found: dict[str, list[Tested]] = {}
    programs = [*native_tests.CORE, *([native_tests.CASES] if cases is not None else [])]
    progress.stage(f"compile the native tests for {abi}")
    built = native_tests.build(abi, programs, processes)
    for device in devices:
        with contextlib.closing(device):
            for program in programs:
                progress.stage(f"{program} on {device.name}")
                libraries = native_tests.libraries(built, program)
                given = cases if program == native_tests.CASES else None
                file = built / "tests" / program
                tested = running.run(device, file, libraries, pattern, given, settings.timeout)
                found.setdefault(device.name, []).append(tested)
    if not any(item.passed or item.failed or item.skipped for tested in found.values() for item in tested):
        raise RunError(
            f"no test is called '{pattern}'",
            rule="--filter takes a filter of GoogleTest, or the name of a kernel whose cases are in --cases",
            remedy="" if cases else "in Lathe's source tree, `python -m tests.ops FOLDER KERNEL` writes the cases",
        )
    return found
