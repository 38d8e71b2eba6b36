"""The library that holds every portable kernel, so that no case needs a compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path


def build(root: Path) -> Path:
    """Build it, or find that it is up to date."""
    folder = root / "build" / "native-full"
    configure = ["cmake", "-S", str(root / "native"), "-B", str(folder), "-G", "Ninja", "-DLATHE_BUILD_TESTS=OFF"]
    for command in (configure, ["cmake", "--build", str(folder), "--target", "full"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
    return folder / "libfull.so"
