"""An optimised graph with ranges becomes a kmodel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType
from buildtool.ops.concat import Concat
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.transpose import Transpose
from buildtool.targets.k210.format import kmodel, layout
from buildtool.targets.k210.format.cpu_layers import FullyConnected
from buildtool.targets.k210.format.kmodel import EIGHT_BIT_WEIGHTS, Kmodel, Output
from buildtool.targets.k210.generation import channels, checks, memory, on_cpu, on_kpu, quantise, sums
from buildtool.targets.k210.generation.forms import LEAST_SIDE, Planes, Program, Tensor, UnknownRangeError, known
from buildtool.targets.k210.generation.jobs import Bordered, Convolution, Dense, Folded, Job, OnCpu, Spread
from buildtool.targets.k210.generation.memory import Buffer, NoRoomError
from buildtool.targets.k210.generation.on_kpu import Convolved, Settings
from buildtool.targets.k210.generation.place import place
from buildtool.targets.k210.generation.quantise import Bytes, bytes_between
from buildtool.targets.k210.generation.rules import NotHereError, shape_of

_TO_PLANES = (0, 2, 3, 1)
_PICTURE_OPS = ("conv2d", "dwconv2d", "max_pool2d", "avg_pool2d", "resize2d", "reduce_mean", "pad")


@dataclass(frozen=True)
class Port:
    """The input or an output as the file has it: channels, rows, columns where it is a picture."""

    name: str
    shape: tuple[int, ...]
    stored: Bytes | None = None  # None: floats
    channels_last: bool = False  # whether the model has them behind rows and columns

    @property
    def size(self) -> int:
        return math.prod(self.shape) * (1 if self.stored else 4)

    def given(self, values: Array) -> bytes:
        """An input of the model, as the file takes it."""
        if self.channels_last:
            values = values.transpose(0, 3, 1, 2)
        return self.stored.stored(values).tobytes() if self.stored else values.astype("<f4").tobytes()

    def taken(self, data: bytes) -> Array:
        """An output of the file, as the model has it but for axes of one element."""
        values = np.frombuffer(data, "<f4").reshape(self.shape)
        return np.ascontiguousarray(values.transpose(1, 2, 0) if self.channels_last else values)


@dataclass(frozen=True)
class Report:
    """What became of a model."""

    layers: tuple[Convolved, ...]  # of the KPU
    kpu_macs: int
    all_macs: int
    file_bytes: int
    weight_bytes: int
    ram_bytes: int  # the KPU's, at most
    main_bytes: int

    @property
    def kpu_share(self) -> float:
        return self.kpu_macs / self.all_macs if self.all_macs else 0.0


@dataclass(frozen=True)
class Generated:
    data: bytes
    model: Kmodel
    input: Port
    outputs: tuple[Port, ...]
    report: Report
    tensors: tuple[str, ...]  # of the graph: what each layer makes, or a part of it


def generate(graph: Graph, settings: Settings | None = None) -> Generated:
    """Of a graph as `pipeline.optimise(graph, quantised=True)` leaves it. UnsupportedError lists what has no layer."""
    settings = settings or Settings()
    channels.to_convolutions(graph, fallback=settings.fallback)
    jobs = place(graph, quantise.stored(graph), settings.product_bytes, fallback=settings.fallback)
    try:
        return _Generating(graph, settings, brief=False).run(jobs)
    except NoRoomError as problem:
        try:
            return _Generating(graph, settings, brief=True).run(jobs)
        except NoRoomError:
            raise problem from None


class _Generating:
    def __init__(self, graph: Graph, settings: Settings, *, brief: bool) -> None:
        self._graph = graph
        self._settings = settings
        self._program = Program(wide=settings.wide, brief=brief)
        self._stored = quantise.stored(graph)
        self._pictures: set[Value] = set()
        self._convolved: list[Convolved] = []
        self._kpu_macs = 0
        _share_concats(graph, self._stored)

    def run(self, jobs: list[Job]) -> Generated:
        into = self._input()
        residuals = {job.a: job for job in jobs if isinstance(job, OnCpu) and job.a is not None}
        for job in jobs:
            self._attempt(job, residuals)
        outputs = [self._output(value) for value in self._graph.outputs]
        inputs = [buffer for buffer in (into.ram.buffer if into.ram else None, into.floats) if buffer is not None]
        return self._written(into, inputs, outputs)

    # -- the ends ------------------------------------------------------------------------------------------------------
    def _input(self) -> Tensor:
        graph = self._graph
        if len(graph.inputs) != 1:
            raise UnsupportedError(
                f"the model has {len(graph.inputs)} inputs",
                where=Where(model=graph.name),
                rule="a kmodel has one",
                remedy="concatenate them along the channels before the model",
            )
        (value,) = graph.inputs
        readers = graph.users().get(value, [])
        if value.type.rank == 4 and not (readers and all(_turns(node) for node in readers)):
            self._pictures.add(value)
        tensor = self._tensor(value)
        if value.type.rank != 4:
            tensor.floats = Buffer(value.name, False, tensor.count * 4)
            return tensor
        if min(tensor.height, tensor.width) < LEAST_SIDE:
            raise UnsupportedError(
                f"the input has {tensor.height} x {tensor.width} pixels",
                where=Where(model=graph.name, value=value.name),
                rule=f"the KPU takes images from {LEAST_SIDE} x {LEAST_SIDE} pixels on",
                remedy="use a larger image",
            )
        if tensor.stored is None:
            raise quantise.unknown(value.name, graph.name)
        size = layout.units(tensor.width, tensor.height, tensor.channels)
        tensor.ram = Planes(Buffer(value.name, True, size), tensor.height, tensor.width, zeros_around=True)
        return tensor

    def _output(self, value: Value) -> tuple[Value, Buffer]:
        tensor = self._program.tensors[value]
        self._program.node = value.name
        try:
            return value, self._program.floats_of(tensor)
        except UnknownRangeError as problem:
            raise quantise.unknown(problem.name, self._graph.name) from problem

    # -- one job -------------------------------------------------------------------------------------------------------
    def _attempt(self, job: Job, residuals: Mapping[Value, OnCpu]) -> None:
        """The steps of a job. UnsupportedError names its node."""
        node = job.node
        self._program.node = name = node.name or node.outputs[0].name
        where = Where(model=self._graph.name, node=name)
        layer = f"layer {self._graph.nodes.index(node)}, {node.op.name}"
        try:
            self._make(job, residuals)
        except NotHereError as problem:
            raise UnsupportedError(
                f"{layer}: {problem.what}", where=where, rule=problem.rule, remedy=problem.remedy
            ) from problem
        except UnknownRangeError as problem:
            raise quantise.unknown(problem.name, self._graph.name) from problem
        except UnsupportedError as problem:
            told = [Problem(f"{layer}: {one.what}", where, one.rule, one.remedy) for one in problem.problems]
            raise UnsupportedError(told) from problem

    def _make(self, job: Job, residuals: Mapping[Value, OnCpu]) -> None:
        node = job.node
        if isinstance(job, Convolution):
            if node.inputs[0].type.rank == 4:
                self._need_pictures(node, job.x)
                self._pictures.add(job.y)
            y = self._tensor(job.y)
            if job.pooled is not None:
                y.stored = self._stored.get(job.pooled)
            if job.y in residuals:
                y.stored = self._without_residual(residuals[job.y])
            self._convolved.append(on_kpu.make(self._program, job, self._settings))
            self._kpu_macs += _macs(node)
            return
        if isinstance(job, Bordered):
            self._need_pictures(node, job.x)
            self._pictures.add(job.y)
            self._tensor(job.y)
            on_cpu.around(self._program, job.x, job.y, job.border)
            return
        if isinstance(job, Spread):
            self._need_pictures(node, job.x)
            self._pictures.add(job.y)
            self._tensor(job.y).stored = self._program.tensors[job.x].stored
            on_cpu.spread(self._program, job)
            return
        if isinstance(job, Folded):
            self._folded(job)
            return
        if isinstance(job, Dense):
            self._need_pictures(node, node.inputs[0])
            self._pictures.add(node.outputs[0])
            self._tensor(node.outputs[0])
            on_cpu.product(self._program, job)
            return
        x = next(value for value in (job.a, *node.inputs) if value is not None and not value.is_constant)
        if node.op.name in _PICTURE_OPS:
            self._need_pictures(node, x)
        value = node.outputs[0]
        if on_cpu.same_memory(node, lambda one: one in self._pictures):
            self._same(x, value, node)
            return
        is_picture = x in self._pictures and node.op.name != "reshape"
        if value.type.rank == 4 and is_picture:
            self._pictures.add(value)
        self._tensor(value)
        on_cpu.make(self._program, job)

    def _folded(self, job: Folded) -> None:
        """Numbers behind the last one meet weights of zero, so that it does not matter what they are."""
        x = self._program.tensors[job.x]
        planes = Tensor(job.y.name, job.channels, 3, 3, known(x))
        planes.bytes = self._program.bytes_of(x)
        planes.bytes.size = max(planes.bytes.size, planes.count)
        self._program.tensors[job.y] = planes

    def _same(self, x: Value, value: Value, node: Node) -> None:
        """The same bytes, looked at in another way."""
        turned = value.type.rank == 4 and (isinstance(node.op, Transpose) or _turns(node))
        one_pixel = value.type.rank == 4 and shape_of(value)[1:3] == (1, 1)
        if (turned and x not in self._pictures) or one_pixel:
            self._pictures.add(value)
        old = self._program.tensors[x]
        sizes = self._sizes(value)
        if sizes == (old.channels, old.height, old.width):
            self._program.tensors[value] = old
            return
        new = self._tensor(value)
        new.stored = old.stored
        if old.floats is None:
            new.bytes = self._program.bytes_of(old)
        new.floats = old.floats

    def _need_pictures(self, node: Node, value: Value) -> None:
        if value not in self._pictures:
            raise NotHereError(
                f"'{value.name}' is not stored as an image",
                "images are stored channels first in a kmodel, and layers do not move axes",
                "remove the operator that reshapes a vector to an image, or that moves axes",
            )

    def _without_residual(self, job: OnCpu) -> Bytes:
        """What a layer may give in front of its residual, for all sums that make a difference."""
        assert job.b is not None
        y = self._stored.get(job.node.outputs[0])
        if y is None:
            raise UnknownRangeError(job.node.outputs[0].name)
        residual = known(self._program.tensors[job.b])
        low, high = sums.reach(job.functions, y)
        return bytes_between(low - residual.high, high - residual.low)

    def _tensor(self, value: Value) -> Tensor:
        made = Tensor(value.name, *self._sizes(value), self._stored.get(value))
        self._program.tensors[value] = made
        return made

    def _sizes(self, value: Value) -> tuple[int, int, int]:
        """Channels, rows and columns, as they lie in memory."""
        shape = shape_of(value)
        if len(shape) != 4:
            return math.prod(shape), 1, 1
        return (shape[3], shape[1], shape[2]) if value in self._pictures else (shape[1], shape[2], shape[3])

    # -- the file ------------------------------------------------------------------------------------------------------
    def _written(self, into: Tensor, inputs: list[Buffer], outputs: list[tuple[Value, Buffer]]) -> Generated:
        steps, name = self._program.steps, self._graph.name
        if not steps or (into.ram is None and not self._begins_with_a_product()):
            raise UnsupportedError(
                f"the input '{into.name}' is used by another operator than a fully connected layer",
                where=Where(model=name, node=steps[0].node if steps else ""),
                rule="the first layer reads the input: a convolution reads an image, a fully connected layer a vector",
                remedy="start the model with one of these",
            )
        results = [buffer for _, buffer in outputs]
        plan = memory.plan(steps, inputs, results, name)
        if plan.main_peak > memory.MAIN_BYTES:
            raise UnsupportedError(
                f"the model needs {plan.main_peak} bytes of main memory",
                where=Where(model=name),
                rule=f"the chip has {memory.MAIN_BYTES}",
                remedy="use a smaller input image, or fewer layers that run on the CPU",
            )
        layers = [step.make(plan.places) for step in steps]
        memory.check(steps, layers, plan, inputs, results)
        model = Kmodel(
            0 if self._settings.wide else EIGHT_BIT_WEIGHTS,
            checks.rounded(plan.main_peak),
            tuple(Output(plan.places[buffer], buffer.size) for buffer in results),
            tuple(layer for made in layers for layer in made),
        )
        data = kmodel.write(model)
        report = Report(
            tuple(self._convolved),
            self._kpu_macs,
            sum(_macs(node) for node in self._graph.nodes),
            len(data),
            sum(len(getattr(layer, "weights", b"")) for layer in model.layers),
            plan.ram_peak * layout.UNIT,
            plan.main_peak,
        )
        shape = (into.channels, into.height, into.width) if into.ram else (into.count,)
        channels_last = self._graph.inputs[0] in self._pictures
        port = Port(into.name, shape, into.stored if into.ram else None, channels_last)
        tensors = tuple(step.writes[0].name for step, made in zip(steps, layers, strict=True) for _ in made)
        return Generated(data, model, port, tuple(self._port(value) for value, _ in outputs), report, tensors)

    def _begins_with_a_product(self) -> bool:
        first = self._program.steps[0]
        zeros = dict.fromkeys((*first.reads, *first.writes), 0)
        return isinstance(first.make(zeros)[0], FullyConnected)

    def _port(self, value: Value) -> Port:
        shape = self._sizes(value) if value.type.rank == 4 else shape_of(value)
        return Port(value.name, tuple(shape), None, value.type.rank == 4 and value in self._pictures)


def _turns(node: Node) -> bool:
    """Whether it makes a picture of planes. With one channel a reshape does."""
    if isinstance(node.op, Transpose):
        return tuple(node.op.perm) == _TO_PLANES
    before, after = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    is_grey = node.op.name == "reshape" and len(before) == len(after) == 4 and before[1] == 1
    return is_grey and after == (before[0], before[2], before[3], 1)


def _macs(node: Node) -> int:
    if not isinstance(node.op, Conv2d | DwConv2d) and node.op.name != "fully_connected":
        return 0
    types: tuple[list[TensorType], list[TensorType]] = (
        [value.type for value in node.inputs],
        [value.type for value in node.outputs],
    )
    found = node.op.macs(*types)
    assert isinstance(found, int)
    return found


def _share_concats(graph: Graph, stored: dict[Value, Bytes]) -> None:
    """What is only a part of a concatenation is stored as that is: so it need not be converted."""
    users, outputs = graph.users(), set(graph.outputs)
    for node in reversed(graph.nodes):
        if not isinstance(node.op, Concat):
            continue
        result = node.outputs[0]
        known_parts = [stored[value] for value in node.inputs if value in stored]
        if result not in stored and len(known_parts) == len(node.inputs):
            low, high = min(part.low for part in known_parts), max(part.high for part in known_parts)
            stored[result] = bytes_between(low, high)
        if result in stored:
            for value in node.inputs:
                if users[value] == [node] and value not in outputs:
                    stored[value] = stored[result]
