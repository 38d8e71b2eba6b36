"""Columns of kernel memory: which are free, as layers take them one after the other."""

from __future__ import annotations

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x import bias_memory, kernel_memory, limits
from buildtool.targets.max7800x.devices import PROCESSORS
from buildtool.targets.max7800x.hardware import layers_of
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.processors import used
from buildtool.targets.max7800x.registers import quadrants_of

_STEP = 4  # kernels of a layer begin at a multiple of so many columns


class NoColumnsError(UnsupportedError):
    """The kernel memory is too small; fewer bits would help."""


class Columns:
    """The kernels of each processor, as ranges of columns. Those of a layer begin at one column everywhere."""

    def __init__(self) -> None:
        self._taken: list[list[tuple[int, int]]] = [[] for _ in range(PROCESSORS)]

    def start(self, mask: int, count: int) -> int:
        """The first column from which so many are free on all processors; it may be too near the end."""
        taken = sorted(one for processor in used(mask) for one in self._taken[processor])
        start = 0
        for begin, end in taken:
            if start + count <= begin:
                break
            start = max(start, -(-end // _STEP) * _STEP)
        return start

    def take(self, mask: int, start: int, count: int) -> None:
        for processor in used(mask):
            self._taken[processor].append((start, start + count))

    def level(self, mask: int) -> int:
        """How high the kernels of these processors reach."""
        return max((end for processor in used(mask) for _, end in self._taken[processor]), default=0)


def require_room(network: Network) -> None:
    """Of a placed network: NoColumnsError where kernels do not fit, UnsupportedError where anything else does not."""
    layers = layers_of(network)
    limits.check(network, layers)
    try:
        kernel_memory.place(network.device, layers)
    except UnsupportedError as problem:
        raise NoColumnsError(problem.problems) from problem
    bias_memory.place(network.device, layers, quadrants_of(layers))
