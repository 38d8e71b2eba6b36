"""One deployment validated and benchmarked, with one command each, in five places: here, in two emulators, behind ssh
and behind adb. `python -m tests.devices everywhere` prints the table of docs/how-to/devices.md."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.devices.adbd import AdbServer, Phone
from tests.devices.sshd import Sshd

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits" / "deploy.yml"
_LATHE = Path(sys.executable).with_name("lathe")


@dataclass(frozen=True)
class Place:
    """Where a library runs, as the command line says it."""

    name: str
    abi: str
    words: tuple[str, ...] = ()
    imitated: bool = True  # whether an emulator runs the programs


@dataclass(frozen=True)
class Row:
    """What the two commands say of a place. The worst of all outputs, shared and static; one run of the model."""

    place: Place
    abi: str
    cosine: float
    max_abs: float
    passed: bool
    figure: float
    unit: str  # instructions, or milliseconds

    def text(self) -> str:
        amount = f"{self.figure:,.0f} instructions" if self.unit == "instructions" else f"{self.figure:.3f} ms"
        if self.unit != "instructions" and self.place.imitated:
            amount += " (an emulator's)"
        verdict = "passed" if self.passed else "FAILED"
        return f"| {self.place.name} | {self.abi} | {self.cosine:.6f} | {self.max_abs:.2e} | {verdict} | {amount} |"


HEAD = "| device | ABI | cosine | largest difference | result | one run |\n|---|---|---|---|---|---|"


@contextlib.contextmanager
def places() -> Iterator[list[Place]]:
    """All five. The devices behind ssh and adb are pretended ones on this machine."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lathe-everywhere-")))
        board = stack.enter_context(Sshd(folder / "board"))
        server = stack.enter_context(AdbServer(folder))
        phone = stack.enter_context(Phone(folder / "phone"))
        server.connect(phone)
        before = {name: os.environ.get(name) for name in server.variables}
        os.environ.update(server.variables)
        try:
            yield [
                Place("`local`", "host", imitated=False),
                Place("`qemu`", "arm64"),
                Place("`qemu`", "armhf"),
                Place("`board` by ssh", "arm64", ("--device-yml", str(board.device_file()), "--device", "board")),
                Place("`adb:SERIAL`", "arm64", ("--device", f"adb:{phone.serial}")),
            ]
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def measured(deployment: Path, output: Path, place: Place, rounds: int) -> Row:
    """Validate and benchmark in one place."""
    words = [str(deployment), "--output", str(output), "--abi", place.abi, "--num-threads", "1", *place.words]
    results = _lathe("validate", *words)["results"]
    # What the processor can do at most is not shown, and takes an emulator long.
    bench = _lathe("bench", *words, "--round", str(rounds), "--warmup", "2", "--peak", "1,1")
    (measurement,) = bench["measurements"]
    counted = measurement["unit"] == "instructions"
    return Row(
        place,
        measurement["abi"],
        cosine=min(result["cosine"] for result in results),
        max_abs=max(result["max_abs"] for result in results),
        passed=all(result["passed"] for result in results),
        figure=measurement["instructions"] if counted else measurement["plain"]["median"],
        unit="instructions" if counted else "milliseconds",
    )


def _lathe(*words: str) -> dict[str, Any]:
    """The document of a command. Exit code 9 tells that a validation failed, which the document says, too."""
    done = subprocess.run([_LATHE, *words, "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 9):
        raise SystemExit(f"lathe {' '.join(words)} ended with exit code {done.returncode}:\n{done.stdout}{done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def table(deployment: Path = EXAMPLE, rounds: int = 20) -> Iterator[Row]:
    """The rows, one by one. The libraries are built once, and thrown away at the end."""
    with tempfile.TemporaryDirectory(prefix="lathe-everywhere-") as output, places() as known:
        for place in known:
            yield measured(deployment, Path(output), place, rounds)
