"""What the accelerator cannot do, each as one error that says by how much and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from buildtool.errors import ConfigError, Problem, UnsupportedError, Where
from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, PROCESSORS
from buildtool.targets.max7800x.firmware import regions
from buildtool.targets.max7800x.firmware.hardware import LONGEST_KERNEL, STREAMING_LAYERS, HardwareLayer
from buildtool.targets.max7800x.firmware.registers import Placed
from buildtool.targets.max7800x.network import INPUT, UNPLACED, Network
from buildtool.targets.max7800x.options import Options

_LARGEST_POOL = 16
_MOST_SLOTS = 16  # in which a quadrant writes a pixel
_MOST_PASSES = 16
_MOST_PADDING = 2
_MOST_FLATTENED = 1 << 14  # passes over the pixels
_SNOOPED = 32  # values of a description's `snoop`
_NEWER = ("bypass", "calcx4", "readahead", "tcalc", "snoop_sequence")


def check(network: Network, layers: Sequence[HardwareLayer]) -> None:
    """UnsupportedError with everything that has no registers."""
    problems = list(_network_problems(network, layers))
    for hardware in layers:
        problems += _size_problems(hardware)
        problems += _kernel_problems(network, hardware)
        problems += _hint_problems(network, hardware)
    if problems:
        raise UnsupportedError(problems)


def _network_problems(network: Network, layers: Sequence[HardwareLayer]) -> Iterator[Problem]:
    place = Where(file=network.file, model=network.name)
    highest = max(hardware.number for hardware in layers)
    if highest >= network.device.layers:
        yield Problem(
            f"the network has {highest + 1} layers",
            place,
            rule=f"at most {network.device.layers} on the {network.device.part}",
            remedy="join pools and activations with convolutions, or use the larger chip",
        )
    streaming = sum(hardware.layer.streaming for hardware in layers)
    if streaming > STREAMING_LAYERS:
        yield Problem(f"{streaming} layers stream", place, rule=f"at most {STREAMING_LAYERS}")
    unplaced = [hardware for hardware in layers if UNPLACED in (hardware.layer.in_offset, hardware.layer.out_offset)]
    for hardware in unplaced:
        yield Problem("the layer has no offset in data memory", hardware.where, remedy="let the planner choose one")
    used = 0
    for hardware in layers:
        used |= hardware.layer.processors | (hardware.layer.output_processors if hardware.last else 0)
    if not processors.in_quadrant(used, 0):
        yield Problem(
            "no layer uses the first quadrant",
            place,
            rule="it controls the others",
            remedy="give one of the layers processors below 16",
        )


def _size_problems(hardware: HardwareLayer) -> Iterator[Problem]:
    layer = hardware.layer
    reads, writes = (layer.in_channels, layer.processors), (layer.out_channels, layer.output_processors)
    for what, (channels, chosen) in (("in", reads), ("out", writes)):
        needed = processors.per_pass(channels)
        if processors.count(chosen) != needed:
            yield Problem(
                f"{channels} channels go {what}, with {processors.count(chosen)} processors",
                hardware.where,
                rule=f"{needed} processors for {channels} channels",
                remedy="change `processors` or `output_processors`",
            )
        if processors.passes(channels) > _MOST_PASSES:
            rule = f"at most {_MOST_PASSES * PROCESSORS}"
            yield Problem(f"{channels} channels go {what}", hardware.where, rule=rule, remedy="split the layer")
    if max((size - 1) * apart for size, apart in zip(hardware.pool, hardware.pool_dilation, strict=True)) >= 16:
        size = f"{hardware.pool[0]}x{hardware.pool[1]}"
        yield Problem(f"a pool of {size} is too large", hardware.where, rule=f"at most {_LARGEST_POOL} pixels wide")
    one_dimensional = hardware.operation == "conv1d" or (not hardware.convolves and hardware.in_size[1] == 1)
    if not one_dimensional and hardware.pool_stride[0] != hardware.pool_stride[1]:
        steps = f"{hardware.pool_stride[0]}x{hardware.pool_stride[1]}"
        yield Problem(f"a pool steps by {steps}", hardware.where, rule="as far down as across")
    if hardware.eltwise_by_rows and (hardware.convolves or hardware.pools or max(hardware.pool_stride) > 1):
        what = "a convolution" if hardware.convolves else "a pool"
        yield Problem(
            f"{layer.operands} operands of {layer.in_channels} channels and {what} are one layer",
            hardware.where,
            rule=f"on the {MAX78000.part} more than two operands, or two in more than two passes, are a layer alone",
            remedy="write a separate layer for the operation",
        )
    if layer.flatten and (hardware.pools or max(hardware.pool_stride) > 1 or layer.streaming):
        what = "streams" if layer.streaming else "pools"
        remedy = "" if layer.streaming else "pool in a separate layer before it"
        yield Problem(f"a layer that flattens {what}", hardware.where, rule="not both", remedy=remedy)
    if layer.flatten and hardware.in_passes * hardware.pooled[0] * hardware.pooled[1] > _MOST_FLATTENED:
        yield Problem("too many pixels are flattened", hardware.where, rule=f"pixels x passes up to {_MOST_FLATTENED}")


def _kernel_problems(network: Network, hardware: HardwareLayer) -> Iterator[Problem]:
    kernel = hardware.layer.kernel
    if kernel is None:
        return
    size = f"{hardware.kernel_size[0]}x{hardware.kernel_size[1]}"
    sizes = {
        "conv1d": [(length, 1) for length in range(1, LONGEST_KERNEL + 1)],
        "conv2d": [(1, 1), (3, 3)],
        "convtranspose2d": [(3, 3)],
        "linear": [(1, 1)],
    }[hardware.operation]
    if hardware.kernel_size not in sizes:
        rule = ", ".join(f"{rows}x{columns}" for rows, columns in sizes)
        yield Problem(f"there is no {hardware.operation} of {size}", hardware.where, rule=rule)
    step = (2, 2) if hardware.operation == "convtranspose2d" else (1, 1)
    if hardware.stride != step:
        what = f"a {hardware.operation} steps by {hardware.stride[0]}x{hardware.stride[1]}"
        yield Problem(what, hardware.where, rule=f"{step[0]}x{step[1]}", remedy="step in the pool before it")
    if max(hardware.pad) > _MOST_PADDING:
        yield Problem(f"padding of {max(hardware.pad)} pixels", hardware.where, rule=f"at most {_MOST_PADDING}")
    if max(kernel.dilation) > 1 and hardware.layer.operation != "conv1d":
        yield Problem(f"a {hardware.operation} is dilated", hardware.where, rule="in one dimension only")
    channels = (hardware.layer.in_channels, hardware.layer.out_channels)
    if hardware.groups > 1 and (network.device is MAX78000 or set(channels) != {hardware.groups}):
        rule = "one group, or on the MAX78002 as many as channels that go in and out"
        what = f"{hardware.groups} groups for {channels[0]} channels that become {channels[1]}"
        yield Problem(what, hardware.where, rule=rule)
    if hardware.groups > 1:
        yield from _depthwise_problems(hardware)
    if hardware.bits < 0 and network.device is MAX78000:
        yield Problem("weights are plus and minus one", hardware.where, rule="on the MAX78002 only")
    idle = 0 if hardware.layer.sources == (INPUT,) else processors.idle_lanes(channels[0])  # of the input they are 0
    if hardware.bits < 0 and idle and hardware.groups == 1:
        yield Problem(
            f"weights of plus and minus one multiply {channels[0]} channels and {idle} unused ones",
            hardware.where,
            rule="above 64 channels the last pass has as many as the others, and weights without a zero add them all",
            remedy=f"use weights of 2 bits, or {channels[0] + idle} channels",
        )
    if hardware.layer.operands > 1 and hardware.operation == "conv1d":
        yield Problem("operands of a conv1d", hardware.where, remedy="write a separate layer for the operation")
    biased = kernel.bias is not None and kernel.bias.any()
    if network.device is MAX78002 and hardware.layer.operands > 1 and biased:
        remedy = "write a separate layer for the operation, or train without a bias"
        yield Problem("operands before a convolution with biases", hardware.where, rule="not both", remedy=remedy)


def _depthwise_problems(hardware: HardwareLayer) -> Iterator[Problem]:
    """Each quadrant writes by itself, and counts how often it does so for a pixel."""
    layer = hardware.layer
    reading, writing = layer.processors, layer.output_processors
    slots = processors.depthwise_slots(reading, writing, layer.output_width)
    if slots > _MOST_SLOTS:
        yield Problem(
            f"a depthwise convolution moves outputs of {layer.output_width} bits to other processors: "
            f"{slots} words for each pixel",
            hardware.where,
            rule=f"a quadrant writes {_MOST_SLOTS} at most: outputs of 32 bits of up to 4 processors, or any that stay",
            remedy="write the same processors for input and output, or put out 8 bits",
        )
    if reading and writing and not processors.depthwise_begins_right(reading, writing):
        yield Problem(
            f"a depthwise convolution reads from processor {processors.first(reading)} on and writes from processor "
            f"{processors.first(writing)} on",
            hardware.where,
            rule="outputs begin with a multiple of 4, and so do inputs of more than 16 processors",
            remedy="choose other processors",
        )


def _hint_problems(network: Network, hardware: HardwareLayer) -> Iterator[Problem]:
    layer = hardware.layer
    if hardware.hint("calcx4") and (layer.out_channels % 4 or layer.flatten or hardware.groups > 1):
        yield Problem("'calcx4' computes four outputs at a time", hardware.where, rule="a multiple of 4, no groups")
    if network.device is not MAX78000:
        return
    for name in _NEWER:
        if hardware.layer.hints.get(name):
            yield Problem(f"the MAX78000 has no '{name}'", hardware.where, remedy="remove it")
    if hardware.layer.in_skip:
        yield Problem("the MAX78000 leaves nothing out as it reads", hardware.where, remedy="leave out `in_skip`")


def check_options(network: Network, options: Options) -> None:
    """ConfigError where options do not go together, or not with the network."""
    problems = [
        *_processor_problems(network, options),
        *_number_problems(network, options),
        *_newer_problems(network, options),
        *_input_problems(network, options),
        *_run_problems(network, options),
    ]
    if problems:
        raise ConfigError(problems)


def _place(network: Network) -> Where:
    return Where(file=network.file, model=network.name)


def _processor_problems(network: Network, options: Options) -> Iterator[Problem]:
    if network.fast_fifo and options.processor != "riscv":
        yield Problem(
            "the fast FIFO cannot be reached from the Arm core",
            _place(network),
            rule="it belongs to the RISC-V core",
            remedy="choose processor riscv, or the plain FIFO",
        )
    if options.deep_sleep and options.processor != "riscv":
        yield Problem(
            "the Arm core cannot sleep deeply while it runs the network",
            _place(network),
            remedy="choose processor riscv, or leave out deep_sleep",
        )


def _number_problems(network: Network, options: Options) -> Iterator[Problem]:
    place = _place(network)
    if options.timer is not None and not 0 <= options.timer <= 3:
        yield Problem(f"there is no timer {options.timer}", place, rule="0 to 3")
    if options.boost is not None and not (0 <= options.boost[0] <= 3 and 0 <= options.boost[1] <= 31):
        yield Problem(
            f"there is no pin {options.boost[0]}.{options.boost[1]}", place, rule="ports 0 to 3, pins 0 to 31"
        )
    if options.divider(network.device) not in (1, 2, 4, 8, 16):
        yield Problem(f"the clock cannot be divided by {options.clock_divider}", place, rule="1, 2, 4, 8 or 16")
    if options.softmax and not options.unload:
        yield Problem("softmax needs the results that are not unloaded", place, remedy="remove one of the two options")
    if options.most_verified == 0:
        yield Problem("no word of the output is compared", place, remedy="use no_kat, or compare at least one")
    if options.verify_snoop and len(network.snoop) != _SNOOPED:
        remedy = "write `snoop` into the description"
        yield Problem("what snooping counts is compared, but nothing snoops", place, remedy=remedy)


def _newer_problems(network: Network, options: Options) -> Iterator[Problem]:
    """What one of the chips lacks."""
    place = _place(network)
    older = network.device is MAX78000
    if older and (options.pll or options.pipeline):
        yield Problem(f"the {network.device.part} has no PLL and no pipeline", place, remedy="remove both options")
    for name in ("one_shot", "fifo_go"):
        if older and getattr(options, name):
            yield Problem(f"the {network.device.part} has no `{name}`", place, remedy="remove it")
    if options.max_speed and not (options.has_pll(network.device) and options.has_pipeline(network.device)):
        yield Problem(
            "`max_speed` has no effect",
            place,
            rule="only the PLL of the MAX78002, with the pipeline, loads at less than its full speed",
            remedy="remove it",
        )


def _input_problems(network: Network, options: Options) -> Iterator[Problem]:
    place = _place(network)
    given = {
        "no_fifo_wait": not options.fifo_wait,
        "slow_load": options.slow_load > 0,
        "fifo_go": options.fifo_go,
        "synthesize_input": options.input_step is not None,
    }
    for name, wanted in given.items():
        if wanted and not network.fifo:
            yield Problem(f"`{name}` requires the FIFO", place, remedy="use `fifo`, or remove it")
    if options.input_step is None:
        return
    if options.fixed_input:
        yield Problem("the input is fixed, and synthesised", place, remedy="remove one of the two options")
    if options.input_words < 1:
        yield Problem("the input is synthesised of no words", place, rule="`synthesize_words` is 1 at least")
    if any(INPUT in layer.sources and layer.big_data for layer in network.layers):
        yield Problem("an input in planes is synthesised", place, rule="`data_format: HWC` only")


def _run_problems(network: Network, options: Options) -> Iterator[Problem]:
    place = _place(network)
    loops = [name for name in ("energy", "forever", "stop_start", "one_shot") if getattr(options, name)]
    if len(loops) > 1:
        yield Problem(f"`{loops[0]}` and `{loops[1]}` exclude each other", place, remedy="remove one of them")
    streams = network.fifo or any(layer.streaming for layer in network.layers)
    for name in ("one_shot", "repeat_layers"):
        if streams and (options.one_shot if name == "one_shot" else options.repeat_layers > 1):
            rule = "layers that stream, or read the FIFO, run once and together"
            yield Problem(f"`{name}` needs all of its input in data memory", place, rule=rule)
    if options.repeat_layers < 1:
        yield Problem("`repeat_layers` is below 1", place, rule="`repeat_layers` is 1 at least")
    indexes = [layer.index for layer in network.layers]
    jumps = indexes[:1] != [0] or any(layer.next_layer is not None for layer in network.layers)
    if options.repeat_layers > 1 and (jumps or indexes != sorted(indexes)):
        rule = "consecutive, from layer 0 on"
        yield Problem("layers with `next_sequence` cannot be repeated", place, rule=rule)


def check_repetitions(placed: Placed) -> None:
    """UnsupportedError where layers that are repeated are too many, or do not find what they read the first time."""
    times = placed.options.repeat_layers
    device = placed.network.device
    if times == 1:
        return
    problems = []
    if times * placed.numbers > device.layers:
        what = f"{placed.numbers} layers {times} times are {times * placed.numbers}"
        rule = f"at most {device.layers} on the {device.part}"
        problems.append(Problem(what, _place(placed.network), rule=rule, remedy="repeat them less often"))
    spoiler = regions.spoils_input(placed)
    if spoiler is not None:
        what = f"layer {spoiler} writes over the input, which the next run reads"
        remedy = "move its output, or remove `repeat_layers`"
        problems.append(Problem(what, _place(placed.network), remedy=remedy))
    if problems:
        raise UnsupportedError(problems)
