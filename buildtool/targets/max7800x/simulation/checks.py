"""Whether a network can be computed: layers in an order, sizes that agree, steps that exist.

Places in memory are checked elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from buildtool.errors import GraphError, LatheError, Problem, UnsupportedError, Where
from buildtool.targets.max7800x import rolling
from buildtool.targets.max7800x.network import BUFFER, INPUT, STOP, Layer, Network, Size
from buildtool.targets.max7800x.simulation import arithmetic

LARGEST_SHIFT = 15
LARGEST_SUM = 2**31 - 1  # of products, whatever the values are
MOST_VALUES = 2**28  # that a layer reads, pads or puts out
_BITS = (8, 4, 2, 1, -1)

Shape = tuple[int, int, int]  # channels, rows, columns
_Require = Callable[[bool, str], None]


def check(network: Network) -> tuple[int, ...]:
    """The positions of the layers in the order in which they run.

    UnsupportedError where something cannot be simulated, GraphError where layers contradict each other or themselves;
    either with all that is wrong.
    """
    ran = order(network)
    refused = [problem for at in ran for problem in _refusals(network, network.layers[at])]
    if refused:
        raise UnsupportedError(refused)
    shapes: dict[int, Layer | None] = {INPUT: None}
    problems: list[Problem] = []
    for at in ran:
        layer = network.layers[at]
        try:
            check_sizes(layer, [_shape(network, shapes, layer, source) for source in layer.sources])
        except LatheError as problem:
            problems += problem.problems
        shapes[layer.index] = layer
    if problems:
        raise GraphError(problems)
    return ran


def order(network: Network) -> tuple[int, ...]:
    """The positions of the layers in the order in which they run. GraphError where there is none."""
    at_index = {layer.index: at for at, layer in enumerate(network.layers)}
    ran: dict[int, None] = {}
    at = 0
    while at < len(network.layers):
        layer = network.layers[at]
        if at in ran:
            raise GraphError("the order of the layers has a cycle", where=where(layer))
        ran[at] = None
        if layer.next_layer == STOP:
            break
        if layer.next_layer is not None and layer.next_layer not in at_index:
            raise GraphError(f"there is no layer {layer.next_layer} to follow it", where=where(layer))
        at = at + 1 if layer.next_layer is None else at_index[layer.next_layer]
    if not ran:
        raise GraphError("the network has no layers", where=Where(model=network.name, file=network.file))
    return tuple(ran)


def as_simulated(network: Network) -> Network:
    """The network with the order that the description gives where snooping decides it (simulated_sequence).

    A layer whose predecessor is left out reads what ran before it.
    """
    if not any("simulated_sequence" in layer.hints for layer in network.layers):
        return network
    layers = [
        replace(layer, next_layer=layer.hints.get("simulated_sequence", layer.next_layer)) for layer in network.layers
    ]
    known, before = {INPUT, BUFFER}, INPUT
    for at in order(replace(network, layers=tuple(layers))):
        sources = tuple(source if source in known else before for source in layers[at].sources)
        layers[at] = replace(layers[at], sources=sources)
        before = layers[at].index
        known.add(before)
    return replace(network, layers=tuple(layers))


def where(layer: Layer) -> Where:
    """The place of a layer, for messages."""
    return Where(file=layer.source.file, line=layer.source.line, node=layer.source.node or layer.name)


def joined_shape(sources: Sequence[Shape], size: Size) -> Shape:
    """Of the sources together, as `arithmetic.joined` puts them."""
    if len({source[1:] for source in sources}) == 1:
        return (sum(source[0] for source in sources), *sources[0][1:])
    return (sources[0][0], *size)


def check_sizes(layer: Layer, sources: Sequence[Shape]) -> None:
    """GraphError where a layer cannot be computed of these sources, or gives something other than it says."""

    def require(holds: bool, what: str) -> None:
        if not holds:
            raise GraphError(what, where=where(layer))

    require(bool(sources), "it has no input")
    channels, rows, columns = joined_shape(sources, layer.in_size)
    if len({source[1:] for source in sources}) > 1:
        pixels = sum(source[1] * source[2] for source in sources)
        alike = len({source[0] for source in sources}) == 1 and pixels == rows * columns
        require(alike, f"its sources are not adjacent: {', '.join(times(source) for source in sources)}")
    per_operand = layer.in_channel_skip + layer.in_channels
    fits = channels % layer.operands == 0 and channels // layer.operands >= per_operand and layer.in_channels > 0
    require(fits, f"{channels} channels are the input, and {layer.operands} x {per_operand} were expected")
    cut = sum(layer.in_crop or (0, 0))
    given = times((max(rows - cut, 0), columns))
    require(
        (rows - cut) * columns == layer.in_size[0] * layer.in_size[1] > 0,
        f"images of {given} are the input, and {times(layer.in_size)} were expected",
    )
    size = arithmetic.pooled_size(layer.in_size, layer.pool)
    require(min(size) > 0, f"the pool is larger than images of {times(layer.in_size)}")
    result = (layer.in_channels, *size)
    if layer.kernel is not None:
        result = _convolved(layer, result, require)
    said = (layer.out_channels, *layer.out_size)
    require(result == said, f"its output is {times(result)}, and {times(said)} were expected")


def times(shape: Sequence[int]) -> str:
    """A shape in words."""
    return " x ".join(str(side) for side in shape) or "one number"


def _convolved(layer: Layer, shape: Shape, require: _Require) -> Shape:
    kernel = layer.kernel
    assert kernel is not None
    if layer.flatten:
        shape = (shape[0] * shape[1] * shape[2], 1, 1)
    count, per_group, *window = kernel.weights.shape
    fits = per_group * kernel.groups == shape[0] and count % kernel.groups == 0
    in_groups = f" in {kernel.groups} groups" if kernel.groups > 1 else ""
    require(fits, f"weights of {count} x {per_group}{in_groups} do not fit {shape[0]} channels")
    size = (1, 1) if layer.operation == "linear" else kernel.size
    require(tuple(window) == size, f"weights of {times(window)} are not {times(size)}")
    alike = kernel.bias is None or kernel.bias.shape == (count,)
    require(alike, f"{0 if kernel.bias is None else kernel.bias.size} biases do not fit {count} channels")
    largest = per_group * size[0] * size[1] * 2**14 + 2**14
    require(largest <= LARGEST_SUM, f"sums of {per_group * size[0] * size[1]} products do not fit into 32 bits")
    if layer.operation == "convtranspose2d":
        too_much = any(
            pad > step * (side - 1) for pad, step, side in zip(kernel.pad, kernel.dilation, size, strict=True)
        )
        require(not too_much, f"padding of {times(kernel.pad)} is more than a kernel of {times(size)} allows")
    walk = arithmetic.geometry(layer.operation, shape[1:], kernel)
    require(math.prod(walk.padded_size) * shape[0] <= MOST_VALUES, f"{times(walk.padded_size)} once it is padded")
    rows, columns = walk.out_size
    require(rows > 0 and columns > 0, f"a kernel of {times(size)} is larger than the padded image")
    require(count * rows * columns <= MOST_VALUES, f"its output is {times((count, rows, columns))}")
    return count, rows, columns


def _shape(network: Network, known: dict[int, Layer | None], layer: Layer, source: int) -> Shape:
    """Of what a layer reads."""
    if source == BUFFER and network.data_buffers:
        return (network.data_buffers[0].channels, *layer.in_size)
    if source not in known:
        raise GraphError(f"it reads layer {source}, which does not run before it", where=where(layer))
    read = known[source]
    if read is None:
        return (network.input_channels, *network.input_size)
    if read.output_width != 8:
        rule = "inputs are of 8 bits"
        raise GraphError(f"it reads the {read.output_width} bits of layer {source}", where=where(layer), rule=rule)
    return (read.out_channels, *read.out_size)


def _impossible(layer: Layer) -> str:
    """What no layer can have, whatever the others are; empty where it may be."""
    pool, kernel = layer.pool, layer.kernel
    counts = [layer.operands, layer.in_channels, layer.out_channels, *layer.in_size, *layer.out_size]
    gaps = [layer.in_channel_skip, *(layer.in_crop or ())]
    if pool is not None:
        counts += [*pool.size, *pool.stride, *pool.dilation]
    if kernel is not None:
        counts += [*kernel.size, *kernel.stride, *kernel.dilation, kernel.groups]
        gaps += [*kernel.pad, *kernel.output_pad]
        if kernel.weights.ndim != 4 or kernel.weights.dtype != np.int8 or not kernel.weights.size:
            return f"weights of {kernel.weights.dtype} in {kernel.weights.ndim} dimensions"
        if kernel.bias is not None and kernel.bias.dtype != np.int8:
            return f"biases of {kernel.bias.dtype}"
    if min(counts) < 1 or min(gaps) < 0:
        return f"{min(counts)} or {min(gaps)} among its sizes"
    if math.prod(layer.in_size) * layer.in_channels * layer.operands > MOST_VALUES:
        return f"{layer.operands} x {layer.in_channels} images of {times(layer.in_size)}"
    return ""


def _refusals(network: Network, layer: Layer) -> Iterator[Problem]:
    place = where(layer)
    if what := _impossible(layer):
        yield Problem(what, place)
        return
    if layer.activation and (layer.operation == "none" or layer.output_width == 32):
        what = "layers without a convolution" if layer.operation == "none" else "outputs of 32 bits"
        yield Problem(f"{what} have no activation", place, remedy="leave out `activate`")
    if (layer.operands > 1) != (layer.eltwise is not None):
        yield Problem(
            f"{layer.operands} operands for '{layer.eltwise or 'nothing'}'", place, rule="2 to 16 for eltwise"
        )
    if (layer.kernel is None) != (layer.operation == "none"):
        yield Problem(f"'{layer.operation}' {'without' if layer.kernel is None else 'with'} weights", place)
    if layer.kernel is None and layer.output_width == 32 and layer.eltwise is None:
        yield Problem("no 32-bit result is computed", place, remedy="leave out `output_width`")
    if layer.kernel is not None and layer.kernel.bits not in _BITS:
        yield Problem(f"weights of {layer.kernel.bits} bits", place, rule=f"one of {_BITS}")
    elif layer.kernel is not None:
        shift = arithmetic.total_shift(layer.output_shift, 8 if layer.hints.get("bypass") else layer.kernel.bits)
        if abs(shift) > LARGEST_SHIFT and layer.output_width == 8:
            rule = f"output_shift + 8 - bits of the weights is from -{LARGEST_SHIFT} to {LARGEST_SHIFT}"
            yield Problem(f"sums are shifted by {shift}", place, rule=rule)
    for what, rule in rolling.problems(network, layer):
        yield Problem(what, place, rule=rule)
