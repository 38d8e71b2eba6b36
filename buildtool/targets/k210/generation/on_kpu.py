"""Convolutions as steps of a program: registers, weights, and where the result goes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.arguments import ConvShape, layer_argument
from buildtool.targets.k210.format.kpu_layers import conv
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.generation import quantise, split
from buildtool.targets.k210.generation.activation import Function
from buildtool.targets.k210.generation.forms import Planes, Program, known
from buildtool.targets.k210.generation.jobs import Convolution
from buildtool.targets.k210.generation.memory import Buffer, Places, Step
from buildtool.targets.k210.generation.quantise import Bytes, Registers
from buildtool.targets.k210.generation.split import Part

#: By pool: the steps that a mean loses on average, as it is cut off. Numbers are that much larger before they are
#: rounded.
_LOST_BY_MEANS = {2: 3 / 8, 4: 15 / 32}


@dataclass(frozen=True)
class Settings:
    """How weights are stored, and where."""

    weight_bits: int = 8  # or 16
    per_channel: bool | None = None  # None: layer by layer, what is nearer to the weights
    fallback: bool = False  # whether convolutions that the KPU cannot do become large layers of the CPU
    product_bytes: int = 256 * 1024  # fully connected layers with more bytes of floats are convolutions of the KPU

    @property
    def wide(self) -> bool:
        return self.weight_bits > 8


@dataclass(frozen=True)
class Convolved:
    """What the report tells of a layer."""

    name: str
    shape: ConvShape
    activation: str
    error: float  # steps by which the activation is off at most, rounding included
    per_channel: bool
    parts: int


def make(program: Program, job: Convolution, settings: Settings) -> Convolved:
    """The step of a convolution. UnknownRangeError where a range is missing, UnsupportedError where its numbers do not
    fit."""
    x, y = program.tensors[job.x], program.tensors[job.y]
    planes = program.planes_of(x, zeros_around=job.kernel == 3)
    weights = quantise.weights(job.weights, settings.weight_bits, settings.per_channel)
    function = function_of(job.function, job.pool, known(y))
    registers = quantise.registers(weights, job.bias, known(x), known(y), function, wide=settings.wide)
    outputs = len(job.weights)
    shape = ConvShape((x.channels, planes.height, planes.width), outputs, job.kernel, job.depthwise, job.pool)
    channel = job.weights[0].size * (2 if settings.wide else 1)
    _, height, width = shape.out_shape
    target = Buffer(y.name, True, layout.units(width, height, outputs))
    most = _most_channels(planes.buffer, target, layout.units(width, height, split.STEP))
    found = split.parts(outputs, channel, wide=settings.wide, most=most or split.MOST_CHANNELS)
    making = _Making(shape, registers, found, planes.buffer, target, channel, settings.wide)
    main = Buffer(y.name, False, outputs * height * width)
    if most:  # only main memory has room for all of the result
        making.target = target = Buffer(f"a part of {y.name}", True, layout.units(width, height, most))
        making.main, making.one_place = main, True
        y.sent = Planes(main, height, width, job.pick)
    step = Step(program.node, (planes.buffer,), (target, main) if most else (target,), making.layers)
    program.steps.append(step)

    def send() -> Buffer:
        making.main = main
        step.writes += (main,)
        return main

    if not most:
        y.ram, y.late, y.send = Planes(target, height, width, job.pick), job.late, send
    words = " + ".join(job.words) or "none"
    return Convolved(program.node, shape, words, registers.fit.error, weights.per_channel, len(found))


def function_of(function: Function, pool: int, stored: Bytes) -> Function:
    """What the activation computes: the function, and the half step that a mean would cut off behind it."""
    lost = _LOST_BY_MEANS.get(pool, 0.0) * stored.scale
    return lambda sums: function(sums) + lost


def _most_channels(source: Buffer, target: Buffer, some: int) -> int:
    """How many channels of a result the KPU's RAM takes beside what is read; 0: all. `some`: units of the fewest."""
    room = layout.RAM_UNITS - source.size
    if target.size <= room:
        return 0
    return room // some * split.STEP


@dataclass
class _Making:
    shape: ConvShape
    registers: Registers
    parts: tuple[Part, ...]
    source: Buffer
    target: Buffer
    channel: int  # bytes of the weights of one output channel
    wide: bool
    main: Buffer | None = None
    one_place: bool = False  # in the KPU's RAM, each part takes the place of the one before

    def layers(self, at: Places) -> list[Layer]:
        return [self._layer(part, at) for part in self.parts]

    def _layer(self, part: Part, at: Places) -> Layer:
        registers = self.registers
        channels, rows, columns = self.shape.in_shape
        source = at[self.source]
        if self.shape.depthwise:  # a part of the channels comes in, too
            source += layout.units(columns, rows, part.first)
            channels = part.count
        shape = replace(self.shape, in_shape=(channels, rows, columns), out_channels=part.count)
        _, height, width = shape.out_shape
        argument = layer_argument(
            shape,
            src=source,
            dst=at[self.target] + (0 if self.one_place else layout.units(width, height, part.first)),
            wide=self.wide,
            pad_value=registers.pad_value,
            zero_points=registers.zero_points,
        )
        end = part.first + part.count
        return conv(
            argument,
            registers.weights[part.first * self.channel : end * self.channel],
            registers.batch_norm[part.first : end],
            registers.fit.activation,
            None if self.main is None else at[self.main] + part.first * height * width,
        )
