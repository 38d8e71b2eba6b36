"""Runs Python scripts that may execute what strangers wrote, where they can do no harm.

A script in a jail reads the files that it is given, and Python's own; it writes files that exist already, and no
others. It has no network, starts no process, reaches no other one, and ends when its share of time or memory is used
up. The kernel sees to that, by Landlock and a filter of system calls (Linux 5.13 and later); what a kernel lacks is an
error, never a jail with a gap.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_INSIDE = Path(__file__).with_name("inside.py")
_LAST_WORDS = 1 << 14  # bytes of stderr that are looked at
_LONGEST_LINE = 1000
_KEPT = ("LD_LIBRARY_PATH", "PYTHONPATH")  # of the environment, which may hold secrets
_MEBIBYTE = 1 << 20


class NoJailError(Exception):
    """Why scripts cannot be locked up on this machine."""


@dataclass(frozen=True)
class Limits:
    """What a script may use up."""

    processor_seconds: int = 60
    seconds: float = 300.0
    memory: int = 2048 * _MEBIBYTE  # bytes
    written: int = 256 * _MEBIBYTE  # bytes of each file

    def by_kind(self) -> dict[str, int]:
        """By the names of the module `resource`."""
        return {
            "RLIMIT_CPU": self.processor_seconds,
            "RLIMIT_DATA": self.memory,
            "RLIMIT_AS": self.memory + 64 * 1024 * _MEBIBYTE,  # room for libraries, and pages that are only reserved
            "RLIMIT_STACK": 64 * _MEBIBYTE,
            "RLIMIT_FSIZE": self.written,
            "RLIMIT_NOFILE": 256,
            "RLIMIT_CORE": 0,
        }


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Ended:
    """How a script ended."""

    code: int  # negative: the signal
    last_words: str  # the last line on stderr, without what could address a terminal
    exceeded: str = ""  # the limit that ended it


def run(
    script: Path,
    arguments: Sequence[str],
    *,
    read: Sequence[Path],
    write: Sequence[Path],
    limits: Limits = DEFAULT_LIMITS,
    python: str = sys.executable,
    flags: Sequence[str] = ("-I",),
) -> Ended:
    """Run a script in a jail. `write`: files; they are made empty here. NoJailError where there can be none.

    Its environment is empty, its folder a new one in which it can make nothing.
    """
    for file in write:
        file.write_bytes(b"")
    given, taken = os.pipe()
    try:
        order = {
            "read": [str(path.resolve()) for path in read],
            "write": [str(path.resolve()) for path in write],
            "limits": limits.by_kind(),
            "pid": os.getpid(),
            "ready": taken,
        }
        command = [python, *flags, str(_INSIDE), json.dumps(order), str(script), *arguments]
        with tempfile.TemporaryDirectory(prefix="lathe-jail-") as folder, tempfile.TemporaryFile() as errors:
            environment = _environment(folder)
            with _started(command, errors, folder, (taken,), environment) as process:
                os.close(taken)
                taken = -1
                late = not _waited(process, limits.seconds)
            stands, words = os.read(given, 1) == b"1", _last_words(errors)
    finally:
        os.close(given)
        if taken >= 0:
            os.close(taken)
    if not stands:
        raise NoJailError(words or f"the process that enters the jail ended with exit code {process.returncode}")
    return Ended(process.returncode, words, _exceeded(process.returncode, words, limits, late))


def run_unguarded(
    script: Path,
    arguments: Sequence[str],
    *,
    seconds: float,
    python: str = sys.executable,
    flags: Sequence[str] = ("-I",),
) -> Ended:
    """The same for scripts whose work is trusted: with the environment and the rights of this process."""
    command = [python, *flags, str(script), *arguments]
    with tempfile.TemporaryFile() as errors:
        with _started(command, errors, None, (), None) as process:
            late = not _waited(process, seconds)
        words = _last_words(errors)
    return Ended(process.returncode, words, f"{seconds:g} seconds" if late else "")


def _environment(folder: str) -> Mapping[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    named = dict.fromkeys(("HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR"), folder)
    user = dict.fromkeys(("USER", "LOGNAME"), "lathe")  # otherwise libraries look into the list of users
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **named, **user, **kept}


@contextmanager
def _started(
    command: Sequence[str],
    errors: IO[bytes],
    folder: str | None,
    kept: Sequence[int],
    environment: Mapping[str, str] | None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process with a session of its own, none of which is left behind."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        cwd=folder,
        env=environment,
        pass_fds=kept,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _waited(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it ended in time."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _last_words(errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _LAST_WORDS))
    lines = [line.strip() for line in errors.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return "".join(letter if letter.isprintable() else "?" for letter in lines[-1])[:_LONGEST_LINE] if lines else ""


def _exceeded(code: int, words: str, limits: Limits, late: bool) -> str:
    if late:
        return f"{limits.seconds:g} seconds"
    if code == -signal.SIGXCPU:
        return f"{limits.processor_seconds} seconds of processor time"
    if code == -signal.SIGKILL:  # who does not listen to the signal of the limit, or who the system chose
        return f"{limits.processor_seconds} seconds of processor time, or the memory of this machine"
    signs = ("MemoryError", "can't allocate memory", "bad_alloc", "Cannot allocate memory")
    if code and any(sign in words for sign in signs):
        return f"{limits.memory // _MEBIBYTE} MiB of memory"
    return ""
