"""Graphs become networks: steps with real weights, scales, whole numbers, and places.

Weights have 8 bits where the kernel memory holds them. Where it does not, those layers get fewer for which that costs
least, until everything fits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import InternalError, UnsupportedError, Where
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.targets.max7800x.devices import Device
from buildtool.targets.max7800x.lowering.bit_cost import Measured
from buildtool.targets.max7800x.lowering.lower_data import Data, Order, Step
from buildtool.targets.max7800x.lowering.lower_steps import Steps, steps_of
from buildtool.targets.max7800x.lowering.scales import Numbers, numbers_of, scales_of
from buildtool.targets.max7800x.network import INPUT, UNPLACED, Kernel, Layer, Network, Source
from buildtool.targets.max7800x.planning import overlap, plan_kernels, plan_sizes, planner
from buildtool.targets.max7800x.planning.plan_kernels import NoColumnsError
from buildtool.targets.max7800x.simulation.arithmetic import HIGHEST, LOWEST

_FEWER = {8: 4, 4: 2, 2: 1}


@dataclass(frozen=True)
class Settings:
    """What a user may choose."""

    bits: Mapping[str, int] = field(default_factory=dict)  # of weights, by the name of a node; kept as they are
    most_bits: int = 8  # of all other weights
    samples: tuple[Array, ...] = ()  # inputs that tell what fewer bits cost; without any, the weights alone tell it


@dataclass(frozen=True)
class Port:
    """The input, or an output, as the model has it and as the accelerator has it."""

    name: str
    shape: tuple[int, ...]
    scale: float  # what one step stands for
    order: Order  # input: for each byte its number in the model's tensor; output: the other way round
    layer: int = INPUT  # that puts it out
    after: str = ""  # what is left to the program: softmax, sigmoid

    def stored(self, tensor: Array) -> NDArray[np.int64]:
        """An input tensor as [channels, rows, columns] of bytes."""
        steps = np.floor(np.asarray(tensor, np.float64).reshape(-1)[self.order] / self.scale + 0.5)
        return np.asarray(np.clip(steps, LOWEST, HIGHEST).astype(np.int64))

    def real(self, output: NDArray[np.int64]) -> Array:
        """What a layer put out, as the model's tensor, with what is left to the program done."""
        found = (output.reshape(-1)[self.order] * self.scale).reshape(self.shape)
        if self.after == "softmax":
            powers = np.exp(found - found.max(axis=-1, keepdims=True))
            found = powers / powers.sum(axis=-1, keepdims=True)
        elif self.after == "sigmoid":
            found = 1.0 / (1.0 + np.exp(-found))
        return np.asarray(found.astype(np.float32))


@dataclass(frozen=True)
class Lowered:
    """A model on the accelerator."""

    network: Network
    input: Port
    outputs: tuple[Port, ...]
    bits: Mapping[str, int]  # of the weights of each layer that has some


def lower(graph: Graph, device: Device, settings: Settings | None = None, name: str = "") -> Lowered:
    """Of a graph as `pipeline.optimise(graph, quantised=True)` leaves it, with ranges; with all its places.

    UnsupportedError lists the nodes that have no layer, the values without a range, or the limits that are exceeded.
    """
    settings = settings or Settings()
    steps = steps_of(graph, device)
    _mark_wide(steps)
    scales = scales_of(graph, steps.steps, steps.input)
    making = _Making(graph, device, steps, scales, name or graph.name, settings.samples)
    bits = _first_bits(graph, steps, settings)
    fixed = {step for step in bits if step.out.name in settings.bits or _name(step) in settings.bits}
    while True:
        network = making.network(bits)
        if plan_kernels.is_overfull(network) and (fewer := _least_harm(making, network, bits, fixed)) is not None:
            bits = fewer
            continue
        try:
            placed = planner.place(network)
            break
        except NoColumnsError:
            if (fewer := _least_harm(making, network, bits, fixed)) is None:
                raise
            bits = fewer
    wrong = overlap.check(placed)
    if wrong:
        raise InternalError(
            "the planner produced an invalid plan: " + wrong[0].render(), remedy="report this with the model"
        )
    return making.lowered(placed, bits)


def _first_bits(graph: Graph, steps: Steps, settings: Settings) -> dict[Step, int]:
    """What is asked for. UnsupportedError where no layer has a name, or no chip so many bits."""
    known = {name for step in steps.steps if step.weights is not None for name in (step.out.name, _name(step))}
    for name, bits in settings.bits.items():
        if name not in known or bits not in (8, 4, 2, 1):
            raise UnsupportedError(
                f"'{name}' is requested with weights of {bits} bits",
                where=Where(model=graph.name, node=name),
                rule="layers with weights: " + ", ".join(sorted(known)) + "; bits: 8, 4, 2, 1",
                remedy="use the layer names of the model",
            )
    return {
        step: settings.bits.get(step.out.name, settings.bits.get(_name(step), settings.most_bits))
        for step in steps.steps
        if step.weights is not None
    }


def _name(step: Step) -> str:
    return step.node.name


def _mark_wide(steps: Steps) -> None:
    """Outputs that nobody reads go out as sums, where nothing is done to them."""
    read = {data for step in steps.steps for data in step.read.sources}
    for step in steps.steps:
        step.wide = (
            step.is_output and step.out not in read and step.weights is not None and not step.activation
        ) and not step.keeps_scale


def _least_harm(making: _Making, network: Network, bits: dict[Step, int], fixed: set[Step]) -> dict[Step, int] | None:
    """With fewer bits for the layer that loses least for each column that it frees; None where there is none left."""
    found: list[tuple[float, int, Step]] = []
    for number, step in enumerate(making.steps.steps):
        if step not in bits or bits[step] not in _FEWER or step in fixed:
            continue
        fewer = _FEWER[bits[step]]
        layer = network.layers[number]
        assert layer.kernel is not None
        smaller = replace(layer, kernel=replace(layer.kernel, bits=fewer))
        freed = (plan_sizes.columns(layer) - plan_sizes.columns(smaller)) * layer.in_channels
        if freed > 0:
            harm = making.harm(number, fewer) - making.harm(number, bits[step])
            found.append((harm / freed, number, step))
    if not found:
        return None
    step = min(found, key=lambda one: one[:2])[2]
    return {**bits, step: _FEWER[bits[step]]}


class _Making:
    """Networks of one model, with more or fewer bits."""

    def __init__(
        self,
        graph: Graph,
        device: Device,
        steps: Steps,
        scales: Mapping[Data, float],
        name: str,
        samples: Sequence[Array],
    ) -> None:
        self.steps = steps
        self._samples = samples
        self._measured: Measured | None = None
        self._harm: dict[tuple[int, int], float] = {}
        self._graph, self._device, self._scales, self._name = graph, device, scales, name
        self._numbers: dict[tuple[Step, int], Numbers] = {}

    def numbers(self, step: Step, bits: int) -> Numbers:
        key = step, bits
        if key not in self._numbers:
            result = None if step.wide else self._scales[step.out]
            self._numbers[key] = numbers_of(step, bits, self._scales[step.read.sources[0]], result)
        return self._numbers[key]

    def harm(self, number: int, bits: int) -> float:
        """What the outputs of a layer lose with so many bits: as samples show it, or else as the weights let expect."""
        step = self.steps.steps[number]
        if not self._samples:
            return self.numbers(step, bits).error
        if self._measured is None:
            given = self._input()
            self._measured = Measured(self.network({}), [given.stored(sample) for sample in self._samples])
        if (number, bits) not in self._harm:
            layer = self.network({step: bits}).layers[number]
            scales = (self.numbers(step, 8).result_scale, self.numbers(step, bits).result_scale)
            self._harm[number, bits] = self._measured.lost(number, layer, scales)
        return self._harm[number, bits]

    def _input(self) -> Port:
        (given,) = self._graph.inputs
        shape = tuple(int(dim) for dim in given.type.shape if isinstance(dim, int))
        return Port(given.name, shape, self._scales[self.steps.input], self.steps.input_order)

    def network(self, bits: Mapping[Step, int]) -> Network:
        """Without places."""
        index = {self.steps.input: INPUT, **{step.out: number for number, step in enumerate(self.steps.steps)}}
        layers = tuple(self._layer(step, index, bits.get(step, 8)) for step in self.steps.steps)
        data = self.steps.input
        return Network(self._name, self._device, layers, data.channels, data.size, average_rounds=True, file="")

    def _layer(self, step: Step, index: Mapping[Data, int], bits: int) -> Layer:
        read = step.read
        kernel, shift = None, 0
        if step.weights is not None:
            found = self.numbers(step, bits)
            transposed = step.operation == "convtranspose2d"
            kernel = Kernel(
                found.weights,
                bits,
                found.bias,
                step.kernel,
                (2, 2) if transposed else (1, 1),
                step.pad,
                groups=step.groups,
                output_pad=(1, 1) if transposed else (0, 0),
            )
            shift = found.output_shift
        return Layer(
            index=index[step.out],
            name=step.out.name,
            operation=step.operation,
            sources=tuple(index[data] for data in read.sources),
            in_channels=read.channels,
            in_size=read.size,
            processors=0,
            in_offset=UNPLACED,
            flatten=step.flatten,
            pool=read.pool,
            pool_first=read.pool_first,
            operands=read.operands,
            eltwise=read.eltwise,
            kernel=kernel,
            output_shift=shift,
            activation=step.activation,
            out_channels=step.out.channels,
            out_size=step.out.size,
            out_offset=UNPLACED,
            output_width=32 if step.wide else 8,
            is_output=step.is_output,
            source=Source(node=step.node.name or step.out.name),
        )

    def lowered(self, placed: Network, bits: Mapping[Step, int]) -> Lowered:
        into = self._input()
        made = {step.out: step for step in self.steps.steps}
        # Copies of the planner come in between, and are no outputs.
        outputs = [step.out for step in self.steps.steps if step.is_output]
        indices = [layer.index for layer in placed.layers if layer.is_output]
        layer_of: dict[Data, int] = dict(zip(outputs, indices, strict=True))
        ports = []
        for result in self.steps.results:
            step = made[result.data]
            scale = self.numbers(step, bits[step]).result_scale if step in bits else self._scales[result.data]
            shape = tuple(int(dim) for dim in result.value.type.shape if isinstance(dim, int))
            assert math.prod(shape) == result.order.size
            order = result.order.reshape(-1)
            ports.append(Port(result.value.name, shape, scale, order, layer_of[result.data], result.after))
        named: dict[str, int] = {step.out.name: count for step, count in bits.items()}
        return Lowered(placed, into, tuple(ports), named)


def run(lowered: Lowered, outputs: Sequence[NDArray[np.int64]]) -> list[Array]:
    """The model's outputs, of what its layers put out."""
    at = {layer.index: position for position, layer in enumerate(lowered.network.layers)}
    return [port.real(outputs[at[port.layer]]) for port in lowered.outputs]
