"""Runs a program of GoogleTest on a device."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from buildtool.devices.device import Device
from buildtool.errors import DeviceError, RunError, Where


@dataclass(frozen=True)
class Tested:
    """What a program of tests found."""

    program: str
    passed: int
    skipped: int
    failed: Mapping[str, str]  # the first words of each failure, by the name of the test
    seconds: float

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "failed": dict(self.failed)}


def chosen(pattern: str) -> str:
    """What GoogleTest calls the tests of a pattern: `Conv2d*` stands for those of a suite and of kernels."""
    if not pattern or set(pattern) & set(".:/"):
        return pattern or "*"
    return f"{pattern}:*/{kernels_of(pattern)}"


def kernels_of(pattern: str) -> str:
    """The pattern as kernels are named: `FullyConnected*` is `fully_connected*`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", pattern.rpartition("/")[2]).lower() or "*"


def run(
    device: Device, program: Path, libraries: Sequence[Path], pattern: str, cases: Path | None, timeout: float
) -> Tested:
    """Run the tests of a pattern. RunError where the program breaks off."""
    there = device.push(program)
    folders = dict.fromkeys(str(device.push(file, lasting=False).parent) for file in libraries)
    variables = {"LD_LIBRARY_PATH": ":".join(folders)} if folders else {}
    if cases is not None:
        variables["LATHE_CASES"] = str(device.push_folder(cases))
    report = device.path(f"{program.name}.json")
    words: list[str | PurePosixPath] = [
        there,
        "--gtest_brief=1",
        f"--gtest_filter={chosen(pattern)}",
        f"--gtest_output=json:{report}",
    ]
    done = device.run(words, timeout, variables)
    if done.exit_code not in (0, 1):
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise RunError(
            f"{program.name} failed on {device.name} with exit code {done.exit_code}"
            + (f": {said[-1]}" if said else ""),
            where=Where(file=str(program)),
        )
    with tempfile.TemporaryDirectory(prefix="lathe-test-") as folder:
        text = device.pull(report, Path(folder) / report.name).read_text(encoding="utf-8", errors="replace")
    try:
        return _tested(program.name, json.loads(text))
    except (ValueError, KeyError, TypeError) as problem:
        raise DeviceError(f"{device.name} returned an invalid report of {program.name}") from problem


def _tested(program: str, report: Mapping[str, Any]) -> Tested:
    tests = [(suite["name"], test) for suite in report["testsuites"] for test in suite["testsuite"]]
    failed = {
        f"{suite}.{test['name']}": test["failures"][0]["failure"].strip()
        for suite, test in tests
        if test.get("failures")
    }
    skipped = sum(test["result"] == "SKIPPED" for _, test in tests)
    ran = sum(test["status"] == "RUN" for _, test in tests)
    seconds = float(str(report["time"]).rstrip("s"))
    return Tested(program, ran - skipped - len(failed), skipped, failed, seconds)
