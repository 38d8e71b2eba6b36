"""What lathe_bench times: the nodes of the zoo's networks as they are after the passes, and a table of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from buildtool.benchmark.operator_names import describe
from buildtool.benchmark.single_operators import Case, encode
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.concat import Concat
from buildtool.ops.deconv2d import Deconv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.gelu import Gelu
from buildtool.ops.group_norm import GroupNorm
from buildtool.ops.gru import Gru
from buildtool.ops.hard_swish import HardSwish
from buildtool.ops.layer_norm import LayerNorm
from buildtool.ops.lstm import Lstm
from buildtool.ops.matmul import Matmul
from buildtool.ops.mul import Mul
from buildtool.ops.pad import Pad
from buildtool.ops.prelu import Prelu
from buildtool.ops.resize2d import Resize2d
from buildtool.ops.rnn import Rnn
from buildtool.ops.sigmoid import Sigmoid
from buildtool.ops.softmax import Softmax
from buildtool.ops.swish import Swish
from buildtool.ops.tanh import Tanh
from buildtool.ops.transpose import Transpose
from buildtool.passes.pipeline import optimise
from buildtool.plan.manifest import KernelInfo, Manifests
from tests.ops.native_cases import case_graph, packings
from tests.zoo.networks import NETWORKS, cached

SIZE = 224


@dataclass(frozen=True)
class BenchCase:
    """One operator on inputs of these types; those that are constants of the model come with their numbers."""

    name: str
    op: Operator
    types: tuple[TensorType, ...]
    constants: dict[int, Array]

    def graph(self) -> Graph:
        arrays = [
            self.constants[index] if index in self.constants else _placeholder(type_)
            for index, type_ in enumerate(self.types)
        ]
        return case_graph(self.op, arrays, frozenset(self.constants))


def _placeholder(type_: TensorType) -> Array:
    """Of a shape and type, and almost without memory."""
    shape = [size for size in type_.shape if isinstance(size, int)]
    return np.broadcast_to(np.zeros((), type_.dtype.numpy), shape)


# Operator, shapes of the inputs that vary, shapes of the weights behind them.
_Entry = tuple[Operator, Sequence[tuple[int, ...]], Sequence[tuple[int, ...]]]


def _recurrent(steps: int, batch: int, hidden: int) -> Iterator[_Entry]:
    """Layers of taggers, and one step of those that read a stream."""
    state = (1, hidden)
    for linear in (True, False):
        gru = Gru(function_f="sigmoid", linear_before_reset=linear)
        yield gru, [(steps, batch, 3 * hidden)], [(3 * hidden, hidden), state, (hidden,)]
    yield Lstm(function_f="sigmoid"), [(steps, batch, 4 * hidden)], [(4 * hidden, hidden), state, state]
    yield Rnn(function_f="tanh"), [(steps, batch, hidden)], [(hidden, hidden), state]


def _depthwise() -> Iterator[_Entry]:
    """Large windows, as ConvNeXt, EfficientNet and detectors of text have them."""
    for side, size, channels, stride in (
        *((7, 56, 96, 1), (7, 28, 192, 1), (7, 14, 384, 1), (7, 7, 768, 1)),
        *((5, 120, 48, 1), (5, 56, 144, 2), (5, 28, 240, 1), (5, 14, 480, 1), (5, 7, 1152, 1)),
    ):
        pads = (side // 2,) * 4
        op = DwConv2d(strides=(stride, stride), pads=pads)
        yield op, [(1, size, size, channels)], [(side, side, channels)]


_TABLE: tuple[_Entry, ...] = (
    (Softmax(1), [(1, 1000)], []),
    (Softmax(2), [(12, 197, 197)], []),
    (Softmax(3), [(1, 256, 256, 2)], []),
    (Softmax(3), [(1, 128, 128, 21)], []),
    (Softmax(1), [(1, 32, 4096)], []),
    (LayerNorm(1, 1e-5), [(197, 768)], [(768,), (768,)]),
    (GroupNorm(32, 1e-5), [(1, 64, 64, 320)], [(320,), (320,)]),
    (GroupNorm(64, 1e-5), [(1, 128, 128, 64)], [(64,), (64,)]),
    (Prelu(), [(1, 64, 64, 64)], [(64,)]),
    (Prelu(), [(1, 48, 48, 10)], [(10,)]),
    (Matmul(), [(12, 197, 64), (12, 64, 197)], []),
    (Matmul(), [(197, 768)], [(768, 768)]),
    (Gelu("none"), [(197, 3072)], []),
    (HardSwish(), [(1, 56, 56, 64)], []),
    (Sigmoid(), [(1, 56, 56, 64)], []),
    (Swish(), [(1, 56, 56, 64)], []),
    (Tanh(), [(1, 56, 56, 64)], []),
    (Add(), [(1, 56, 56, 64), (1, 56, 56, 64)], []),
    (Mul(), [(1, 56, 56, 64), (1, 1, 1, 64)], []),
    (AvgPool2d(kernel=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1)), [(1, 56, 56, 64)], []),
    (Resize2d((128, 128), (2.0, 2.0), "linear", "half_pixel", "floor"), [(1, 64, 64, 32)], []),
    (Resize2d((128, 128), (2.0, 2.0), "nearest", "asymmetric", "floor"), [(1, 64, 64, 32)], []),
    (Deconv2d(strides=(2, 2), pads=(1, 1, 1, 1)), [(1, 32, 32, 64)], [(32, 4, 4, 64)]),
    (Deconv2d(strides=(2, 2), pads=(1, 1, 1, 1)), [(1, 32, 32, 64)], [(3, 4, 4, 64)]),
    (Deconv2d(strides=(2, 2), pads=(1, 1, 1, 1)), [(1, 8, 6, 512)], [(256, 4, 4, 512)]),
    (Deconv2d(strides=(2, 2)), [(1, 128, 128, 16)], [(1, 2, 2, 16)]),
    (Deconv2d(strides=(2, 2)), [(1, 160, 160, 24)], [(1, 2, 2, 24)]),
    (Deconv2d(strides=(2, 2)), [(1, 80, 80, 24)], [(24, 2, 2, 24)]),
    (Deconv2d(strides=(2, 2)), [(1, 64, 64, 64)], [(32, 2, 2, 64)]),
    (Deconv2d(strides=(1, 8), pads=(0, 4, 0, 4)), [(1, 1, 256, 128)], [(64, 1, 16, 128)]),
    *_depthwise(),
    (Concat(3), [(1, 28, 28, 58), (1, 28, 28, 58)], []),
    (Pad((0, 1, 1, 0), (0, 1, 1, 0), "constant", 0.0), [(1, 56, 56, 64)], []),
    (Pad((0, 0, 0, 0), (0, 0, 0, 32), "constant", 0.0), [(1, 64, 64, 32)], []),
    (Transpose((0, 3, 1, 2)), [(1, 56, 56, 64)], []),
    (Transpose((0, 2, 1, 3)), [(1, 197, 12, 64)], []),
    *(
        entry
        for steps, batch, hidden in ((1, 1, 256), (20, 1, 128), (100, 1, 64), (100, 1, 256), (50, 1, 512), (50, 8, 128))
        for entry in _recurrent(steps, batch, hidden)
    ),
)


def table() -> Iterator[BenchCase]:
    random = np.random.default_rng(7)
    for op, varying, weights in _TABLE:
        types = tuple(TensorType(DType.F32, shape) for shape in (*varying, *weights))
        constants = {
            len(varying) + index: random.normal(0, 0.1, shape).astype(np.float32) for index, shape in enumerate(weights)
        }
        yield BenchCase(f"{op.name}/{describe(op, types)}", op, types, constants)


def of_network(name: str, folder: Path) -> Iterator[BenchCase]:
    """The nodes of a network of the zoo after all passes."""
    graph = import_model("onnx", ImportRequest(name, cached(name, folder, SIZE))).graph
    optimise(graph)
    for node in graph.nodes:
        types = tuple(value.type for value in node.inputs)
        constants = {index: value.constant for index, value in enumerate(node.inputs) if value.constant is not None}
        yield BenchCase(f"{node.op.name}/{describe(node.op, types)}", node.op, types, constants)


def all_cases(folder: Path) -> list[BenchCase]:
    """Equal operators on equal types come once, under one name."""
    found: dict[tuple[Operator, tuple[TensorType, ...]], BenchCase] = {}
    for name in NETWORKS:
        for case in of_network(name, folder):
            found.setdefault((case.op, case.types), case)
    for case in table():
        found.setdefault((case.op, case.types), case)
    named: dict[str, BenchCase] = {}
    for case in found.values():
        name, number = case.name, 2
        while name in named:
            name, number = f"{case.name}-{number}", number + 1
        named[name] = BenchCase(name, case.op, case.types, case.constants)
    return sorted(named.values(), key=lambda case: case.op.name)


@dataclass(frozen=True)
class Pair:
    """A case with a kernel that runs it, and how its weights are packed (empty: as they are)."""

    case: BenchCase
    kernel: KernelInfo
    packing: str

    @property
    def name(self) -> str:
        return f"{self.case.name}/{self.kernel.name}"


def write(file: Path, pairs: Iterable[Pair]) -> None:
    """The file that native/tools/lathe_bench.cc specifies."""
    cases = (Case(pair.name, pair.case.graph(), pair.kernel, pair.packing) for pair in pairs)
    file.write_bytes(encode(cases))


def pairs(cases: Iterable[BenchCase], manifests: Manifests, isas: Sequence[str]) -> Iterator[Pair]:
    """Each case with every kernel for these instruction sets that can run it, its weights packed as it likes them."""
    for case in cases:
        graph = case.graph()
        for kernel in manifests.of(case.op.name):
            ways = packings(graph, kernel) if kernel.isa in isas else []
            if ways:
                yield Pair(case, kernel, kernel.pack if kernel.pack in ways else ways[0])
