"""A network for a microcontroller: tensors, and layers that read and write them, in the order of execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.ir.operator import Operator
from buildtool.targets.micro.definitions.loops import Function

Bytes = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of the network. A batch of one is part of the shape."""

    name: str
    shape: tuple[int, ...]
    scale: float = 1.0
    zero: int = 0
    dtype: str = "int8"  # as NumPy calls it

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """One call of a kernel."""

    name: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    low: int = -128  # of the stored results
    high: int = 127

    @property
    def macs(self) -> int:
        return 0

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Window:
    """How a kernel moves over an image."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]  # top, left; the rest follows from the sizes
    dilations: tuple[int, ...] = (1, 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Conv(Layer):
    """A convolution. `weights`: [O, KH, KW, I]; scales and biases by output channel."""

    window: Window
    weights: Bytes
    bias: NDArray[np.int32]
    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]

    @property
    def macs(self) -> int:
        return self.output.elements * int(self.weights[0].size)


@dataclass(frozen=True, kw_only=True, eq=False)
class ConvNibbles(Conv):
    """A convolution whose weights have 4 bits."""

    @property
    def kind(self) -> str:
        return "conv"


@dataclass(frozen=True, kw_only=True, eq=False)
class Depthwise(Conv):
    """A convolution of each channel with filters of its own. `weights`: [O, KH, KW, 1]."""

    @property
    def multiplicity(self) -> int:
        return self.output.shape[3] // self.inputs[0].shape[3]


@dataclass(frozen=True, kw_only=True, eq=False)
class DepthwiseNibbles(Depthwise):
    """The same with weights of 4 bits."""

    @property
    def kind(self) -> str:
        return "depthwise"


@dataclass(frozen=True, kw_only=True, eq=False)
class Dense(Layer):
    """A product with a matrix. `weights`: [O, I]."""

    rows: int
    weights: Bytes
    bias: NDArray[np.int32]
    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]

    @property
    def macs(self) -> int:
        return self.rows * int(self.weights.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseNibbles(Dense):
    """A product with a matrix of 4 bits."""

    @property
    def kind(self) -> str:
        return "dense"


@dataclass(frozen=True, kw_only=True, eq=False)
class MaxPool(Layer):
    """The largest number of each window."""

    window: Window


@dataclass(frozen=True, kw_only=True, eq=False)
class AveragePool(Layer):
    """The mean of the part of each window that is inside the image; input and output have one scale."""

    window: Window


@dataclass(frozen=True, kw_only=True, eq=False)
class Mean(Layer):
    """The mean over the two axes of an image, stored in a scale of its own."""

    multiplier: int
    shift: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Add(Layer):
    """The sum of two tensors of one shape. Multipliers and shifts: of both inputs, and of the output."""

    multipliers: tuple[int, int, int]
    shifts: tuple[int, int, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Mul(Layer):
    """The product of two tensors of one shape."""

    multiplier: int
    shift: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Table(Layer):
    """Each byte replaced by the entry of a table: any function of one variable. `table`: by byte, from -128 on."""

    table: Bytes


@dataclass(frozen=True, kw_only=True, eq=False)
class Softmax(Layer):
    """Over the last axis. The exponentials of all 256 differences from the largest are stored, Q0.31."""

    exponentials: NDArray[np.int32]  # by difference, from 0 down to -255; 0 where it is too small


@dataclass(frozen=True, kw_only=True, eq=False)
class Lstm(Layer):
    """A recurrent layer with gates, from zero on. Gates in the order in, forget, new, out."""

    time_major: bool
    weights: Bytes  # [4, units, inputs]
    recurrent: Bytes  # [4, units, units]
    bias: NDArray[np.int32]  # [4, units]
    given: tuple[tuple[int, int], ...]  # multiplier and shift of each gate
    kept: tuple[tuple[int, int], ...]
    hidden: tuple[int, int]
    cell_shift: int  # fraction bits of the cells
    clip: int

    @property
    def batches(self) -> int:
        return self.output.shape[1 if self.time_major else 0]

    @property
    def steps(self) -> int:
        return self.output.shape[0 if self.time_major else 1]

    @property
    def macs(self) -> int:
        return self.batches * self.steps * int(self.weights.size + self.recurrent.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class SvdfFilters(Layer):
    """What filters give, behind what they gave in earlier runs. Inputs: x, and the state, over which it is written."""

    weights: Bytes  # [filters, inputs]
    memory: int
    factor: tuple[int, int]

    @property
    def macs(self) -> int:
        return self.inputs[0].shape[0] * int(self.weights.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class SvdfTimes(Layer):
    """The weights over time. Input: the state."""

    times: NDArray[np.int16]  # [filters, memory]
    bias: NDArray[np.int32]
    rank: int
    factor: tuple[int, int]

    @property
    def macs(self) -> int:
        return self.output.shape[0] * int(self.times.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class Concat(Layer):
    """Joins tensors; seen as rows, each input gives a run of bytes to each row."""

    rows: int
    runs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pad(Layer):
    """Puts a border around an image."""

    before: tuple[int, int]  # rows, columns
    value: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Move(Layer):
    """Copies bytes in another order, some of them several times or never. Loops from the innermost one on."""

    start: int
    loops: tuple[tuple[int, int], ...]  # count, and bytes of the input from one to the next


@dataclass(frozen=True, kw_only=True, eq=False)
class Gather(Layer):
    """Copies runs of bytes from the places of a list, for orders that loops do not make."""

    run: int
    places: NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Short(Layer):
    """A layer whose tensors have 16 bits, and no zero points."""

    low: int = -(1 << 15)
    high: int = (1 << 15) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class ConvShort(Short):
    """A convolution with weights of 8 bits, [O, KH, KW, I]; a product with a matrix is one over rows of one column.

    `exact`: multipliers have 31 bits, else 15.
    """

    window: Window
    weights: Bytes
    bias: NDArray[np.int64]
    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]
    exact: bool
    rows: int = 0  # of a product with a matrix

    @property
    def macs(self) -> int:
        return self.output.elements * int(self.weights[0].size)


@dataclass(frozen=True, kw_only=True, eq=False)
class DepthwiseShort(ConvShort):
    """A convolution of each channel with filters of its own. `weights`: [O, KH, KW, 1]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AddShort(Short):
    """The sum of two tensors of one shape. Multipliers and shifts: of both inputs, and of the output."""

    multipliers: tuple[int, int, int]
    shifts: tuple[int, int, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class MulShort(Short):
    """The product of two tensors of one shape."""

    multiplier: int
    shift: int


@dataclass(frozen=True, kw_only=True, eq=False)
class RescaleShort(Short):
    """From one scale to another."""

    multiplier: int
    shift: int


@dataclass(frozen=True, kw_only=True, eq=False)
class MaxPoolShort(Short):
    """The largest number of each window."""

    window: Window


@dataclass(frozen=True, kw_only=True, eq=False)
class AveragePoolShort(Short):
    """The mean of the part of each window that is inside the image; input and output have one scale."""

    window: Window


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveShort(Short):
    """Sigmoid or tanh, between the entries of a table. The factor scales the input to steps of 1 / 12288."""

    curve: str
    multiplier: int
    shift: int  # to the right


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxShort(Short):
    """Over the last axis. The factor scales differences to steps of 10 / 65535."""

    multiplier: int
    shift: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Keep(Layer):
    """Moves the rows of a buffer that later bands read to its start; input and output are parts of that buffer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Quantize(Layer):
    """From floats to bytes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dequantize(Layer):
    """From bytes to floats."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Defined(Layer):
    """Any operator, as a function of C that is made of its definition."""

    operator: Operator
    operands: tuple[NDArray[Any] | int, ...]  # constants, and places in `inputs`
    which: int  # the output of the operator
    function: Function
    products: int

    @property
    def macs(self) -> int:
        return self.products

    @property
    def kind(self) -> str:
        return self.operator.name


@dataclass(frozen=True)
class Banding:
    """What is known of layers that compute an image in bands of rows."""

    starts: Mapping[Tensor, int] = field(default_factory=dict)  # of parts of tensors: bytes from the start of the whole
    origins: Mapping[Layer, Layer] = field(default_factory=dict)  # of the layers of bands: the layer of the model
    #: Tensors and layers of bands that lie where those of an earlier band of the same shape lie.
    twins: Mapping[Tensor | Layer, Tensor | Layer] = field(default_factory=dict)
    #: By output and input of all bands: by how many bytes the output has to begin in front of the input.
    lags: Mapping[tuple[Tensor, Tensor], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Network:
    """Layers in order. A tensor that is another one with a new shape, or a part of it, has an entry in `aliases`."""

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    layers: tuple[Layer, ...]
    aliases: dict[Tensor, Tensor] = field(default_factory=dict)
    banding: Banding = field(default_factory=Banding)
    #: Inputs whose memory a run leaves as the next one needs it, and what they begin with.
    states: Mapping[Tensor, NDArray[Any]] = field(default_factory=dict)

    def storage(self, tensor: Tensor) -> Tensor:
        """The tensor whose memory holds this one."""
        while tensor in self.aliases:
            tensor = self.aliases[tensor]
        return tensor

    def start(self, tensor: Tensor) -> int:
        """Bytes from the start of the tensor that holds this one."""
        found = 0
        while tensor in self.aliases:
            found += self.banding.starts.get(tensor, 0)
            tensor = self.aliases[tensor]
        return found

    def origin(self, layer: Layer) -> Layer:
        """The layer of the model that a layer is a band of."""
        return self.banding.origins.get(layer, layer)

    @property
    def macs(self) -> int:
        return sum(layer.macs for layer in self.layers)


def names(tensors: Sequence[Tensor]) -> list[str]:
    return [tensor.name for tensor in tensors]
