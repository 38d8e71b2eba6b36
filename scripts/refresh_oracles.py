"""Installs frameworks into environments of their own and lets them compute what tests expect; see tests/oracles."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ORACLES = ROOT / "tests" / "oracles"


def frameworks() -> list[str]:
    """Those that have an oracle."""
    return sorted(file.parent.name for file in ORACLES.glob("*/requirements.txt"))


def environment(framework: str) -> Path:
    """The Python that has the framework: made anew where the requirements changed."""
    folder = ROOT / "build" / "oracles" / framework
    python, stamp = folder / "bin" / "python", folder / "requirements.txt"
    wanted = (ORACLES / framework / "requirements.txt").read_text(encoding="utf-8")
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "/dev/stdin"]
    subprocess.run(install, input=wanted, text=True, check=True)
    stamp.write_text(wanted, encoding="utf-8")
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("frameworks", nargs="*", default=frameworks(), metavar="FRAMEWORK", help="all if none is given")
    wanted = parser.parse_args().frameworks
    for framework in wanted:
        if framework not in frameworks():
            print(f"oracles: error: no oracle of '{framework}': there are {', '.join(frameworks())}", file=sys.stderr)
            return 2
        print(f"{framework}: computing what the tests expect", flush=True)
        module = f"tests.oracles.{framework}.refresh"
        done = subprocess.run([str(environment(framework)), "-m", module], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
