"""Runs clang-tidy over the native runtime and shared kernel code: `make tidy`.

`.clang-tidy` says which checks. Files are those that are compiled for every machine: units of single instruction sets
(`__avx2.cc` and the like) are templates over the headers that these include.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = (
    "native/runtime/*.cc",
    "native/kernel/*.cc",
    "native/kernel/*/*.cc",
    "native/opencl/*.cc",
    "native/hexagon/*.cc",
)
FLAGS = ("-xc++", "-std=c++17", "-fno-exceptions", "-fno-rtti", f"-I{ROOT}", f"-I{ROOT / 'native' / 'include'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="default: all of them")
    parser.add_argument("--program", default="clang-tidy")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    files = options.files or sources()
    with ThreadPoolExecutor(options.workers) as pool:
        reports = list(pool.map(lambda file: check(options.program, file), files))
    problems = [report for report in reports if report]
    print("\n".join(problems), end="")
    print(f"clang-tidy: {len(files)} files, {len(problems)} with problems", file=sys.stderr)
    return 1 if problems else 0


def sources() -> list[Path]:
    """Those that no instruction set is named in."""
    found = (path for pattern in PATTERNS for path in ROOT.glob(pattern))
    return sorted(path for path in found if "__" not in path.name)


def check(program: str, file: Path, flags: Sequence[str] = FLAGS) -> str:
    """What is wrong with a file; empty where nothing is."""
    command = [program, "--quiet", str(file), "--", *flags]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    return done.stdout or f"{file}: {program} answered {done.returncode}\n{done.stderr}"


if __name__ == "__main__":
    sys.exit(main())
