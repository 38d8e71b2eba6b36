"""Runs a program that was written for Paddle-Lite's Python interface.

python -m lathe_runtime.paddle [--library FILE] program.py ARGUMENTS
"""

from __future__ import annotations

import runpy
import sys
import types
from pathlib import Path

from .. import paddle  # noqa: TID252

#: The names under which programs import the interface.
NAMES = ("paddlelite.lite", "lite", "lite_core", "paddlelite.lite_core")


def main(words: list[str]) -> int:
    """`words`: those of the command line."""
    if words[:1] == ["--library"] and len(words) > 1:
        paddle.use_library(words[1])
        words = words[2:]
    if not words or words[0].startswith("-"):
        sys.stderr.write((__doc__ or "").split("\n\n")[1].strip() + "\n")
        return 2
    package = types.ModuleType("paddlelite")
    package.__path__ = []
    sys.modules["paddlelite"] = package
    for name in NAMES:
        sys.modules[name] = paddle
    package.lite = paddle  # type: ignore[attr-defined]
    sys.argv = words
    sys.path[0] = str(Path(words[0]).resolve().parent)
    runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
