"""What nodes of a model become: convolutions of the KPU, or layers of the CPU."""

from __future__ import annotations

from dataclasses import dataclass, field

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Array
from buildtool.targets.k210.generation.activation import Function
from buildtool.targets.k210.generation.forms import Border, Pick


@dataclass(eq=False)
class Convolution:
    """One layer of the KPU. `weights` are [O, I, k, k], or [C, 1, k, k] of a depthwise one."""

    node: Node
    x: Value
    y: Value
    weights: Array
    bias: Array
    depthwise: bool
    functions: list[Function] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # what the functions are called
    pool: int = 0
    pooled: Value | None = None  # what the pool is of: the range of means is not that of the numbers
    pick: Pick = field(default_factory=Pick)  # what the CPU takes of the result
    late: bool = False  # the next layer leaves out what is not wanted

    def function(self, sums: Array) -> Array:
        for one in self.functions:
            sums = one(sums)
        return sums

    @property
    def kernel(self) -> int:
        return int(self.weights.shape[-1])


@dataclass(eq=False)
class OnCpu:
    """A node that layers of the CPU do, of any operator that `on_cpu` knows."""

    node: Node
    a: Value | None = None  # where operands are not those of the node
    b: Value | None = None
    functions: list[Function] = field(default_factory=list)

    def function(self, values: Array) -> Array:
        for one in self.functions:
            values = one(values)
        return values


@dataclass(eq=False)
class Bordered:
    """A picture in front of a convolution whose windows begin or end farther outside than those of the KPU."""

    node: Node
    x: Value
    y: Value
    border: Border


@dataclass(eq=False)
class Spread:
    """A picture as often as a kernel has taps, side by side along the channels, each as its tap sees it.

    A 1x1 convolution of that is exactly the convolution with the kernel, however large or dilated.
    """

    node: Node
    x: Value
    y: Value
    border: Border
    taps: tuple[tuple[int, int], ...]  # where each begins, in the picture with its border
    strides: tuple[int, int]


@dataclass(eq=False)
class Folded:
    """A list as planes of 3x3, for a product of more numbers than the KPU has channels: a window sees all of them."""

    node: Node
    x: Value
    y: Value
    channels: int


@dataclass(eq=False)
class Dense:
    """A fully connected layer of the CPU. Of pictures, channels come before rows and columns in `weights`."""

    node: Node
    weights: Array  # outputs, inputs
    bias: Array
    act: int  # a word of that layer


Job = Convolution | OnCpu | Bordered | Spread | Folded | Dense
