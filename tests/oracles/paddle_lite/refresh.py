"""Lets releases of Paddle-Lite write their models, in environments of Python 3.7: no wheels are for later ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.oracles.paddle.archive import EXPECTED as PROGRAMS
from tests.oracles.paddle.archive import Archive

EXPECTED = Path(__file__).resolve().parent / "expected"
ENVIRONMENTS = Path(__file__).resolve().parents[3] / "build" / "oracles" / "paddle_lite"
#: The forms of the file that they write: 0, 1 and 2.
RELEASES = ("2.6.0", "2.6.3", "2.7", "2.14rc0")
CASES = ("conv2d", "batch_norm", "fc")
_CONVERT = """
import sys
from paddlelite.lite import Opt

opt = Opt()
opt.set_model_file(sys.argv[1] + ".pdmodel")
opt.set_param_file(sys.argv[1] + ".pdiparams")
opt.set_valid_places("arm")
opt.set_model_type("naive_buffer")
opt.set_optimize_out(sys.argv[1])
(opt.run if hasattr(opt, "run") else opt.run_optimize)()
"""


def main() -> int:
    python = _python()
    if python is None:
        sys.stderr.write(
            "paddle_lite: there is no python3.7, for which the releases have wheels: nothing is refreshed\n"
        )
        return 0
    EXPECTED.mkdir(exist_ok=True)
    with Archive(EXPECTED / "models.zip") as archive, zipfile.ZipFile(PROGRAMS / "operators.zip") as programs:
        for release in RELEASES:
            with tempfile.TemporaryDirectory() as folder:
                for case in CASES:
                    archive.put(f"{release}/{case}.nb", _written(_environment(python, release), case, programs, folder))
    (EXPECTED / "versions.json").write_text(json.dumps({"paddlelite": RELEASES}, indent=2) + "\n", encoding="utf-8")
    return 0


def _python() -> str | None:
    """A Python 3.7 that starts. Shims of pyenv have the name, and start one if they are told its version."""
    os.environ.setdefault("PYENV_VERSION", "3.7")
    found = shutil.which("python3.7")
    if found is None or subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
        return None
    return found


def _environment(python: str, release: str) -> Path:
    """The Python that has a release."""
    folder = ENVIRONMENTS / release
    if not (folder / "installed").is_file():
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", f"paddlelite=={release}"]
        subprocess.run(install, check=True)
        (folder / "installed").touch()
    return folder / "bin" / "python"


def _written(python: Path, case: str, programs: zipfile.ZipFile, folder: str) -> bytes:
    file = Path(folder) / case
    for ending in (".pdmodel", ".pdiparams"):
        file.with_suffix(ending).write_bytes(programs.read(f"{case}/model{ending}"))
    subprocess.run([str(python), "-c", _CONVERT, str(file)], check=True, capture_output=True)
    return file.with_suffix(".nb").read_bytes()


if __name__ == "__main__":
    sys.exit(main())
