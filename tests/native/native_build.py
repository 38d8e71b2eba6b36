"""Configures and builds native/ once per variant, under build/native/, where later runs find most of it done."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build(variant: str, targets: Sequence[str], options: Sequence[str] = ()) -> Path:
    """Build targets of native/CMakeLists.txt; the build folder."""
    folder = ROOT / "build" / "native" / variant
    folder.mkdir(parents=True, exist_ok=True)
    # cmake and ninja of the environment go before those of the system.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        configure = ["cmake", "-S", str(ROOT / "native"), "-B", str(folder), "-G", "Ninja", "-Wno-dev", *options]
        for command in (configure, ["ninja", "-C", str(folder), *targets]):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-8000:]}{done.stderr[-8000:]}"
    return folder


def run_program(program: Path, emulator: Sequence[str] = ()) -> str:
    """Run a test program; its output. Fails with the output where it fails or a sanitizer has a complaint."""
    command = [*emulator, str(program), "--gtest_brief=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{done.stdout[-8000:]}{done.stderr[-8000:]}"
    return done.stdout
