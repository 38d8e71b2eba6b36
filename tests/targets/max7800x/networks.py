"""Random networks that the accelerators can compute, as a strategy of hypothesis. Their places are not chosen.

@given(networks())                          # of either device
@given(networks(MAX78000, layers=4))        # at most 4 steps
sample_for(network, seed)                   # something to give it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.network import INPUT, UNPLACED, Kernel, Layer, Network, Pool, Size
from buildtool.targets.max7800x.simulation import arithmetic

T = TypeVar("T")
LARGEST_SIDE = 20
MOST_CHANNELS = 80  # more than there are processors
_FLATTENED_PIXELS = 16  # for each processor
_LARGEST_FLATTENED = 64 * _FLATTENED_PIXELS


def networks(device: Device | None = None, layers: int = 6) -> st.SearchStrategy[Network]:
    """Networks of one device, or of any."""
    return _networks(device, layers)


def sample_for(network: Network, seed: int = 0) -> NDArray[np.int64]:
    """Anything a network may be given."""
    shape = (network.input_channels, *network.input_size)
    return np.random.default_rng(seed).integers(-128, 128, shape, dtype=np.int64)


@st.composite
def _networks(draw: Callable[[st.SearchStrategy[Any]], Any], device: Device | None, layers: int) -> Network:
    growing = _Growing(draw, device or draw(st.sampled_from((MAX78000, MAX78002))))
    for _ in range(draw(st.integers(1, layers))):
        growing.grow()
    return growing.network()


class _Growing:
    """A network to which layers are added."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], device: Device) -> None:
        self.draw = draw
        self.device = device
        self.rng = np.random.default_rng(self.number(0, 2**16))
        self.single_bit = 1 if device is MAX78000 else self.one_of((1, -1))  # not both in one network
        one_dimensional = self.chance(5)
        size = (self.number(1, LARGEST_SIDE), 1 if one_dimensional else self.number(1, LARGEST_SIDE))
        self.input = (self.number(1, 12), *size)
        self.shapes = {INPUT: self.input}  # of what may be read
        self.layers: list[Layer] = []

    def number(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def one_of(self, things: Sequence[T]) -> T:
        return things[self.number(0, len(things) - 1)]

    def chance(self, of: int) -> bool:
        """Once in so many times."""
        return self.number(1, of) == of

    def network(self) -> Network:
        """With a last layer whose sums may stay whole, unless it is depthwise: those have few time slots."""
        last = self.layers[-1]
        depthwise = last.kernel is not None and last.kernel.groups > 1
        if (last.kernel is not None or last.eltwise is not None) and not depthwise and self.chance(3):
            self.layers[-1] = replace(last, output_width=32, activation=None, output_shift=0)
        return Network(
            "random",
            self.device,
            tuple(self.layers),
            self.input[0],
            self.input[1:],
            average_rounds=self.chance(2),
        )

    def grow(self) -> None:
        sources = self.sources()
        kinds = [self.convolution_2d, self.convolution_2d, self.transposed, self.one_dimensional, self.passthrough]
        channels, rows, columns = self.joined(sources)
        if channels <= 64 and rows * columns <= _FLATTENED_PIXELS:
            kinds += [self.flattening]
        if len(sources) == 1 and sources != (INPUT,):
            kinds += [self.elementwise, self.elementwise]
        if self.device is MAX78002:
            kinds += [self.depthwise]
        self.one_of(kinds)(sources)

    def sources(self) -> tuple[int, ...]:
        """The last layer, another one, or some that may lie side by side."""
        first = max(self.shapes) if not self.chance(4) else self.one_of(sorted(self.shapes))
        channels, *size = self.shapes[first]
        beside = [at for at, shape in self.shapes.items() if list(shape[1:]) == size and at not in (first, INPUT)]
        if first == INPUT or channels % 4 or not beside or not self.chance(2):
            return (first,)
        second = self.one_of(sorted(beside))
        return (first, second) if channels + self.shapes[second][0] <= MOST_CHANNELS else (first,)

    def joined(self, sources: Sequence[int]) -> tuple[int, int, int]:
        return (sum(self.shapes[source][0] for source in sources), *self.shapes[sources[0]][1:])

    def add(self, operation: Any, sources: tuple[int, ...], size: Size, **what: Any) -> None:
        """A layer that gives what its parts say; `size` is that of its input."""
        channels = self.joined(sources)[0] // what.get("operands", 1)
        pooled = arithmetic.pooled_size(size, what.get("pool"))
        kernel: Kernel | None = what.get("kernel")
        if kernel is None:
            shape = (channels, *pooled)
        else:
            walk = arithmetic.geometry(operation, (1, 1) if what.get("flatten") else pooled, kernel)
            shape = (len(kernel.weights), *walk.out_size)
        index = len(self.layers)
        self.layers.append(
            Layer(
                index,
                f"layer {index}",
                operation,
                sources,
                channels,
                size,
                0,
                UNPLACED,
                out_channels=shape[0],
                out_size=shape[1:],
                out_offset=UNPLACED,
                **what,
            )
        )
        self.shapes[index] = shape

    def pool(self, size: Size, *, one_dimensional: bool = False) -> Pool | None:
        """One that leaves something of this size. One dimension has one number, two share the stride."""
        if not self.chance(3):
            return None
        dilation = (self.number(1, 2), 1 if one_dimensional else self.number(1, 2))
        if self.device is MAX78000:
            dilation = (1, 1)
        windows = [min(15, side - 1) // step + 1 for side, step in zip(size, dilation, strict=True)]
        window = (self.number(1, windows[0]), 1 if one_dimensional else self.number(1, windows[1]))
        stride = self.number(1, 16 if self.chance(4) else 3)
        kind = "average" if self.chance(2) and window != (1, 1) else "max"
        return Pool(kind, window, (stride, 1 if one_dimensional else stride), dilation)  # type: ignore[arg-type]

    def kernel(self, out_channels: int, per_group: int, window: Size, **more: Any) -> dict[str, Any]:
        """The kernel of a layer, and what is done with its sums."""
        bits = self.one_of((8, 8, 8, 4, 2, self.single_bit))
        shape = (out_channels, per_group, *window)
        if bits == -1:
            weights = self.rng.choice(np.array([-1, 1]), shape)
        else:
            weights = self.rng.integers(-(1 << (bits - 1)), max(1 << (bits - 1), 1), shape)
        bias = None if self.chance(2) else self.rng.integers(-128, 128, out_channels).astype(np.int8)
        # Mostly a shift that leaves values neither at zero nor at their ends.
        typical = -round(float(np.log2(per_group * window[0] * window[1] + 1)) / 2)
        total = self.number(-15, 15) if self.chance(5) else typical + self.number(-1, 2)
        return {
            "kernel": Kernel(weights.astype(np.int8), bits, bias, size=window, **more),
            "output_shift": total - (8 - abs(bits)),
            "activation": self.one_of((None, "relu", "relu", "abs")),
        }

    def out_channels(self) -> int:
        return self.number(65, MOST_CHANNELS) if self.chance(10) else self.number(1, 24)

    def convolution_2d(self, sources: tuple[int, ...]) -> None:
        channels, *size = self.joined(sources)
        pool = self.pool((size[0], size[1]))
        rows, columns = arithmetic.pooled_size((size[0], size[1]), pool)
        pad = self.number(0, 2)
        window = (3, 3) if min(rows, columns) + 2 * pad >= 3 and not self.chance(4) else (1, 1)
        made = self.kernel(self.out_channels(), channels, window, pad=(pad, pad))
        self.add("conv2d", sources, (size[0], size[1]), pool=pool, **made)

    def depthwise(self, sources: tuple[int, ...]) -> None:
        channels, rows, columns = self.joined(sources)
        made = self.kernel(channels, 1, (3, 3), pad=(1, 1), groups=channels)
        self.add("conv2d", sources, (rows, columns), **made)

    def transposed(self, sources: tuple[int, ...]) -> None:
        channels, rows, columns = self.joined(sources)
        if max(rows, columns) * 2 > 2 * LARGEST_SIDE:
            return self.passthrough(sources)
        pad = self.number(0, 2) if min(rows, columns) > 1 else self.number(0, 1)
        more = {"stride": (2, 2), "output_pad": (1, 1), "pad": (pad, pad)}
        made = self.kernel(self.out_channels(), channels, (3, 3), **more)
        return self.add("convtranspose2d", sources, (rows, columns), **made)

    def one_dimensional(self, sources: tuple[int, ...]) -> None:
        channels, rows, columns = self.joined(sources)
        size = (rows * columns, 1)
        pool = self.pool(size, one_dimensional=True)
        length = arithmetic.pooled_size(size, pool)[0]
        pad = self.number(0, 2)
        window = self.number(1, min(9, length + 2 * pad))
        dilations = [step for step in (1, 1, 2, 3, 4) if step * (window - 1) < min(9, length + 2 * pad)]
        more = {"pad": (pad, 0), "dilation": (self.one_of(dilations), 1)}
        made = self.kernel(self.out_channels(), channels, (window, 1), **more)
        self.add("conv1d", sources, size, pool=pool, **made)

    def flattening(self, sources: tuple[int, ...]) -> None:
        channels, *size = self.joined(sources)
        pool = self.pool((size[0], size[1]))
        rows, columns = arithmetic.pooled_size((size[0], size[1]), pool)
        made = self.kernel(self.out_channels(), channels * rows * columns, (1, 1), pad=(0, 0))
        self.add("linear", sources, (size[0], size[1]), pool=pool, flatten=True, **made)

    def passthrough(self, sources: tuple[int, ...]) -> None:
        _, rows, columns = self.joined(sources)
        self.add("none", sources, (rows, columns), pool=self.pool((rows, columns)))

    def elementwise(self, sources: tuple[int, ...]) -> None:
        """Operands are copies that leave gaps for each other, or layers of one shape that a copy is made of."""
        shape = self.shapes[sources[0]]
        alike = [at for at, other in self.shapes.items() if other == shape]
        count = self.number(2, 16 if self.chance(5) else 3)
        operands = []
        for _ in range(count):
            self.add("none", (self.one_of(sorted(alike)),), shape[1:], write_gap=count - 1)
            operands.append(len(self.layers) - 1)
        what: dict[str, Any] = {"operands": count, "eltwise": self.one_of(("add", "sub", "or", "xor"))}
        what |= {"pool": self.pool(shape[1:]), "pool_first": count > 2 or self.chance(2)}
        by_rows = self.device is MAX78000 and shape[0] > 64 and count > 2  # then it does nothing else
        what |= {"pool": None} if by_rows else {}
        if by_rows or self.chance(2):
            self.add("none", tuple(operands), shape[1:], **what)
        else:
            pooled = arithmetic.pooled_size(shape[1:], what["pool"])
            window = (3, 3) if min(pooled) >= 3 else (1, 1)
            made = self.kernel(self.out_channels(), shape[0], window, pad=(0, 0))
            self.add("conv2d", tuple(operands), shape[1:], **what, **made)
        for operand in operands:  # nobody else may read it: the MAX78000 does not step over gaps
            del self.shapes[operand]
