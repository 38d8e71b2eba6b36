"""A kmodel as a graph: what each layer computes in operators that Lathe has, so that all that works on graphs does.

The graph holds numbers as the chip does: planes as bytes from 0 to 255 (in double precision), lists as bytes
or as floats. The reference of the graph gives the bytes of the simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ir.verify import verify
from buildtool.targets.k210.format.cpu_layers import Dequantize, FullyConnected
from buildtool.targets.k210.format.kmodel import Kmodel
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, Upload
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.generation.checks import covers_its_input
from buildtool.targets.k210.generation.rules import NotHereError, shape_of
from buildtool.targets.k210.simulation import cpu_meanings, kpu_meanings
from buildtool.targets.k210.simulation.extents import MainMemory, Nodes, PlaneMemory

_PADDED_EDGE = 4
INPUT = "input"


@dataclass(frozen=True)
class Unrolled:
    """The graph, and what each layer of the kmodel makes in it: planes [1, rows, columns, channels], or a list.

    The input is [1, channels, rows, columns], or a list [n]; so are the outputs, lists in the order of the file. Names
    are `layer0`, `layer1`, ...; `zero_points` tells, by these names, which byte stands for 0, as far as readers say.
    """

    graph: Graph
    values: tuple[Value, ...]
    zero_points: Mapping[str, int]


def to_graph(model: Kmodel, name: str = "kmodel") -> Unrolled:
    """UnsupportedError where memory is read in another form than it was written in."""
    return _Unrolling(model, name).run()


class _Unrolling:
    def __init__(self, model: Kmodel, name: str) -> None:
        self._model = model
        self._nodes = Nodes(Graph(name=name))
        self._main = MainMemory(self._nodes)
        self._ram = PlaneMemory(self._nodes)
        self._same: dict[Value, Value] = {}  # what holds the bytes of another value, in another order
        self._zero_points: dict[Value, int] = {}

    def run(self) -> Unrolled:
        self._input(self._model.layers[0])
        values: list[Value] = []
        for number, layer in enumerate(self._model.layers):
            self._nodes.name = f"layer{number}"
            where = Where(model=self._nodes.graph.name, node=self._nodes.name)
            kind = f"layer {number}, type {layer.TYPE} ({layer.TYPE.name})"
            try:
                made = self._layer(layer)
            except NotHereError as problem:
                told = Problem(f"{kind}: {problem.what}", where, problem.rule, problem.remedy)
                raise UnsupportedError(told) from problem
            except OperatorError as problem:
                raise UnsupportedError(f"{kind}: {problem}", where=where) from problem
            if made not in values and not made.is_constant:
                made.name = self._nodes.name
                made.source_names = (made.name,)
            values.append(made)
        self._outputs()
        verify(self._nodes.graph)
        zero_points = {value.name: zero for value, zero in self._zero_points.items()}
        return Unrolled(self._nodes.graph, tuple(values), zero_points)

    def _input(self, first: Layer) -> None:
        graph, nodes = self._nodes.graph, self._nodes
        if isinstance(first, Conv):
            value = Value(INPUT, TensorType(DType.F32, (1, *first.in_shape)), (INPUT,))
            self._ram.write(first.argument.src, nodes.turned(nodes.cast(value, DType.F64), 0, 2, 3, 1))
        else:
            assert isinstance(first, FullyConnected)
            value = Value(INPUT, TensorType(DType.F32, (first.ic,)), (INPUT,))
            self._main.write(first.in_, nodes.cast(value, DType.F64), 4)
        graph.inputs = [value]

    def _outputs(self) -> None:
        for number, output in enumerate(self._model.outputs):
            self._nodes.name = f"output{number}"
            element = self._main.element_at(output.address)
            made = self._main.read(output.address, output.size // element, element)
            value = self._nodes.cast(made, DType.F32)
            value.name = self._nodes.name
            value.source_names = (value.name,)
            self._nodes.graph.outputs.append(value)

    # -- layers --------------------------------------------------------------------------------------------------------
    def _layer(self, layer: Layer) -> Value:
        if isinstance(layer, Conv):
            return self._conv(layer)
        if isinstance(layer, Upload):
            flat = self._main.read(layer.in_, layer.c * layer.h * layer.w, 1)
            planes = self._nodes.turned(self._nodes.reshaped(flat, 1, layer.c, layer.h, layer.w), 0, 2, 3, 1)
            return self._stored(layer.kpu_out, planes, flat)
        if isinstance(layer, AddPadding):
            source = self._main.read(layer.in_, layer.channels, 1)
            pixel = self._nodes.reshaped(source, 1, 1, 1, layer.channels)
            after = (0, _PADDED_EDGE - 1, _PADDED_EDGE - 1, 0)
            padded = self._nodes("pad", pixel, before=(0, 0, 0, 0), after=after, mode="constant", value=0.0)
            return self._stored(layer.kpu_out, padded, source)
        sources = [
            self._main.read(start, count, element)
            for start, count, element in cpu_meanings.reads(layer, self._main.element_at)
        ]
        if isinstance(layer, Dequantize) and layer.scale:
            self._knows(sources[0], round(-layer.bias / layer.scale))
        made = cpu_meanings.make(self._nodes, layer, sources)
        (target,) = layer.writes()
        self._main.write(target.start, made, max(1, target.bytes // max(1, shape_of(made)[0])))
        return made

    def _conv(self, layer: Conv) -> Value:
        source = self._ram.read(layer.argument.src, *layer.in_shape)
        self._knows(source, layer.argument.pad_value)
        made = kpu_meanings.make(self._nodes, layer, source, wide_weights=self._model.wide_weights)
        if not covers_its_input(layer):
            self._ram.write(layer.argument.dst, made)
        if layer.to_main:
            flat = self._nodes.reshaped(self._nodes.turned(made, 0, 3, 1, 2), layer.out_bytes)
            self._same[flat] = made
            self._main.write(layer.main_out, flat, 1)
        return made

    def _stored(self, unit: int, planes: Value, source: Value) -> Value:
        self._ram.write(unit, planes)
        self._same[planes] = source
        return planes

    def _knows(self, value: Value | None, zero: int) -> None:
        """What reads bytes tells which of them stands for 0; the first that does is believed."""
        while value is not None and value not in self._zero_points:
            self._zero_points[value] = zero
            value = self._same.get(value)
