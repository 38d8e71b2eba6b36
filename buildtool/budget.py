"""How much of a stranger's file may be made while it is read: nodes, bytes, and seconds of the processor.

A reader that follows what a file says may be led to work without end by a file of a kilobyte: loops in loops, a weight
that a thousand nodes share, numbers that are repeated a million times. So whoever reads a file opens a budget in
proportion to its size, and everything that makes something of it takes from that: `with limited(...)`, then `nodes`,
`made` and `spend_time`. Outside of a budget nothing is counted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from buildtool.errors import ModelFileError, Where

NODES, NODES_PER_BYTE = 20_000, 1 / 4  # the smallest node of any format that does something has about 20 bytes
BYTES, BYTES_PER_BYTE = 512 << 20, 32  # weights of 4 bits that become floats, twice, are 16 times as large
SECONDS, SECONDS_PER_BYTE = 4.0, 5e-6  # a chain of 100,000 ONNX nodes has 3.3 MB and takes 6 s
#: The environment variable that allows more seconds, on slow machines.
VARIABLE = "LATHE_READ_SECONDS"
_DAMAGED = "if the file comes from somebody whom you do not know, do not use it"


@dataclass
class Budget:
    """What is left for one file."""

    where: Where
    size: int  # bytes of the file, with those that belong to it
    _nodes: float = field(init=False)
    _bytes: float = field(init=False)
    _seconds: float = field(init=False)
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._nodes = NODES + NODES_PER_BYTE * self.size
        self._bytes = BYTES + BYTES_PER_BYTE * self.size
        self._seconds = max(SECONDS + SECONDS_PER_BYTE * self.size, _asked_seconds())
        self._began = time.thread_time()

    def nodes(self, count: int) -> None:
        self._nodes -= count
        if self._nodes < 0:
            self._refuse("nodes", f"{int(NODES + NODES_PER_BYTE * self.size):,} nodes", _DAMAGED)
        self.spend_time()

    def made(self, size: int) -> None:
        self._bytes -= size
        if self._bytes < 0:
            self._refuse("tensors", f"{(BYTES + BYTES_PER_BYTE * self.size) >> 20:,} MiB of tensors", _DAMAGED)

    def spend_time(self) -> None:
        if time.thread_time() - self._began > self._seconds:
            slow = f"; if you trust it and this machine is slow, set {VARIABLE} to more seconds"
            self._refuse("work", f"{self._seconds:.1f} seconds of processor time", _DAMAGED + slow)

    def _refuse(self, of_what: str, most: str, remedy: str) -> None:
        raise ModelFileError(
            f"the file asks for {of_what} out of proportion to its size",
            where=self.where,
            rule=f"reading a file of {self.size:,} bytes may make or take at most {most}",
            remedy=remedy,
        )


_CURRENT: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def limited(where: Where, size: int) -> Iterator[None]:
    """Whatever is read meanwhile is a file of this size. A budget that is open already goes on."""
    if _CURRENT.get() is not None:
        yield
        return
    token = _CURRENT.set(Budget(where, size))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def nodes(count: int = 1) -> None:
    """Called for each node that is made. ModelFileError where these are too many, or take too long."""
    if budget := _CURRENT.get():
        budget.nodes(count)


def made(size: int) -> None:
    """Called with the bytes of each tensor, before it is made where that is possible."""
    if budget := _CURRENT.get():
        budget.made(size)


def spend_time() -> None:
    """Called in loops whose end the file decides."""
    if budget := _CURRENT.get():
        budget.spend_time()


def _asked_seconds() -> float:
    try:
        return float(os.environ.get(VARIABLE, 0))
    except ValueError:
        return 0.0
