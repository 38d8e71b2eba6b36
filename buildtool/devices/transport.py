"""The interface of a way to a device: how commands and files get there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

Execute = Callable[[Sequence[str], "IO[bytes] | None"], "Answer"]


@dataclass(frozen=True)
class Answer:
    """What a command on this machine said, one that did something on the device."""

    exit_code: int
    stdout: bytes
    stderr: str


@dataclass(frozen=True)
class Times:
    """Seconds that tell a slow device from one that has gone."""

    beat: float = 2.0  # between two signs of life; a device looks for ours every third of its patience
    silence: float = 7.0  # after which a device without a sign counts as gone, and on the device: we
    patience: float = 600.0  # for a device that somebody else uses


class Transport(Protocol):
    """One device, and the client program that reaches it. Scripts are for `sh`; paths are those of the device."""

    name: str  # for people
    root: str  # the folder on the device that holds our files; it may begin with ~/

    def keeping(self, script: str) -> Sequence[str]:
        """The command that runs a script there for as long as a job lasts, with our stdin as its own."""
        ...

    def command(self, script: str) -> Sequence[str]:
        """The command that runs a script there while a job lasts."""
        ...

    def asking(self, script: str) -> Sequence[str]:
        """The command that runs a script there outside of any job."""
        ...

    def send(self, source: Path, path: str, execute: Execute) -> Answer:
        """Write a file there."""
        ...

    def fetch(self, path: str, execute: Execute) -> Answer:
        """Read a file from there: its content is the answer's stdout."""
        ...

    def forwarding(self, port: int, execute: Execute) -> AbstractContextManager[str]:
        """While this lasts, a port of the device is also here: where, as gdb takes it."""
        ...

    def by_hand(self, files: Mapping[str, Path], command: str) -> tuple[list[str], str]:
        """What a person types to bring files there, and a command line here that runs a command beside them."""
        ...

    def remedy(self, said: str) -> str:
        """What a user can do where the client says this; empty where that is not known."""
        ...

    def close(self) -> None:
        """Forget the device."""
        ...
