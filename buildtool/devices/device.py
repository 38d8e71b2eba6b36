"""The interface of a device: files go there, a program runs there, files come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Protocol

DEFAULT_TIMEOUT = 600.0  # seconds; emulated ARM takes its time

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Completed:
    """A program that ended. `exit_code` is negative where a signal killed it, as in `subprocess`."""

    command: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str
    seconds: float


@dataclass(frozen=True)
class Gate:
    """Where gdb reaches a program that has stopped before its first instruction."""

    command: tuple[str, ...]  # the program with its arguments, as the device knows them
    target: str = ""  # what `target remote` takes; empty: gdb starts the program itself
    sysroot: str = ""  # where gdb finds the files of the device's system; empty: where they are on this machine


Put = Callable[[Path, bool], "str | PurePosixPath"]  # brings a file to a device, which may keep it; its path there
Arguments = Callable[[Put], "list[str | PurePosixPath]"]  # a program with its arguments, where files are put so


class Device(Protocol):
    """A machine that runs programs of one ABI. Paths on it are those that `push` and `path` give.

    A device is reached by the first thing that is asked of it, and then is ours alone until `close`. Everything that is
    pushed lives as long; a device may remember what it has seen, so that it comes faster the next time. Failures to
    reach the device, and programs that outlive their timeout, are DeviceErrors; a program that fails is a `Completed`
    like any other.
    """

    name: str
    abi: str

    def push(self, source: Path, name: str = "", *, lasting: bool = True) -> PurePosixPath:
        """Bring a file to the device, and tell its path there. What does not last is of this job only."""
        ...

    def push_folder(self, source: Path) -> PurePosixPath:
        """Bring a folder of files to the device for this job, and tell its path there."""
        ...

    def path(self, name: str) -> PurePosixPath:
        """Where a program may write a file of this name."""
        ...

    def keeping(self, folder: Path) -> PurePosixPath:
        """A folder there that outlives jobs, for what programs keep: this one, on this machine."""
        ...

    def run(
        self,
        command: Sequence[str | PurePosixPath],
        timeout: float = DEFAULT_TIMEOUT,
        variables: Mapping[str, str] = NO_VARIABLES,
    ) -> Completed:
        """Run a program that was pushed, with arguments, and with these variables beside those of the device."""
        ...

    def debugging(self, arguments: Arguments, server: Path | None = None) -> AbstractContextManager[Gate]:
        """A program that gdb controls, for as long as the context lasts. `server`: a gdbserver for the device."""
        ...

    def by_hand(self, arguments: Arguments) -> tuple[Gate, list[str]]:
        """The same as commands for a shell, of which none is run."""
        ...

    def pull(self, path: PurePosixPath, destination: Path) -> Path:
        """Bring a file from the device."""
        ...

    def properties(self) -> Mapping[str, str]:
        """What a report should say about the device."""
        ...

    def close(self) -> None:
        """End what runs there, remove the job's files, and let others use the device."""
        ...
