"""Runs a network as the accelerator would, to the last bit, and keeps what every layer puts out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import RunError, Where
from buildtool.targets.max7800x import rolling
from buildtool.targets.max7800x.network import BUFFER, INPUT, Layer, Network
from buildtool.targets.max7800x.simulation import arithmetic
from buildtool.targets.max7800x.simulation.arithmetic import Values
from buildtool.targets.max7800x.simulation.checks import as_simulated, check, times


@dataclass(frozen=True)
class Trace:
    """What a network computed."""

    network: Network
    sample: Values  # what it was given: [channels, rows, columns]
    outputs: tuple[Values, ...]  # of every layer, in the order of `network.layers`; empty where a layer was passed over
    order: tuple[int, ...]  # the positions in `network.layers` of those that ran

    @property
    def result(self) -> Values:
        """The output of the layer that ran last."""
        return self.outputs[self.order[-1]]

    @property
    def results(self) -> dict[int, Values]:
        """By position: the outputs of the last layer and of all that are outputs as well."""
        last = self.order[-1]
        return {at: self.outputs[at] for at in self.order if at == last or self.network.layers[at].is_output}


def run(network: Network, sample: NDArray[Any]) -> Trace:
    """Every layer's output for a sample of [channels, rows, columns], or of less where the rest is 1.

    The errors of `checks.check`; RunError where the sample is not what the network takes.
    """
    network = as_simulated(network)
    ran = check(network)
    given = as_sample(network, sample)
    outputs: dict[int, Values] = {INPUT: given}
    buffer = rolling.Contents(network)
    for at in ran:
        layer = network.layers[at]
        if layer.sources == (BUFFER,):
            outputs[BUFFER] = buffer.read(layer)
        outputs[layer.index] = output_of(network, layer, [outputs[source] for source in layer.sources])
        buffer.write(layer, outputs[layer.index])
    nothing = np.zeros((0, 0, 0), np.int64)
    return Trace(network, given, tuple(outputs.get(layer.index, nothing) for layer in network.layers), ran)


def as_sample(network: Network, sample: NDArray[Any]) -> Values:
    """A sample in the shape that the network takes. RunError where it is another, or holds what no byte holds."""
    wanted = (network.input_channels, *network.input_size)
    if sample.size != np.prod(wanted) or _without_ones(sample.shape) != _without_ones(wanted):
        raise RunError(
            f"the sample is {times(sample.shape)}, and the network takes {times(wanted)}",
            where=Where(model=network.name, file=network.file),
            remedy="give channels, rows, columns in this order",
        )
    values: Values = np.asarray(sample).astype(np.int64).reshape(wanted)
    if not np.array_equal(values.reshape(-1), np.asarray(sample).reshape(-1)):
        raise RunError("the sample contains non-integer values", where=Where(model=network.name))
    if values.size and (values.min() < arithmetic.LOWEST or values.max() > arithmetic.HIGHEST):
        raise RunError(
            f"the sample contains values from {values.min()} to {values.max()}",
            where=Where(model=network.name, file=network.file),
            rule="-128 to 127",
            remedy="subtract 128 from pixels of 0 to 255",
        )
    return values


def output_of(network: Network, layer: Layer, sources: Sequence[Values]) -> Values:
    """One layer's output. It fits what it is given: `checks.check` says so."""
    return _after_kernel(layer, before_kernel(network, layer, sources))


def before_kernel(network: Network, layer: Layer, sources: Sequence[Values]) -> Values:
    """What comes out of operands and pools, before convolution and flattening."""
    parts: tuple[Values, ...] = arithmetic.operands(
        arithmetic.joined(sources, layer.in_size), layer.operands, layer.in_channel_skip, layer.in_channels
    )
    if layer.eltwise and not layer.pool_first:
        parts = (_eltwise(layer, parts),)
    rounds = arithmetic.averages_round(layer.operation, network.average_rounds)
    parts = tuple(
        arithmetic.pooled(arithmetic.reshaped(part, layer.in_crop, layer.in_size), layer.pool, rounds=rounds)
        for part in parts
    )
    return _eltwise(layer, parts) if layer.eltwise and layer.pool_first else parts[0]


def _eltwise(layer: Layer, parts: Sequence[Values]) -> Values:
    """In front of a convolution everything is narrow; alone it may be wide."""
    assert layer.eltwise is not None
    wide = layer.operation == "none" and layer.output_width == 32
    return arithmetic.eltwise(layer.eltwise, parts, saturates=not wide)


def _after_kernel(layer: Layer, values: Values) -> Values:
    if layer.kernel is None:
        return values
    if layer.flatten:
        values = arithmetic.flattened(values)
    kernel = layer.kernel
    if layer.hints.get("bypass"):  # the kernel memory is passed by: everything counts once
        kernel = replace(kernel, weights=np.ones_like(kernel.weights), bits=8)
    total = arithmetic.sums(layer.operation, values, kernel)
    if layer.output_width == 32:
        return total
    narrow = arithmetic.narrowed(total, arithmetic.total_shift(layer.output_shift, kernel.bits))
    return arithmetic.activated(narrow, layer.activation)


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [side for side in shape if side != 1]
