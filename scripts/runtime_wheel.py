"""Writes the wheel `lathe-runtime`: libraries of Lathe from Python on boards, with NumPy and nothing else.

It holds the package buildtool/lathe_runtime under its own name. Nothing is compiled: one wheel serves every processor.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "buildtool" / "lathe_runtime"
#: Boards have little room.
MOST_BYTES = 300_000

_METADATA = """\
Metadata-Version: 2.1
Name: lathe-runtime
Version: {version}
Summary: Runs libraries made by Lathe on NumPy arrays
License: Apache-2.0
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Requires-Python: {python}
Requires-Dist: {numpy}
License-File: LICENSE
Description-Content-Type: text/markdown

# lathe-runtime

Loads a library that `lathe build` has made, and runs its models on NumPy arrays: on the desk, on aarch64 and on armhf.

```python
import lathe_runtime

model = lathe_runtime.load("libdigits.so", model="digits.pb")
outputs = model.run({{"image": pixels}})
```

`python -m lathe_runtime.paddle --library libdigits.so program.py` runs a program that was written for Paddle-Lite.
"""
_WHEEL = "Wheel-Version: 1.0\nGenerator: lathe\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write(folder: Path) -> Path:
    """The wheel in `folder`: the same bytes for the same sources."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = _of(project, r'^version = "(.+)"$')
    facts = {
        "version": version,
        "python": _of(project, r'^requires-python = "(.+)"$'),
        "numpy": _of(project, r'^  "(numpy.+)",$'),
    }
    info = f"lathe_runtime-{version}.dist-info"
    files = {
        f"lathe_runtime/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes() for path in PACKAGE.rglob("*.py")
    }
    files |= {
        "lathe_runtime/py.typed": b"",
        f"{info}/METADATA": _METADATA.format(**facts).encode(),
        f"{info}/WHEEL": _WHEEL.encode(),
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    rows = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in sorted(files.items())]
    files[f"{info}/RECORD"] = ("\n".join([*rows, f"{info}/RECORD,,"]) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"lathe_runtime-{version}-py3-none-any.whl"
    made.write_bytes(_zipped(files))
    return made


def _zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            archive.writestr(entry, data)
    return buffer.getvalue()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _of(text: str, pattern: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"pyproject.toml has no line like {pattern}")
    return found[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder; default: dist/")
    made = write(parser.parse_args().output)
    print(f"{made}: {made.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
