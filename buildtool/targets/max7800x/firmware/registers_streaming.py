"""The registers of layers that stream: how much of its input a layer waits for, and where its ring of input ends.

A layer that streams starts when `start` words have come in; then it goes on one step for every `delta1` words in a row
and skips `delta2` words between rows. The two chips count differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.firmware.hardware import HardwareLayer
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.options import Options

_WORD_PIXELS = 4  # of planes


@dataclass(frozen=True)
class Streaming:
    """What a layer waits for."""

    start: int = 0
    delta1: int = 0
    delta2: int = 0
    offset: int = 0  # passes of the layers that stream before it
    rollover: int | None = None  # words of input after which memory is used again


def streaming_of(network: Network, layers: Sequence[HardwareLayer], at: int, options: Options) -> Streaming:
    """The words that the layer at a position of `layers` waits for; all zero where nothing streams."""
    hardware = layers[at]
    if not hardware.layer.streaming and not (hardware.first and network.fifo):
        return Streaming()
    found = _found(network, layers, at, options)
    offset = 0 if hardware.first else sum(_offset(layer) for layer in layers[:at])
    rollover = found.rollover if network.fifo and hardware.layer.streaming else None
    return _overridden(hardware, replace(found, offset=offset, rollover=rollover), options)


def ring_words(network: Network, layers: Sequence[HardwareLayer], at: int) -> int:
    """Words of the ring that a layer that streams reads from, in each memory."""
    rollover = _found(network, layers, at, Options()).rollover
    assert rollover is not None
    return rollover


def _found(network: Network, layers: Sequence[HardwareLayer], at: int, options: Options) -> Streaming:
    if network.device is MAX78000:
        previous = layers[at].previous
        return _of_max78000(layers[at], None if previous is None else layers[previous], options)
    return _of_max78002(layers, at, options, pipeline=options.has_pipeline(network.device))


def _offset(hardware: HardwareLayer) -> int:
    return -(-hardware.in_passes // 4) * 4 if whole_words(hardware) else hardware.in_passes


def whole_words(hardware: HardwareLayer) -> bool:
    """Four passes at a time are computed (tcalc): with several passes where data is read ahead, unless said."""
    said = hardware.layer.hints.get("tcalc")
    return bool(said) if said is not None else hardware.hint("readahead") and hardware.in_passes > 1


def _overridden(hardware: HardwareLayer, found: Streaming, options: Options) -> Streaming:
    if not hardware.first:
        return found
    streams = hardware.layer.streaming
    return replace(
        found,
        delta1=options.stream_delta1 if streams and options.stream_delta1 is not None else found.delta1,
        delta2=options.stream_delta2 if streams and options.stream_delta2 is not None else found.delta2,
        rollover=options.stream_rollover if found.rollover and options.stream_rollover else found.rollover,
    )


def _of_max78000(hardware: HardwareLayer, previous: HardwareLayer | None, options: Options) -> Streaming:
    layer = hardware.layer
    rows, columns = hardware.pool
    width = hardware.in_size[1]
    step = hardware.pool_stride
    delta1 = delta2 = 0
    if hardware.first or previous is None:
        if layer.streaming:
            start = (rows - 1) * width + columns
            delta1 = (step[1] - 1) * layer.operands
            delta2 = (rows - 1) * width * layer.operands
        else:
            start = hardware.in_size[0] * width
            if layer.big_data:
                start = -(-start // _WORD_PIXELS)
        start = start * rows if options.stream_start is None else options.stream_start
    else:
        padded = previous.pooled[1] + 2 * previous.pad[1]
        kernel = previous.kernel_size
        start = padded * (kernel[0] - 1 + rows - 1) + kernel[1] - 1 + columns + 2
        delta1 = step[1] * layer.operands
        delta2 = (step[0] - 1) * padded + columns * layer.operands
    if layer.big_data:
        rollover = 12
    else:
        rollover = start + (rows - 1) * width + max(hardware.stride[1], step[1], columns)
    rollover += -rollover % hardware.in_passes
    return Streaming(start, delta1, delta2, rollover=rollover)


def _of_max78002(layers: Sequence[HardwareLayer], at: int, options: Options, *, pipeline: bool) -> Streaming:
    hardware = layers[at]
    layer = hardware.layer
    width, pad = hardware.in_size[1], hardware.pad[1]
    step = hardware.pool_stride
    rows = max(hardware.pool[0] * hardware.pool_dilation[0], step[0])
    columns = max(hardware.pool[1] * hardware.pool_dilation[1], step[1])
    ahead = step[1] if hardware.hint("readahead") else 0
    left_over = _left_over(hardware, columns)
    padded = width + 2 * pad
    single = step[0] == 1 and hardware.pool[0] == 1
    window = (rows * padded + pad + 2 * columns) * layer.operands
    if hardware.first:
        if not layer.streaming:
            start = hardware.in_size[0] * width
        else:
            start = columns if single else window + ahead
    else:
        start = (pad or step[0]) * padded + window + ahead
        if hardware.following is None or not layers[hardware.following].layer.streaming:
            start += left_over * step[1]
    if hardware.first and options.stream_start is not None:
        start = options.stream_start
    rollover = start + columns
    if hardware.first:
        rollover += (step[1] - 1) * padded
    else:
        rollover += (hardware.in_passes - 1) * (rows * width + pad + columns)
        rollover += -rollover % hardware.in_passes
    said = options.stream_delta1 if hardware.first else None
    delta1, delta2 = _deltas_of_max78002(hardware, single, left_over, said) if layer.streaming else (0, 0)
    if layer.big_data:
        start = start if hardware.first and options.stream_start is not None else -(-start // _WORD_PIXELS)
        rollover = rollover * step[1] * _WORD_PIXELS if hardware.first else -(-rollover // _WORD_PIXELS)
    if hardware.first and pipeline and delta2:
        delta2 += 1
    return Streaming(start, delta1, delta2, rollover=rollover)


def _left_over(hardware: HardwareLayer, columns: int) -> int:
    """Columns at the end of a row that no window of so many begins in."""
    if columns == 1:
        return 0
    width = hardware.in_size[1]
    whole = width // columns
    if whole * hardware.pool_stride[1] + hardware.pool[1] > width:
        whole -= 1
    return width - whole * columns


def _deltas_of_max78002(hardware: HardwareLayer, single: bool, left_over: int, said: int | None) -> tuple[int, int]:
    width = hardware.in_size[1]
    step = hardware.pool_stride
    whole = width // step[1]
    if whole * step[1] + hardware.pool[1] - 1 > width:
        whole -= 1
    skipped = max(0, width - whole * step[1])
    delta1 = step[1] * hardware.layer.operands
    if hardware.first and single:
        delta1 -= 1
    planes = _WORD_PIXELS if hardware.layer.big_data else 1
    delta1 = -(-delta1 // planes) if said is None else said
    beyond = left_over
    if hardware.first:
        beyond = skipped + (hardware.pool[1] - 1 if step[0] > 1 else 0)
    delta2 = beyond + (delta1 if step[0] == 1 else (step[0] - 1) * width)
    return delta1, -(-delta2 // planes)
