"""Kills conversions and builds at random moments, and looks whether the next run is right: equal to the byte.

python -m tests.workflow.kills --count 200 --seed 1
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.native_builds import ROOT

START = "import sys; from buildtool.cli.main import main; sys.argv[0] = 'lathe'; sys.exit(main())"
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("convert", "deploy.yml", "--target-abis", "host", "--output", "out"),
    ("build", "deploy.yml", "--target-abis", "host", "--output", "out"),
)
#: Reports have times in them, and archives hold reports.
_COMPARED = ("model", "include", "lib", "library", "source")


def kill_often(folder: Path, count: int, seed: int) -> int:
    """How many processes were killed. AssertionError where a run behind one is not right."""
    from tests.workflow.test_reproducible import everything, example_in  # it imports pytest

    example_in(folder / "work")
    dice, killed = random.Random(seed), 0
    wanted: dict[tuple[str, ...], dict[str, bytes]] = {}
    seconds: dict[tuple[str, ...], float] = {}

    def made() -> dict[str, bytes]:
        found = everything(folder / "work" / "out" / "digits")
        return {name: data for name, data in found.items() if name.split("/")[0] in _COMPARED}

    for command in _COMMANDS:
        assert _run(command, folder) == 0
        shutil.rmtree(folder / "work" / "out")
        began = time.monotonic()
        assert _run(command, folder) == 0  # with what is in the cache now
        seconds[command], wanted[command] = time.monotonic() - began, made()
        assert wanted[command]
    while killed < count:
        command = dice.choice(_COMMANDS)
        if dice.random() < 0.5:
            shutil.rmtree(folder / "work" / "out", ignore_errors=True)
        if dice.random() < 0.2:
            shutil.rmtree(folder / "cache", ignore_errors=True)
        if _run(command, folder, dice.uniform(0.2, 1.0) * seconds[command]) == -signal.SIGKILL:
            killed += 1
            if killed % 10 == 0:
                sys.stderr.write(f"{killed} kills\n")
        assert _run(command, folder) == 0, command
        found = made()
        differing = [name for name, data in wanted[command].items() if found.get(name) != data]
        assert not differing, (command, differing)
        assert not [name for name in found if ".tmp" in name or name.endswith("~")], "files are left behind"
    return killed


def _run(command: Sequence[str], folder: Path, seconds: float | None = None) -> int:
    """The exit code of a command that may have so much time."""
    settings = {
        **os.environ,
        "LATHE_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", START, *command],
        cwd=folder / "work",
        env=settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.workflow.kills", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lathe-kills-") as folder:
        killed = kill_often(Path(folder), options.count, options.seed)
    sys.stdout.write(f"{killed} kills, and the run behind each was right\n")


if __name__ == "__main__":
    main()
