"""Every key of a description: its name, other names of it, and what its values may be."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from buildtool.sections.section import Section, Text, key
from buildtool.targets.max7800x.description import fields
from buildtool.targets.max7800x.description.fields import Meaning, many, pair, whole, words_of
from buildtool.targets.max7800x.network import Eltwise, Operation


class Work(NamedTuple):
    """What a word of `operation` asks for."""

    operation: Operation
    eltwise: Eltwise | None = None


OPERATIONS: Mapping[str, Work] = MappingProxyType(
    {
        "conv1d": Work("conv1d"),
        "conv2d": Work("conv2d"),
        "convtranspose2d": Work("convtranspose2d"),
        **words_of(("none", "passthrough"), Work("none")),
        **words_of(("linear", "fc", "mlp"), Work("linear")),
        "add": Work("none", "add"),
        "sub": Work("none", "sub"),
        **words_of(("or", "bitwiseor", "bitwise_or"), Work("none", "or")),
        **words_of(("xor", "bitwisexor", "bitwise_xor"), Work("none", "xor")),
    }
)
_FORMATS = {**words_of(("hwc", "little"), False), **words_of(("chw", "big"), True)}  # whether plane by plane

Flag = Annotated[bool | None, fields.TRUTH]
Whole = Annotated[int | None, whole()]
Positive = Annotated[int | None, whole(1)]
Pair = Annotated[tuple[int, int] | None, pair(whole(1))]
Size = Annotated[tuple[int, int] | None, fields.SIZE]
Offset = Annotated[int | None, fields.OFFSET]
Mask = Annotated[int | None, fields.PROCESSORS_MASK]
Layer = Annotated[int | str | None, fields.LAYER]
Width = Annotated[int | None, Meaning({"8": 8, "32": 32})]
Bits = Annotated[int | None, Meaning({"1": 1, "2": 2, "4": 4, "8": 8, "bin": -1, "binary": -1})]


class LayerKeys(Section):
    """A layer."""

    sequence: Whole = key("The number of the layer.", default_words="one more than the layer before")
    name: Text = key("The name of the layer, for references.")
    processors: Mask = key("The processors that read the input.", default_words="found by the planner")
    output_processors: Mask = key("The processors that the output is for.", default_words="those of the next layer")
    in_offset: Offset = key(
        "Where the input begins in the data memory.", default_words="where the output before begins"
    )
    out_offset: Offset = key("Where the output begins in the data memory.", default=0)
    output_width: Width = key("Bits of the results.", default=8)
    data_format: Annotated[bool | None, Meaning(_FORMATS)] = key("How the input of the network is stored.")
    operation: Annotated[Work | None, Meaning(OPERATIONS)] = key(
        "What the layer computes.", default="conv2d", aliases=("op", "operator", "convolution")
    )
    eltwise: Annotated[Eltwise | None, Meaning({"add": "add", "sub": "sub", "or": "or", "xor": "xor"})] = key(
        "An element-wise operation before the convolution."
    )
    pool_first: Flag = key("Pools come before the element-wise operation.", default=True)
    operands: Annotated[int | None, whole(2, 16)] = key("Operands of the element-wise operation.", default=2)
    activate: Annotated[Any, Meaning({"relu": "relu", "abs": "abs", "none": None})] = key(
        "The activation.", default="none", aliases=("activation",)
    )
    quantization: Bits = key("Bits of the weights.", default_words="as the checkpoint says")
    output_shift: Annotated[int | None, whole(-22, 15)] = key(
        "Bits by which sums go up.", default_words="as the checkpoint says"
    )
    kernel_size: Annotated[tuple[int, ...] | None, fields.KERNEL_SIZE] = key(
        "The size of the kernel.", default_words="`3x3`; `9` in one dimension"
    )
    stride: Pair = key("The stride of the convolution.", default=1)
    pad: Whole = key("Padding on each side.", default_words="`1` for convolutions, else `0`")
    dilation: Pair = key("The dilation of the kernel.", default=1)
    groups: Positive = key("Groups of channels (MAX78002).", default=1, aliases=("conv_groups",))
    output_pad: Whole = key("Output padding of transposed convolutions.")
    max_pool: Pair = key("The size of a maximum pool before the operation.")
    avg_pool: Pair = key("The size of an average pool before the operation.")
    pool_stride: Pair = key("The stride of the pool.", default=1)
    pool_dilation: Pair = key("The dilation of the pool (MAX78002).", default=1)
    in_channels: Positive = key("Channels of the input.", default_words="those that come in")
    in_dim: Size = key("The size of the input.", default_words="that of the output before")
    in_crop: Annotated[tuple[int, int] | None, fields.CROP] = key("Rows that are left out before and behind.")
    in_skip: Whole = key("Words that are passed over between two (MAX78002).", default=0, aliases=("read_gap",))
    in_channel_skip: Whole = key("Channels that are passed over.", default=0)
    in_sequences: Annotated[tuple[int | str, ...] | None, many(fields.LAYER)] = key(
        "The layers whose outputs it reads.", default_words="the layer before"
    )
    out_channels: Positive = key("Channels of the output.", default_words="as the weights say")
    streaming: Flag = key("The layer streams.", default=False)
    flatten: Flag = key("The input is flattened.", default=False)
    write_gap: Whole = key("Words that are left between two of the output.", default=0)
    next_sequence: Layer = key("The layer that runs next (MAX78002), or `stop`.", default_words="the next one")
    simulated_sequence: Layer = key("The layer that simulators run next, where snooping decides.")
    snoop_sequence: Whole = key("Number of the snooping register set (MAX78002).")
    bias_group: Annotated[tuple[int, ...] | None, many(whole(0, 3))] = key(
        "The quadrants that may hold the biases.", default_words="all that work", aliases=("bias_quadrant",)
    )
    output: Flag = key("The layer is an output of the network.", default_words="the last layer is")
    bypass: Flag = key("The layer bypasses the kernel memory (MAX78002).", default=False)
    calcx4: Flag = key("Four outputs are computed at a time (MAX78002).", default=False)
    tcalc: Flag = key("Overrides the computed mode of the layer (MAX78002).")
    readahead: Flag = key("Data are read ahead (MAX78002).", default=False)
    weight_source: Layer = key("The layer whose weights it shares.")
    buffer_shift: Positive = key("Pixels by which the data buffer moves.")
    buffer_insert: Positive = key("Pixels that are added to the data buffer.")


class UnloadKeys(Section):
    """A piece of the output."""

    processors: Mask = key("The processors that it is for.", required=True)
    channels: Positive = key("Channels.", required=True)
    dim: Size = key("The size.", required=True)
    offset: Offset = key("Where it begins in the data memory.", required=True)
    width: Width = key("Bits of an element.", default=8)
    write_gap: Whole = key("Words between two of the output.", default=0)


class BufferKeys(Section):
    """The data buffer."""

    name: Text = key("The name, for references.", required=True)
    processors: Mask = key("The processors that it is for.", required=True)
    channels: Positive = key("Channels.", required=True)
    dim: Size = key("The size.", required=True)
    offset: Offset = key("Where it begins in the data memory.", required=True)
    width: Width = key("Bits of an element.", default=8)


class DescriptionKeys(Section):
    """The top level of a file."""

    arch: Text = key("The name of the architecture; that of the checkpoint.", required=True)
    dataset: Text = key("The name of the data set.", required=True)
    bias: Text = key("Biases of tests; pass the file with `bias_input`.")
    weights: Text = key("Weights of tests; pass the file with `--checkpoint-file`.")
    output_map: Mask = key("The processors that the last output is for.")
    snoop: Annotated[tuple[int, ...] | None, fields.SNOOP] = key("Values of the snooping registers (MAX78002).")
    layers: list[LayerKeys] | None = Field(
        default=None, min_length=1, description="The layers.", json_schema_extra={"x-required": True}
    )
    unload: list[UnloadKeys] | None = Field(
        default=None, min_length=1, description="The pieces of the output that programs read."
    )
    data_buffer: list[BufferKeys] | None = Field(
        default=None, min_length=1, description="Memory that layers share with the outside while the network runs."
    )
