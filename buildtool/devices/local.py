"""This machine as a device. Files stay where they are; programs run in a folder of their own."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from buildtool.devices import probe
from buildtool.devices.device import DEFAULT_TIMEOUT, NO_VARIABLES, Arguments, Completed, Gate
from buildtool.errors import DeviceError, Where


class LocalDevice:
    """Runs programs of the machine's own architecture. `launcher` goes before every command (an emulator)."""

    def __init__(self, abi: str = "host", name: str = "local", launcher: Sequence[str] = ()) -> None:
        self.abi = abi
        self.name = name
        self._launcher = tuple(launcher)
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def push(self, source: Path, name: str = "", *, lasting: bool = True) -> PurePosixPath:
        """Files are used where they are; the rest matters to devices that copy."""
        if not source.exists():
            raise DeviceError(
                "this file does not exist", where=Where(file=str(source)), remedy="build the library again"
            )
        return PurePosixPath(source.resolve())

    def push_folder(self, source: Path) -> PurePosixPath:
        return self.push(source)

    def path(self, name: str) -> PurePosixPath:
        return PurePosixPath(self._own_folder()) / name

    def keeping(self, folder: Path) -> PurePosixPath:
        with contextlib.suppress(OSError):  # nothing is kept then
            folder.mkdir(parents=True, exist_ok=True)
        return PurePosixPath(folder)

    def run(
        self,
        command: Sequence[str | PurePosixPath],
        timeout: float = DEFAULT_TIMEOUT,
        variables: Mapping[str, str] = NO_VARIABLES,
    ) -> Completed:
        words = [*self._launcher, *(str(word) for word in command)]
        began = time.monotonic()
        try:
            process = subprocess.Popen(
                words,
                cwd=self._own_folder(),
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as problem:
            raise DeviceError(
                f"'{words[0]}' cannot be started: {problem.strerror or problem}", where=Where(file=words[0])
            ) from problem
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as problem:
            raise DeviceError(
                f"the program did not end within {timeout:g} seconds on {self.name}",
                where=Where(file=words[0]),
                remedy="give it more time, or fewer rounds",
            ) from problem
        finally:
            kill_group(process)
        return Completed(
            command=tuple(words),
            exit_code=process.returncode,
            stdout=stdout.decode("utf-8", errors="replace"),
            stderr=stderr.decode("utf-8", errors="replace"),
            seconds=time.monotonic() - began,
        )

    @contextlib.contextmanager
    def debugging(self, arguments: Arguments, server: Path | None = None) -> Iterator[Gate]:
        """gdb needs no server for programs of its own machine."""
        yield self.by_hand(arguments)[0]

    def by_hand(self, arguments: Arguments) -> tuple[Gate, list[str]]:
        return Gate(tuple(map(str, arguments(lambda file, lasting: self.push(file))))), []

    def pull(self, path: PurePosixPath, destination: Path) -> Path:
        """The file itself where no other place is asked for, else a copy."""
        source = Path(path)
        if not source.exists():
            raise DeviceError("the program did not write this file", where=Where(file=str(path)))
        if source != destination:
            destination.write_bytes(source.read_bytes())
        return destination

    def properties(self) -> Mapping[str, str]:
        said = {
            "device": self.name,
            "abi": self.abi,
            "machine": platform.machine(),
            "system": f"{platform.system()} {platform.release()}",
            "cores": str(os.cpu_count() or 1),
        }
        return said if self._launcher else {**said, **probe.of_this_machine()}  # an emulator is another machine

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None

    def _own_folder(self) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="lathe-run-")
        return self._folder.name


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a program that still runs, together with what it started."""
    if process.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
