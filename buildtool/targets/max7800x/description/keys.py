"""Every key of a description: its name, other names of it, and what its values may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from buildtool.targets.max7800x.description.values import (
    Reader,
    choice,
    exactly_two,
    kernel_size,
    layer_reference,
    many,
    name,
    offset,
    pair,
    processors,
    quantization,
    size,
    truth,
    whole,
    words_of,
)
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
_ELTWISE = {"add": "add", "sub": "sub", "or": "or", "xor": "xor"}
_ACTIVATIONS = {"relu": "relu", "abs": "abs", "none": None}
_FORMATS = {**words_of(("hwc", "little"), False), **words_of(("chw", "big"), True)}  # whether plane by plane


@dataclass(frozen=True)
class Key:
    """A key. With `required`, a section without it is an error."""

    name: str
    read: Reader
    aliases: tuple[str, ...] = ()
    required: bool = False


GLOBAL_KEYS = (
    Key("arch", name, required=True),
    Key("dataset", name, required=True),
    Key("bias", name),
    Key("weights", name),
    Key("output_map", processors),
    Key("snoop", many(whole(0, 2**32 - 1))),
)
# Global keys whose values are lists of sections.
SECTIONS = ("layers", "unload", "data_buffer")

LAYER_KEYS = (
    Key("sequence", whole()),
    Key("name", name),
    Key("processors", processors),
    Key("output_processors", processors),
    Key("in_offset", offset),
    Key("out_offset", offset),
    Key("output_width", choice({"8": 8, "32": 32})),
    Key("data_format", choice(_FORMATS)),
    Key("operation", choice(OPERATIONS), ("op", "operator", "convolution")),
    Key("eltwise", choice(_ELTWISE)),
    Key("pool_first", truth),
    Key("operands", whole(2, 16)),
    Key("activate", choice(_ACTIVATIONS), ("activation",)),
    Key("quantization", quantization),
    Key("output_shift", whole(-22, 15)),
    Key("kernel_size", kernel_size),
    Key("stride", pair(whole(1))),
    Key("pad", whole()),
    Key("dilation", pair(whole(1))),
    Key("groups", whole(1), ("conv_groups",)),
    Key("output_pad", whole()),
    Key("max_pool", pair(whole(1))),
    Key("avg_pool", pair(whole(1))),
    Key("pool_stride", pair(whole(1))),
    Key("pool_dilation", pair(whole(1))),
    Key("in_channels", whole(1)),
    Key("in_dim", size),
    Key("in_crop", exactly_two(whole())),
    Key("in_skip", whole(), ("read_gap",)),
    Key("in_channel_skip", whole()),
    Key("in_sequences", many(layer_reference)),
    Key("out_channels", whole(1)),
    Key("streaming", truth),
    Key("flatten", truth),
    Key("write_gap", whole()),
    Key("next_sequence", layer_reference),
    Key("simulated_sequence", layer_reference),
    Key("snoop_sequence", whole()),
    Key("bias_group", many(whole(0, 3)), ("bias_quadrant",)),
    Key("output", truth),
    Key("bypass", truth),
    Key("calcx4", truth),
    Key("tcalc", truth),
    Key("readahead", truth),
    Key("weight_source", layer_reference),
    Key("buffer_shift", whole(1)),
    Key("buffer_insert", whole(1)),
)

UNLOAD_KEYS = (
    Key("processors", processors, required=True),
    Key("channels", whole(1), required=True),
    Key("dim", size, required=True),
    Key("offset", offset, required=True),
    Key("width", choice({"8": 8, "32": 32})),
    Key("write_gap", whole()),
)

BUFFER_KEYS = (
    Key("name", name, required=True),
    Key("processors", processors, required=True),
    Key("channels", whole(1), required=True),
    Key("dim", size, required=True),
    Key("offset", offset, required=True),
    Key("width", choice({"8": 8, "32": 32})),
)
