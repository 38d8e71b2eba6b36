"""Kills commands at random moments: none leaves half a file, and the next run is right, equal to the byte.

python -m tests.workflow.kills --count 200 --seed 1
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cli.conftest import EXAMPLE
from tests.native_builds import ROOT

START = "import sys; from buildtool.cli.main import main; sys.argv[0] = 'lathe'; sys.exit(main())"
_FILES = ("deploy.yml", "digits.onnx", "pictures.npy", "chip_model.py")
#: Reports of a build have times in them, and archives hold reports.
_COMPARED = ("model", "include", "lib", "library", "source")
_SLOWEST = 0.95  # of the time that a command takes: the moment of the last kills


@dataclass(frozen=True)
class Command:
    """`output`: the folder or file that it writes, in the folder of the deployment. `compared`: the names of the first
    folders in it whose files are equal whenever it runs; all of them if there are none. `same_bytes`: else the files
    have the same names only, and are whole."""

    name: str
    words: tuple[str, ...]
    output: str
    compared: tuple[str, ...] = ()
    same_bytes: bool = True
    weight: int = 1
    epochs: bool = False  # files in between are not those of the end, but whole

    def made(self, folder: Path) -> dict[str, bytes]:
        from tests.workflow.test_reproducible import everything  # it imports pytest

        place = folder / self.output
        if place.is_file():
            return {place.name: place.read_bytes()}
        found = everything(place) if place.is_dir() else {}
        found = {name: data for name, data in found.items() if not Path(name).name.startswith(".")}
        return {name: data for name, data in found.items() if not self.compared or name.split("/")[0] in self.compared}


_HOST = ("--target-abis", "host")
COMMANDS = {
    command.name: command
    for command in (
        Command(
            "convert",
            ("convert", "deploy.yml", *_HOST, "--output", "converted"),
            "converted/digits",
            _COMPARED,
            weight=3,
        ),
        Command("build", ("build", "deploy.yml", *_HOST, "--output", "out"), "out/digits", _COMPARED, weight=3),
        Command(
            "quantize",
            ("quantize", "deploy.yml", "--inputs", "pictures.npy", "--samples", "20", "--output", "digits.ranges"),
            "digits.ranges",
            weight=3,
        ),
        # What it measures differs from run to run.
        Command(
            "tune",
            ("tune", "deploy.yml", *_HOST, "--output", "tuned", "--round", "2", "--num-threads", "1"),
            "tuned/digits",
            same_bytes=False,
        ),
        Command("train", ("train", "fit", "chip_model.py", "--epochs", "2"), "trained", epochs=True),
    )
}


def kill_often(folder: Path, count: int, seed: int, names: Sequence[str]) -> Counter[str]:
    """How many processes of each command were killed. AssertionError where a run behind one is not right."""
    work, dice, killed = folder / "work", random.Random(seed), Counter[str]()
    work.mkdir(parents=True)
    for name in _FILES:
        shutil.copy(EXAMPLE / name, work)
    commands = [COMMANDS[name] for name in names]
    wanted: dict[str, dict[str, bytes]] = {}
    seconds: dict[str, float] = {}
    for command in commands:
        assert _run(command, folder) == 0
        _remove(work / command.output)
        began = time.monotonic()
        assert _run(command, folder) == 0  # with what is in the cache now
        seconds[command.name], wanted[command.name] = time.monotonic() - began, command.made(work)
        assert wanted[command.name]
    turns = [command for command in commands for _ in range(command.weight)]
    while killed.total() < count:
        command = dice.choice(turns) if killed.total() >= len(commands) else commands[killed.total()]
        if dice.random() < 0.5:
            _remove(work / command.output)
        if dice.random() < 0.02:  # the next run compiles everything
            shutil.rmtree(folder / "cache", ignore_errors=True)
        if _run(command, folder, dice.uniform(0.1, _SLOWEST) * seconds[command.name]) == -signal.SIGKILL:
            killed[command.name] += 1
            if killed.total() % 10 == 0:
                sys.stderr.write(f"{killed.total()} kills\n")
        _check_whole(command, command.made(work), wanted[command.name])
        assert _run(command, folder) == 0, command
        _check_equal(command, command.made(work), wanted[command.name])
    return killed


def _check_whole(command: Command, found: Mapping[str, bytes], wanted: Mapping[str, bytes]) -> None:
    """What is there under its name after a kill is what a whole run writes."""
    for name, data in found.items():
        if command.same_bytes and not command.epochs:
            assert data == wanted.get(name), (command.name, name)
        elif name.endswith(".json"):
            json.loads(data)
        elif name.endswith(".html"):
            assert data.rstrip().endswith(b"</html>"), (command.name, name)
        elif name.endswith(".tar") and data[:2] == b"PK":
            assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None, (command.name, name)


def _check_equal(command: Command, found: Mapping[str, bytes], wanted: Mapping[str, bytes]) -> None:
    """What a run behind a kill leaves is what one without does."""
    assert sorted(found) == sorted(wanted), command.name
    if command.same_bytes:
        assert not [name for name, data in wanted.items() if found[name] != data], command.name
    assert not [name for name in found if ".tmp" in name or name.endswith(("~", ".part"))], "files are left behind"
    _check_whole(command, found, wanted)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _run(command: Command, folder: Path, seconds: float | None = None) -> int:
    """The exit code of a command that may have so much time."""
    settings = {
        **os.environ,
        "LATHE_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", START, *command.words],
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
    parser.add_argument("--commands", nargs="*", choices=list(COMMANDS), help="default: all that can run here")
    options = parser.parse_args()
    has_torch = importlib.util.find_spec("torch") is not None
    names = options.commands or [name for name in COMMANDS if name != "train" or has_torch]
    with tempfile.TemporaryDirectory(prefix="lathe-kills-") as folder:
        killed = kill_often(Path(folder), options.count, options.seed, names)
    told = ", ".join(f"{name} {killed[name]}" for name in names)
    sys.stdout.write(f"{killed.total()} kills ({told}): no half file, and the run behind each was right\n")


if __name__ == "__main__":
    main()
