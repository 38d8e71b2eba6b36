"""Columns of kernel memory: which are free, as layers take them one after the other."""

from __future__ import annotations

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x import limits
from buildtool.targets.max7800x.devices import PROCESSORS, PROCESSORS_PER_QUADRANT, Device
from buildtool.targets.max7800x.firmware import bias_memory, kernel_memory
from buildtool.targets.max7800x.firmware.hardware import layers_of
from buildtool.targets.max7800x.firmware.registers import quadrants_of
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.planning import plan_sizes as sizes
from buildtool.targets.max7800x.processors import per_pass, used

_STEP = 4  # kernels of a layer begin at a multiple of so many columns


_ALL = (1 << PROCESSORS) - 1


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


def missing(network: Network) -> int:
    """How many columns are too few, by a count of columns: what is stored twice is not looked for."""
    memory = Columns()
    short = 0
    for layer in sorted(network.layers, key=lambda layer: layer.processors != _ALL):
        count = sizes.columns(layer)
        if count:
            start = memory.start(layer.processors, count)
            memory.take(layer.processors, start, count)
            short += max(0, start + count - min(_held(network.device, one) for one in used(layer.processors)))
    return short


def is_overfull(network: Network) -> bool:
    """Whether kernels cannot fit, wherever they go."""
    device = network.device
    needed = sum(sizes.columns(layer) * per_pass(layer.in_channels) for layer in network.layers)
    return needed > sum(_held(device, processor) for processor in range(PROCESSORS))


def _held(device: Device, processor: int) -> int:
    return device.kernel_columns if processor % PROCESSORS_PER_QUADRANT else device.first_kernel_columns


def require_room(network: Network) -> None:
    """Of a placed network: NoColumnsError where kernels do not fit, UnsupportedError where anything else does not."""
    layers = layers_of(network)
    limits.check(network, layers)
    try:
        kernel_memory.place(network.device, layers)
    except UnsupportedError as problem:
        raise NoColumnsError(problem.problems) from problem
    bias_memory.place(network.device, layers, quadrants_of(layers))
