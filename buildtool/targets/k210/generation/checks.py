"""The rules that the numbers of a layer keep: inside main memory, inside the KPU's RAM, within what the KPU can do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.cpu_layers import FullyConnected
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, Upload
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.format.registers import LayerArgument

MAX_MAIN_MEMORY = 64 << 20  # the chip has 6 MiB; a file that asks for more than this is damaged
_DMA_WORD = 8
POOL_STRIDES = (1, 2, 2, 4, 4, 2, 2, 4, 1, 1)
# What the KPU has, and every known file sets alike.
_SWITCHES = {
    "full_add": 0, "pad_type": 0, "first_stride": 0, "bypass": 0, "column_offset": 0, "row_offset": 0, "coef_size": 0,
    "load_para": 1, "load_coor": 1, "load_act": 1,
}  # fmt: skip
_KNOWN_LIMITS = {"in_h": (4, 256), "in_w": (4, 512)}
Finding = tuple[str, str]  # what is wrong, and the rule


def input_bytes(layers: Sequence[Layer]) -> int:
    """Bytes that a caller hands in."""
    first = layers[0]
    if isinstance(first, Conv):
        channels, height, width = first.in_shape
        return channels * height * width
    return first.ic * 4 if isinstance(first, FullyConnected) else 0


def weight_bytes(argument: LayerArgument, *, wide: bool) -> int:
    """Bytes from the first to the last weight. Each load begins `para_size` bytes behind the one before."""
    channel = argument.kernel_elements * (2 if wide else 1)
    if argument.load_times == 1:
        return channel * argument.out_channels
    earlier, in_last = divmod(argument.out_channels - 1, argument.channels_per_load)
    return earlier * argument.para_size + (in_last + 1) * channel


def of_layer(layer: Layer, main_memory: int, *, first: bool, wide: bool) -> Iterator[Finding]:
    """Everything that is wrong with a layer."""
    if first and not isinstance(layer, (Conv, FullyConnected)):
        yield "it is the first", "the input goes to a K210_CONV or an FC"
    if main_memory > MAX_MAIN_MEMORY:
        yield f"main memory has {main_memory} bytes", f"at most {MAX_MAIN_MEMORY}"
    main_memory = rounded(main_memory)
    for verb, regions in (("reads", layer.reads()), ("writes", layer.writes())):
        for region in regions:
            if region.start + region.bytes > main_memory:
                yield (
                    f"it {verb} {region.bytes} bytes at {region.start} of main memory",
                    f"main memory has {main_memory} bytes",
                )
            if region.start % region.element:
                yield (
                    f"it {verb} numbers of {region.element} bytes at {region.start} of main memory",
                    f"their address is a multiple of {region.element}",
                )
    yield from layer.rules()
    if isinstance(layer, Conv):
        yield from _of_conv(layer, main_memory, wide)
    elif isinstance(layer, AddPadding):
        yield from _in_ram("writes", layer.kpu_out, 4, 4, layer.channels)
    elif isinstance(layer, Upload):
        if layer.w and layer.h:
            yield from _in_ram("writes", layer.kpu_out, layer.w, layer.h, layer.c)
        else:
            yield "a size is 0", "an image has at least one row and one column"


def _in_ram(verb: str, unit: int, width: int, height: int, channels: int) -> Iterator[Finding]:
    size = layout.units(width, height, channels)
    if unit + size > layout.RAM_UNITS:
        yield (
            f"it {verb} {size} units of 64 bytes at unit {unit} of the KPU's RAM",
            f"the KPU's RAM has {layout.RAM_UNITS} units",
        )


def _of_conv(layer: Conv, main_memory: int, wide: bool) -> Iterator[Finding]:
    argument = layer.argument
    for name, known in _SWITCHES.items():
        if (value := getattr(argument, name)) != known:
            yield f"{name} of its argument is {value}", f"{known} is what is known to work"
    for name, (lowest, highest) in _KNOWN_LIMITS.items():
        if not lowest <= (value := getattr(argument, name)) <= highest:
            yield f"{name} is {value}", f"the KPU takes {lowest} to {highest}"
    if argument.kernel > 1:
        yield f"kernel is {argument.kernel}", "0 is 1x1, 1 is 3x3"
    if argument.depthwise and argument.in_channels != argument.out_channels:
        yield (
            f"it is depthwise, from {argument.in_channels} channels to {argument.out_channels}",
            "a depthwise convolution keeps the number of channels",
        )
    yield from _of_pool(argument)
    yield from _of_layout(argument)
    yield from _of_loads(argument, wide)
    yield from _in_ram("reads", argument.src, argument.in_w, argument.in_h, argument.in_channels)
    # What goes to main memory anyway may end behind the RAM: converters round the last rows of planes down.
    if not layer.to_main:
        yield from _in_ram("writes", argument.dst, argument.out_w, argument.out_h, argument.out_channels)
        if covers_its_input(layer):
            yield (
                f"it reads from unit {argument.src} and writes to unit {argument.dst} of the KPU's RAM",
                "what it writes does not cover what it reads",
            )
    elif argument.total_bytes != layer.out_bytes or argument.channel_bytes != argument.out_w * argument.out_h:
        yield (
            f"it sends {argument.total_bytes} bytes, {argument.channel_bytes} per channel, to main memory",
            f"its output has {layer.out_bytes} bytes, {argument.out_w * argument.out_h} per channel",
        )
    elif layer.main_out + rounded(layer.out_bytes) > rounded(main_memory):
        yield (
            f"it sends {rounded(layer.out_bytes)} bytes to {layer.main_out} of main memory, in whole words",
            f"main memory has {main_memory} bytes",
        )


def _of_pool(argument: LayerArgument) -> Iterator[Finding]:
    if argument.pool >= len(POOL_STRIDES):
        yield f"pool is {argument.pool}", "pools have the numbers 0 to 9"
        return
    stride = POOL_STRIDES[argument.pool]
    for axis in "wh":
        size, out = getattr(argument, f"in_{axis}"), getattr(argument, f"out_{axis}")
        if out != size // stride:
            yield f"out_{axis} is {out}, in_{axis} is {size}", f"pool {argument.pool} has stride {stride}"


def _of_layout(argument: LayerArgument) -> Iterator[Finding]:
    """Registers describe the layout of planes; there is one layout only."""
    read, written = layout.row_layout(argument.in_w), layout.row_layout(argument.out_w)
    for name, known in (
        ("channel_switch", read.row_units * argument.in_h),
        ("row_switch", read.row_units),
        ("coef_group", read.group),
        ("wb_channel_switch", written.row_units * argument.out_h),
        ("wb_row_switch", written.row_units),
        ("wb_group", written.group),
    ):
        if (value := getattr(argument, name)) != known:
            yield f"{name} of its argument is {value}", f"planes of that size need {known}"


def _of_loads(argument: LayerArgument, wide: bool) -> Iterator[Finding]:
    loads, per_load = argument.load_times, argument.channels_per_load
    if loads == 1:
        return
    if not (loads - 1) * per_load < argument.out_channels <= loads * per_load:
        yield (
            f"{loads} loads of {per_load} channels make {argument.out_channels} channels",
            "all loads but the last are full, and the last is not empty",
        )
    size = per_load * argument.kernel_elements * (2 if wide else 1)
    if argument.para_size < size:
        yield f"para_size is {argument.para_size}", f"a load of {per_load} channels has {size} bytes of weights"


def covers_its_input(layer: Conv) -> bool:
    """Whether its planes in the KPU's RAM overlap those it reads."""
    argument = layer.argument
    read = layout.units(argument.in_w, argument.in_h, argument.in_channels)
    written = layout.units(argument.out_w, argument.out_h, argument.out_channels)
    return argument.src < argument.dst + written and argument.dst < argument.src + read


def rounded(size: int) -> int:
    """In whole words of the DMA. Main memory has that size, too."""
    return -(-size // _DMA_WORD) * _DMA_WORD
