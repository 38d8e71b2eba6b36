"""A job's hold on a device: what keeps it there, and what happens when one side does not hear of the other any more.

One process talks to `keeper.sh` on the device for as long as the job lasts. Lines go there and come back; where they
stop, both sides give up on their own: the device ends the job's programs and removes its files, and we end the commands
that wait for the device.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from buildtool.devices.transport import Times
from buildtool.errors import DeviceError

_ATTEMPT = 10.0  # seconds in which a device says its first word
_FAREWELL = 5.0  # seconds in which it cleans up


class Lease:
    """A context: at its end the device is given back."""

    def __init__(self, command: Sequence[str], name: str, times: Times, waiting: Callable[[str], None]) -> None:
        self.folder = ""  # of the job, on the device
        self.gone = ""  # why the device counts as lost; empty: it does not
        self._name = name
        self._times = times
        self._waiting = waiting
        self._guarded: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._closing = threading.Event()
        self._heard = time.monotonic()
        self._answer = ("", "")
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                start_new_session=True,  # Ctrl-C is for us; we end it in good order
            )
        except OSError as problem:
            raise DeviceError(f"'{command[0]}' cannot be started: {problem.strerror or problem}") from problem
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._beat)]
        for thread in self._threads:
            thread.start()

    def wait(self) -> None:
        """Until the device is ours. DeviceError where it does not become so."""
        began, told = time.monotonic(), ""
        while not self._ready.wait(0.05):
            word, rest = self._answer
            if word == "busy" and rest != told:
                told = rest
                self._waiting(f"{self._name} is in use by {rest}: waiting")
            if self.gone:
                break
            if not word and time.monotonic() - began > _ATTEMPT:
                self._lose(f"it does not answer within {_ATTEMPT:g} seconds")
        word, rest = self._answer
        if word == "busy" and not self._ready.is_set():
            raise DeviceError(
                f"{self._name} is in use by {rest}",
                rule="only one job at a time uses a device, so that measured times are correct",
                remedy="try again when it has finished, or wait longer with --timeout",
            )
        if word == "failed":
            raise DeviceError(f"{self._name} cannot take a job: {rest}", remedy=remedy_for(rest))

    def said(self) -> str:
        """What the client program complained about."""
        self._complaints.seek(0)
        return self._complaints.read().decode("utf-8", errors="replace").strip()

    @contextlib.contextmanager
    def guarding(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """While this lasts, the process ends when the device is lost."""
        with self._lock:
            self._guarded.add(process)
            if self.gone:
                kill(process)
        try:
            yield
        finally:
            with self._lock:
                self._guarded.discard(process)
            kill(process)

    def lost(self, seconds: float = 1.0) -> str:
        """Why the device counts as lost, given this time to find out."""
        until = time.monotonic() + seconds
        while not self.gone and time.monotonic() < until:
            time.sleep(0.02)
        return self.gone

    def close(self) -> None:
        """Let the device clean up, and end whatever still waits for it."""
        self._closing.set()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0 if self.gone else _FAREWELL)
        self._end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_FAREWELL)
        for thread in self._threads:
            thread.join(_FAREWELL)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._complaints.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._heard = time.monotonic()
            word, _, rest = line.decode("utf-8", errors="replace").strip().partition(" ")
            if not self._ready.is_set() and word in ("busy", "failed", "ready"):
                self._answer = (word, rest)
            if word == "ready":
                self.folder = rest
                self._ready.set()
        if not self._closing.is_set():
            self._lose("the connection ended")

    def _beat(self) -> None:
        assert self._process.stdin is not None
        while not self._closing.wait(self._times.beat):
            if self._answer[0] and time.monotonic() - self._heard > self._times.silence:
                self._lose(f"no response for {self._times.silence:g} seconds")
            if self.gone:
                return
            with contextlib.suppress(OSError, ValueError):  # whoever listens tells what has happened
                os.write(self._process.stdin.fileno(), b"beat\n")

    def _lose(self, why: str) -> None:
        with self._lock:
            self.gone = self.gone or why
        self._end()

    def _end(self) -> None:
        with self._lock:
            for process in (*self._guarded, self._process):
                kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process with its children, which has a session of its own."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def remedy_for(said: str) -> str:
    """What helps on every device where its own words are these."""
    if "No space left" in said or "Disk quota" in said:
        return "free space on its disk; `lathe devices --clear` removes files of earlier runs"
    return ""
