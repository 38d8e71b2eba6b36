"""A network for the accelerator: every layer with every decision made, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.max7800x.devices import Device

# In `Layer.sources`; anything else is the number of a layer.
INPUT = -1  # what the network is given
BUFFER = -2  # the data buffer

Operation = Literal["conv1d", "conv2d", "convtranspose2d", "linear", "none"]
Eltwise = Literal["add", "sub", "or", "xor"]
Activation = Literal["relu", "abs"]
Pooling = Literal["max", "average"]
Size = tuple[int, int]  # rows, columns; of one-dimensional data the length and 1

# What says which layer comes next; anything else is the number of a layer.
STOP = -2

# An offset that the planner chooses; it also chooses processors where a mask is 0.
UNPLACED = -1


@dataclass(frozen=True)
class Source:
    """Where a layer was written, for messages."""

    file: str = ""
    line: int = 0
    node: str = ""  # of the graph, where a model was lowered


@dataclass(frozen=True)
class Pool:
    kind: Pooling
    size: Size  # 1 by 1: nothing is pooled, rows and columns are left out
    stride: Size
    dilation: Size = (1, 1)


@dataclass(frozen=True)
class Kernel:
    """What a convolution multiplies by: whole numbers, as the accelerator holds them.

    `weights` are [out, in / groups, rows, columns] ([out, in, length, 1] in one dimension; of a linear layer that
    flattens [out, channels * rows * columns, 1, 1] in the order channel, row, column), of a transposed convolution
    already turned and in this order: the plain convolution over the stuffed picture uses them as they are.
    """

    weights: NDArray[np.int8]
    bits: int = 8  # 8, 4, 2, 1; -1: plus and minus one (MAX78002)
    bias: NDArray[np.int8] | None = None  # as stored: 128 times this is added to the sums
    size: Size = (3, 3)
    stride: Size = (1, 1)
    pad: Size = (1, 1)
    dilation: Size = (1, 1)
    groups: int = 1
    output_pad: Size = (0, 0)


@dataclass(frozen=True)
class Layer:
    """One layer. Where nothing else is said, sizes are those after the steps that come before."""

    index: int  # its number in the accelerator
    name: str
    operation: Operation
    # what comes in
    sources: tuple[int, ...]  # layers whose outputs it reads, side by side along the channels; INPUT
    in_channels: int  # after the split into operands: of one operand
    in_size: Size  # before pooling and flattening
    processors: int  # a bit for each processor that reads
    in_offset: int
    big_data: bool = False  # the input is stored plane by plane (CHW); of the first layers only
    streaming: bool = False
    flatten: bool = False
    in_skip: int = 0  # read gap
    in_channel_skip: int = 0
    in_crop: Size | None = None
    # what is done, in this order, unless `pool_first` is false
    pool: Pool | None = None
    pool_first: bool = True
    operands: int = 1
    eltwise: Eltwise | None = None
    kernel: Kernel | None = None  # of all operations but "none"
    output_shift: int = 0
    activation: Activation | None = None
    # what goes out
    out_channels: int = 0
    out_size: Size = (1, 1)
    output_processors: int = 0
    out_offset: int = 0
    output_width: int = 8  # 8 or 32
    write_gap: int = 0
    is_output: bool = False  # also where it is not the last
    next_layer: int | None = None  # None: the one after it; STOP
    bias_group: int | None = None  # the quadrant that holds its biases; None: chosen
    bias_groups: tuple[int, ...] = ()  # those that it is chosen from; none: all that work
    source: Source = field(default_factory=Source)
    # keys of the description that change how registers are written and nothing that is computed:
    # bypass, calcx4, tcalc, readahead, weight_source, snoop_sequence; and what is done with the data buffer, which
    # `rolling` knows: buffer_shift, buffer_insert
    hints: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DataBuffer:
    """Memory that layers share with the outside while the network runs."""

    name: str
    processors: int
    size: Size
    channels: int
    offset: int
    width: int


@dataclass(frozen=True)
class Network:
    """Layers in the order in which they run."""

    name: str  # of files and functions: arch, or that of the model
    device: Device
    layers: tuple[Layer, ...]
    input_channels: int
    input_size: Size
    dataset: str = ""
    fifo: bool = False  # input comes through the FIFO
    fast_fifo: bool = False
    unload: tuple[Mapping[str, Any], ...] = ()  # as written; empty: the outputs of the last layer
    output_map: tuple[int, ...] = ()
    snoop: tuple[int, ...] = ()  # the 32 values of its registers (MAX78002)
    data_buffers: tuple[DataBuffer, ...] = ()
    average_rounds: bool = False  # average pools round instead of cutting off
    file: str = ""
