"""What the devices bear: channels, sizes, processors, memory, streams. For layers that are complete."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.description.chosen import Chosen
from buildtool.targets.max7800x.description.rules import LONGEST_STRETCHED
from buildtool.targets.max7800x.description.sections import Findings, Section
from buildtool.targets.max7800x.description.shapes import MOST_CHANNELS
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, PROCESSORS, QUADRANTS, Device
from buildtool.targets.max7800x.network import INPUT, Layer, Network
from buildtool.targets.max7800x.simulation import arithmetic
from buildtool.wording import counted

MOST_STREAMED = 8
LARGEST_FRAME = 1 << 21
LARGEST_SHIFT = 15
_FIFO_PLANES = 0x0001_0001_0001_0001
_FIFO_PIXELS = 0x000F_000F_000F_000F
_WORD = 4
_MOST_SLOTS = 16  # in which a quadrant writes a pixel


@dataclass(frozen=True)
class Limited:
    """A layer with the keys that it is made of."""

    chosen: Chosen
    layer: Layer
    following: Layer | None
    network: Network
    general: Section
    findings: Findings

    @property
    def device(self) -> Device:
        return self.network.device

    @property
    def passes(self) -> int:
        return processors.passes(self.layer.in_channels)

    def refuse(self, key: str, what: str, *, rule: str = "", remedy: str = "") -> None:
        self.findings.refuse(self.chosen.section, key, what, rule=rule, remedy=remedy)


def check_limits(
    running: Sequence[Chosen], network: Network, general: Section, findings: Findings, *, streams_freely: bool
) -> None:
    """Everything that the device does not bear."""
    followed = zip(running, network.layers, [*network.layers[1:], None], strict=True)
    every = [Limited(chosen, layer, following, network, general, findings) for chosen, layer, following in followed]
    for limited in every:
        for rule in _RULES:
            rule(limited)
    _fifo(every[0])
    _streams(every, streams_freely=streams_freely)
    _one_bit(every)


def _numbers(limited: Limited) -> None:
    layer, device = limited.layer, limited.device
    for key, channels in (("in_channels", layer.in_channels), ("out_channels", layer.out_channels)):
        if channels > MOST_CHANNELS:
            limited.refuse(key, f"the layer has {channels} channels as {key[:-9]}put", rule=f"at most {MOST_CHANNELS}")
    for words, key, size in (("input", "in_dim", layer.in_size), ("result", "", layer.out_size)):
        if max(size) > device.largest_side:
            limited.refuse(
                key,
                f"the {words} has {size[0]}x{size[1]} pixels",
                rule=f"at most {device.largest_side} rows or columns on the {device.part}",
            )
    frame = math.prod(layer.in_size) * limited.passes
    if frame >= LARGEST_FRAME:
        limited.refuse(
            "in_dim",
            f"{limited.passes} passes over {layer.in_size[0]}x{layer.in_size[1]} pixels are too many",
            rule=f"pixels times passes are less than {LARGEST_FRAME}",
        )


def _readers(limited: Limited) -> None:
    layer = limited.layer
    if layer.processors.bit_count() != processors.per_pass(layer.in_channels):
        limited.refuse(
            "processors",
            f"{_spread(layer.processors)} read {counted(layer.in_channels, 'channel')}",
            rule=_share(layer.in_channels),
        )


def _writers(limited: Limited) -> None:
    layer, following = limited.layer, limited.following
    if layer.output_processors.bit_count() == processors.per_pass(layer.out_channels):
        return
    what = f"{counted(layer.out_channels, 'channel')} are written for {_spread(layer.output_processors)}"
    rule = _share(layer.out_channels)
    if following is None and "output_map" in limited.general:
        title = f"{limited.chosen.section.title}: {what}"
        limited.findings.refuse(limited.general, "output_map", title, rule=rule)
    elif "output_processors" in limited.chosen.section:
        limited.refuse("output_processors", what, rule=rule)
    elif following is not None and following.in_channels != layer.out_channels:  # else the next layer is to blame
        remedy = "these are the `processors` of the next layer; write `output_processors` here"
        limited.refuse("output_processors", what, rule=rule, remedy=remedy)


def _spread(mask: int) -> str:
    return f"{counted(mask.bit_count(), 'processor')} ({mask:#018x})"


def _share(channels: int) -> str:
    passes = processors.passes(channels)
    return f"{counted(channels, 'channel')} in {passes} pass{'es' * (passes > 1)} take {processors.per_pass(channels)}"


def _shift(limited: Limited) -> None:
    kernel = limited.layer.kernel
    if kernel is None:
        return
    bits = 8 if limited.layer.hints.get("bypass") else abs(kernel.bits)
    shift = arithmetic.total_shift(limited.layer.output_shift, bits)
    if abs(shift) > LARGEST_SHIFT:
        implied = shift - limited.layer.output_shift
        limited.refuse(
            "output_shift",
            f"`output_shift` cannot be {limited.layer.output_shift} with weights of {bits} bits",
            rule=f"allowed: {-LARGEST_SHIFT - implied} to {LARGEST_SHIFT - implied}",
        )


def _memory(limited: Limited) -> None:
    layer, device = limited.layer, limited.device
    share = 1 if layer.big_data else _WORD
    incoming = math.prod(layer.in_size) * limited.passes * layer.operands * share
    streams_on = layer.streaming and limited.following is not None
    for key, offset, size, words, in_rings in (
        ("in_offset", layer.in_offset, incoming, "input", layer.streaming),
        ("out_offset", layer.out_offset, _outgoing(layer), "result", streams_on),
    ):
        if offset + size > device.data_bytes and not in_rings:
            limited.refuse(
                key,
                f"the {words} of {size} bytes from {offset:#06x} on does not fit into the data memory",
                rule=f"each of the {PROCESSORS // _WORD} memories of the {device.part} has {device.data_bytes} bytes",
                remedy=f"choose a lower `{key}`" if size <= device.data_bytes else "make it smaller, or stream",
            )


def _outgoing(layer: Layer) -> int:
    passes = processors.passes(layer.out_channels)
    return math.prod(layer.out_size) * passes * _WORD * layer.output_width // 8


def _groups(limited: Limited) -> None:
    layer = limited.layer
    if layer.kernel is None or layer.kernel.groups == 1:
        return
    groups = layer.kernel.groups
    if (layer.in_channels, layer.out_channels) != (groups, groups):
        limited.refuse(
            "groups",
            f"{groups} groups of {layer.in_channels} channels that become {layer.out_channels}",
            rule="`groups` equals the number of input and output channels, or is 1",
        )
    reading, writing = layer.processors, layer.output_processors
    slots = processors.depthwise_slots(reading, writing, layer.output_width)
    if slots > _MOST_SLOTS:
        limited.refuse(
            "output_width",
            f"groups whose results of {layer.output_width} bits go to other processors write {slots} words for a pixel",
            rule=f"at most {_MOST_SLOTS}: 32 bits of up to 4 processors in each group of 16",
            remedy="write the same `processors` and `output_processors`, or `output_width: 8`",
        )
    if not processors.depthwise_begins_right(reading, writing):
        limited.refuse(
            "output_processors",
            f"groups read with {reading:#018x} and write to {writing:#018x}",
            rule="results begin with a multiple of 4, and so do inputs of more than 16 processors",
        )
    if layer.flatten:
        limited.refuse("flatten", "`flatten` does not work with groups")
    if layer.bias_groups:
        limited.refuse("bias_group", "the biases of groups are in every quadrant", remedy="remove `bias_group`")


def _passthrough(limited: Limited) -> None:
    layer, device = limited.layer, limited.device
    if layer.operation != "none":
        return
    for quadrant in range(QUADRANTS):
        reads = processors.in_quadrant(layer.processors, quadrant)
        writes = processors.in_quadrant(layer.output_processors, quadrant)
        if not processors.packs_into(reads, writes):
            limited.refuse(
                "output_processors",
                f"{layer.processors:#018x} cannot be passed to {layer.output_processors:#018x}",
                rule="of each 16 processors, as many are written as read: adjacent ones from a multiple of 4",
                remedy="use the same processors for input and output",
            )
            break
    pools = layer.pool is not None and max(layer.pool.size) > 1
    left = arithmetic.pooled_size(layer.in_size, layer.pool)
    if pools and device is MAX78000 and limited.passes > 1 and max(left) > 1:
        limited.refuse(
            "in_channels",
            f"a pool alone cannot go over {layer.in_channels} channels",
            rule=f"at most {PROCESSORS} on the {device.part}, unless one pixel is left",
            remedy="pool in the layer of a convolution",
        )


def _several_passes(limited: Limited) -> None:
    layer, device, passes = limited.layer, limited.device, limited.passes
    if passes == 1:
        return
    if device is MAX78002 and layer.operation == "conv1d" and layer.kernel is not None and layer.kernel.pad[0]:
        limited.refuse(
            "pad",
            f"{layer.in_channels} channels cannot be padded in one dimension",
            rule=f"at most {PROCESSORS} on the {device.part}",
            remedy="write `pad: 0`",
        )
    if layer.in_skip:
        limited.refuse(
            "in_skip", f"`in_skip` does not work with {layer.in_channels} channels", rule=f"up to {PROCESSORS}"
        )
    idle = 0 if layer.sources == (INPUT,) else processors.idle_lanes(layer.in_channels)  # of the input they are 0
    if idle and layer.kernel is not None and layer.kernel.bits < 0 and layer.kernel.groups == 1:
        limited.refuse(
            "quantization",
            f"weights of +1 and -1 multiply {layer.in_channels} channels and {idle} places without one",
            rule=f"above {PROCESSORS} channels all passes have as many inputs, and these weights have no zero",
            remedy=f"use 2 bits, or {layer.in_channels + idle} channels",
        )
    worked = layer.operation != "none" or layer.pool is not None
    if device is MAX78000 and layer.operands > 1 and (layer.operands, passes) != (2, 2) and worked:
        limited.refuse(
            "operands",
            f"{layer.operands} operands of {layer.in_channels} channels go alone",
            rule=f"more than two passes on the {device.part} do not allow a pool or a convolution",
            remedy="write a separate layer for the operation",
        )


def _wide_dilation(limited: Limited) -> None:
    layer = limited.layer
    if layer.operation != "conv1d" or layer.kernel is None:
        return
    length, dilation = layer.kernel.size[0], layer.kernel.dilation[0]
    if dilation == 1 or (length - 1) * dilation <= LONGEST_STRETCHED:
        return
    before = (8 if length == 2 else 4) * dilation * processors.passes(layer.out_channels)
    if layer.out_offset < before:
        limited.refuse(
            "out_offset",
            f"`out_offset` is {layer.out_offset:#06x} with a `dilation` of {dilation}",
            rule=f"at least {before:#06x}: discarded results are written before it",
        )


def _fifo(first: Limited) -> None:
    """What a FIFO can feed."""
    layer, network = first.layer, first.network
    if not network.fifo:
        return
    most, allowed = (4, _FIFO_PLANES) if layer.big_data else (16, _FIFO_PIXELS)
    if network.fast_fifo:
        most //= 4
        if layer.operation == "none":
            first.refuse("operation", "the fast FIFO needs a convolution in the first layer")
    name = "the fast FIFO" if network.fast_fifo else "the FIFOs"
    if layer.in_channels > most:
        words = "as planes (CHW)" if layer.big_data else "side by side (HWC)"
        first.refuse("in_channels", f"{name} cannot feed {layer.in_channels} channels", rule=f"at most {most} {words}")
    if layer.processors & ~allowed:
        first.refuse(
            "processors",
            f"{name} cannot feed the processors {layer.processors:#018x}",
            rule="they feed 0, 16, 32, 48 (CHW)" if layer.big_data else "they feed 0-3, 16-19, 32-35, 48-51 (HWC)",
        )


def _streams(every: Sequence[Limited], *, streams_freely: bool) -> None:
    streaming = [limited for limited in every if limited.layer.streaming]
    if not streaming:
        return
    first = every[0]
    if first.layer.streaming and not first.network.fifo and not streams_freely:
        first.refuse(
            "streaming",
            "the first layer streams without a FIFO",
            rule="the input of a stream comes through the FIFO",
            remedy="build with --cnn fifo, or --cnn allow-streaming",
        )
    if len(streaming) > MOST_STREAMED:
        streaming[MOST_STREAMED].refuse("streaming", f"{len(streaming)} layers stream", rule=f"at most {MOST_STREAMED}")
    for before, limited in zip([None, *every], every, strict=False):
        if limited.layer.streaming:
            _streamed(before, limited)
    last = streaming[-1]
    kernel = last.layer.kernel
    if last.device is MAX78000 and kernel is not None and not _padded(last.layer):
        last.refuse("pad", "the last layer that streams is not padded", rule=f"on the {last.device.part} it is")


def _padded(layer: Layer) -> bool:
    """A kernel of 1x1 streams as one of 3x3 with a border."""
    kernel = layer.kernel
    return kernel is not None and (min(kernel.pad) > 0 or kernel.size == (1, 1) or layer.operation == "conv1d")


def _streamed(before: Limited | None, limited: Limited) -> None:
    layer = limited.layer
    if before is not None and not before.layer.streaming:
        limited.refuse(
            "streaming",
            "the layer streams, and the one before it does not",
            rule="streams begin with the first layer",
            remedy=f"write `streaming: true` in {before.chosen.section.title}, or remove it here",
        )
    if limited.device is MAX78002 and layer.operation == "none":
        limited.refuse("streaming", "a layer without a convolution cannot stream", rule=f"on the {limited.device.part}")
    if layer.next_layer not in (None, layer.index + 1) and layer.next_layer is not None and layer.next_layer >= 0:
        limited.refuse("next_sequence", "a layer that streams leads to the next one")
    if INPUT not in layer.sources and before is not None and layer.sources != (before.layer.index,):
        limited.refuse("in_sequences", "a layer that streams reads the one before it", remedy="remove `in_sequences`")


def _one_bit(every: Sequence[Limited]) -> None:
    """The two kinds of weights of one bit exclude each other."""
    used = {limited.layer.kernel.bits for limited in every if limited.layer.kernel is not None}
    if {1, -1} <= used:
        for limited in every:
            if limited.layer.kernel is not None and limited.layer.kernel.bits == 1:
                limited.refuse(
                    "quantization",
                    "weights of 0 and -1 cannot be combined with weights of +1 and -1",
                    rule="a network has one kind of 1-bit weights",
                )


_RULES: tuple[Callable[[Limited], None], ...] = (
    _numbers,
    _readers,
    _writers,
    _shift,
    _memory,
    _groups,
    _passthrough,
    _several_passes,
    _wide_dilation,
)
