"""Writes scripts/python_packages.lock: what `make setup LOCKED=1` installs, each package with its version and hashes.

It holds for all supported Pythons. Run by `make lock`, with the resolver uv in an environment of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import setup_environment as setup  # noqa: E402 (as a program it has no package)

FOLDER = ROOT / "build" / "lock"
RESOLVER = "uv>=0.5"
OLDEST = "3.10"
# The resolver does not look at the newest Python that a release is for.
_LIMITS = ('backports-strenum<1.3; python_version >= "3.11"',)


def main() -> int:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER)], check=True)
    python = FOLDER / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", RESOLVER], check=True)
    asked = FOLDER / "build.in"
    asked.write_text("\n".join((*setup.build_requirements(), *_LIMITS)) + "\n", encoding="utf-8")
    command = [str(FOLDER / "bin" / "uv"), "pip", "compile", "pyproject.toml", str(asked), "--quiet", "--upgrade"]
    command += [word for extra in setup.EXTRAS for word in ("--extra", extra)]
    command += ["--universal", "--python-version", OLDEST, "--generate-hashes", "--no-annotate", "--no-header"]
    command += ["--no-emit-index-url", "--no-emit-find-links", "--output-file", str(setup.LOCK)]
    subprocess.run(command, cwd=ROOT, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
