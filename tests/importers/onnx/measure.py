"""Imports every model of a folder in a process of its own, and prints what became of it and what it took.

    python -m tests.importers.onnx.measure FOLDER

One line of JSON each: [name, kind of error or "imported", seconds, peak of the memory in KiB]. A process may not take
more than LIMIT bytes beyond what the importer itself needs, so that a file that asks for more fails there.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import onnx

from buildtool.errors import LatheError
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.mistakes import healthy

LIMIT = 2**30


def _attempt(file: Path) -> str:
    try:
        optimise(import_model(ImportRequest("hostile", file)).graph)
    except LatheError as problem:
        return type(problem).__name__
    except BaseException as problem:
        return f"{type(problem).__name__}: {problem}"
    return "imported"


def _mapped() -> int:
    """Bytes of address space in use."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def main() -> None:
    """Measure all files."""
    with tempfile.TemporaryDirectory() as folder:  # what is loaded now is not loaded in every process
        healthy_file = Path(folder) / "healthy.onnx"
        onnx.save(healthy(), healthy_file)
        if _attempt(healthy_file) != "imported":
            raise SystemExit("the healthy model cannot be imported")
    for file in sorted(Path(sys.argv[1]).glob("*.onnx")):
        reading, writing = os.pipe()
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_AS, (_mapped() + LIMIT,) * 2)
            os.write(writing, _attempt(file).encode()[:1000])
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            kind = pipe.read().decode(errors="replace") or "died"
        _, _, usage = os.wait4(child, 0)
        line = json.dumps([file.stem, kind, time.monotonic() - started, usage.ru_maxrss])
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
