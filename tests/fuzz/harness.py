"""What all fuzz targets share: limits, and a note of every input that broke a promise.

A target promises that an input gives a result or a `LatheError` that is not a defect of Lathe, within MOST_SECONDS and
MOST_BYTES. What breaks it is written down once per place in the code, and fuzzing goes on; only what does not come back
to Python, or ends the process, ends a run, and `python -m tests.fuzz` then starts the next one.
"""

from __future__ import annotations

import hashlib
import os
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import atheris
import numpy as np

MOST_SECONDS = 5.0  # of the processor, not of the clock: other programs may want the machine too
MOST_BYTES = 2**30
#: Set by `python -m tests.fuzz`: where findings go, and the input that runs now.
FOLDER = Path(os.environ.get("LATHE_FUZZ_FOLDER", "build/fuzz/by-hand"))

Target = Callable[[bytes], None]
Mutator = Callable[[bytes, int, int], bytes]


class TooSlow(BaseException):
    """Raised where an input has used up its time. No code catches it by chance."""


def instrumented() -> AbstractContextManager[Any]:
    """Import Lathe inside of this context: its branches then guide the fuzzer."""
    context: AbstractContextManager[Any] = atheris.instrument_imports(include=["buildtool"])
    return context


def fuzz(target: Target, mutator: Mutator | None = None) -> None:
    """Runs a target until the fuzzer's command line says that it is enough. Does not come back."""
    from buildtool.errors import InternalError, LatheError

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    findings = FOLDER / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    current = FOLDER / "current"
    signal.signal(signal.SIGVTALRM, _stop)

    def one(data: bytes) -> None:
        current.write_bytes(data)
        peak, resident = _peak(), _resident()
        signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
        try:
            target(data)
        except InternalError as problem:
            _note(findings, data, problem)
        except LatheError:
            pass
        except (Exception, TooSlow) as problem:  # every one of them is a finding
            _note(findings, data, problem)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if _peak() > max(peak, resident + MOST_BYTES):
            _note(findings, data, MemoryError(f"{(_peak() - resident) >> 20} MiB more than before"))

    options: dict[str, Any] = {} if mutator is None else {"custom_mutator": mutator}
    atheris.Setup(sys.argv, one, **options)
    atheris.Fuzz()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def _stop(_: int, __: FrameType | None) -> None:
    raise TooSlow(f"more than {MOST_SECONDS} s")


def _note(findings: Path, data: bytes, problem: BaseException) -> None:
    """Writes an input and what it did, once for each kind of exception and place."""
    text = "".join(traceback.format_exception(problem))
    place = _innermost(problem.__traceback__)
    message = re.sub(r"'[^']*'|\d+", "", str(problem)) if type(problem).__name__ == "InternalError" else ""
    name = hashlib.sha256(f"{type(problem).__name__} {place} {message[:100]}".encode()).hexdigest()[:12]
    if not (findings / f"{name}.txt").exists():
        (findings / f"{name}.bin").write_bytes(data)
        (findings / f"{name}.txt").write_text(f"{place}\n{text}", encoding="utf-8", errors="replace")


def _innermost(trace: TracebackType | None) -> str:
    """The last place of Lathe's own code on the way to an exception."""
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if f"{os.sep}buildtool{os.sep}" in frame.filename]
    last = (own or frames)[-1:] or []
    return f"{last[0].filename.rpartition(f'{os.sep}buildtool{os.sep}')[2]}:{last[0].lineno}" if last else "nowhere"
