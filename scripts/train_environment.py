"""Makes the environment of `make test-train`: torch beside everything that .venv has. Prints its Python."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "train"


def wanted() -> str:
    """What the extra `train` asks of torch."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^train = \[.*"(torch[^"]*)"', text, re.MULTILINE)
    assert found is not None
    return found[1]


def environment(requirement: str) -> Path:
    """Its Python: made anew where the requirement is another one."""
    python, stamp = FOLDER / "bin" / "python", FOLDER / "requirement.txt"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == requirement:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
    subprocess.run(install, check=True)
    # What .venv has, the editable package included, is found behind what was installed here.
    beside = sysconfig.get_path("purelib")
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = subprocess.run([str(python), "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
    (Path(own) / "beside.pth").write_text(f"import site; site.addsitedir({beside!r})\n", encoding="utf-8")
    stamp.write_text(requirement, encoding="utf-8")
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", default="", help="another requirement, such as torch==2.8.0+cpu")
    print(environment(parser.parse_args().torch or wanted()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
