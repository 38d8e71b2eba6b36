"""What drawn shapes are too small for: every pair of bytes, repeated rows, long lines of softmax, many outputs."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.mul import Mul
from buildtool.ops.softmax import Softmax
from buildtool.ops.sub import Sub
from buildtool.runtime import DeviceKind
from tests.ops.stored_case import Operand, add_operand, bias_of, whole
from tests.targets.hexagon.dsp_library import dsp_library, on_dsp

_BYTES = np.arange(-128, 128, dtype=np.int8)
_OPERATORS = frozenset({"add", "sub", "mul", "softmax", "conv2d"})

# What `make test` draws, and what only whole sweeps draw.
_some = functools.partial(pytest.param, marks=pytest.mark.slow, id="some")
_others = functools.partial(pytest.param, marks=pytest.mark.sweep, id="others")


def _quant(scale: float, zero: int) -> QuantType:
    return QuantType((float(np.float32(scale)),), (zero,), bits=8)


def _compare(nodes: Sequence[tuple[Operator, list[tuple[Array, QuantType]], QuantType]]) -> None:
    graph = Graph(name="vectors")
    inputs: dict[str, Array] = {}
    for op, operands, stored in nodes:
        values = []
        for array, quant in operands:
            values.append(Value(f"x{len(inputs)}", TensorType(DType.S8, array.shape, quant)))
            inputs[values[-1].name] = array
        graph.inputs += values
        node = graph.new_node(op, values, f"node{len(graph.nodes)}", stored=[(DType.S8, stored)])
        graph.nodes.append(node)
        graph.outputs += node.outputs
    _compare_graph(graph, inputs)


def _compare_graph(graph: Graph, inputs: dict[str, Array]) -> None:
    library, model = dsp_library(_OPERATORS), on_dsp(graph)
    with library.on_simulator():
        engine = library.engine(model, DeviceKind.DSP)
        assert engine.device_info.on_device
        found = engine.run(inputs)
    wanted = library.engine(model, DeviceKind.CPU).run(inputs)
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.parametrize("numbers", [_some((0, 3, 5, 6)), _others((1, 2, 4, 7))])
def test_every_pair_of_bytes(numbers: tuple[int, ...]) -> None:
    """Factors below and above 2, of one digit and of many, with zero points at both ends."""
    rng = np.random.default_rng(22)
    a, b = np.repeat(_BYTES, 256), np.tile(_BYTES, 256)
    nodes = []
    for make, number in itertools.product((Add, Sub, Mul), range(8)):
        scales = rng.uniform(0.004, 0.09, 3) if number < 6 else np.array((0.25, 0.0625, 0.125))
        scales[2] *= 0.25 if number == 5 else 1  # factors from 2 on
        zeros = (int(rng.integers(-128, 128)), int(rng.choice([-128, 0, 127])), int(rng.integers(-128, 128)))
        operands = [(a, _quant(scales[0], zeros[0])), (b, _quant(scales[1], zeros[1]))]
        if number not in numbers:
            continue
        nodes.append((make(), operands, _quant(scales[2], zeros[2])))
    _compare(nodes)


@pytest.mark.slow
@pytest.mark.parametrize("first", [False, True], ids=["second", "first"])
def test_rows_that_come_again(first: bool) -> None:
    """Of all lengths around those of vectors, and longer than what is repeated."""
    rng = np.random.default_rng(23)
    nodes = []
    for row, make in itertools.product((1, 3, 16, 64, 127, 128, 129, 200, 2048, 2049), (Add, Sub, Mul)):
        x = (whole(rng, (9, row)), _quant(0.031, 5))
        y = (whole(rng, (1, row)), _quant(0.017, -9))
        nodes.append((make(), [y, x] if first else [x, y], _quant(0.04, 2)))
    _compare(nodes)


@pytest.mark.slow
def test_long_lines_of_softmax() -> None:
    rng = np.random.default_rng(24)
    nodes = []
    for size, scale in itertools.product((63, 64, 65, 128, 200, 1000, 4099), (0.002, 0.11, 0.7)):
        x = (whole(rng, (2, size)), _quant(scale, 11))
        nodes.append((Softmax(axis=1), [x], _quant(1 / 256 if scale > 0.1 else 0.001, -128)))
    _compare(nodes)


@pytest.mark.parametrize(
    "sides_and_depths", [_some(((1, (8, 136)), (3, (24,)))), _others(((1, (24, 264)), (3, (8, 136, 264))))]
)
def test_many_outputs(sides_and_depths: Sequence[tuple[int, tuple[int, ...]]]) -> None:
    """All that the last vectors of outputs can be, with more pixels than a chunk has; depths of one vector and more."""
    rng = np.random.default_rng(25)
    graph = Graph(name="outputs")
    inputs: dict[str, Array] = {}
    shapes = [(side, depth) for side, depths in sides_and_depths for depth in depths]
    for (side, channels), outputs in itertools.product(shapes, (16, 40, 72, 100, 128, 136, 144, 232, 1000)):
        stored = _quant(0.05, 3)
        x = Value(f"x{len(inputs)}", TensorType(DType.S8, (1, 9, 7, channels), stored))
        graph.inputs.append(x)
        inputs[x.name] = whole(rng, (1, 9, 7, channels))
        scales = tuple(float(np.float32(scale)) for scale in rng.uniform(0.002, 0.02, outputs))
        filters = Operand(
            whole(rng, (outputs, side, side, channels)), QuantType(scales, (0,) * outputs, 0), constant=True
        )
        operands = [x, add_operand(graph, filters), add_operand(graph, bias_of(rng, stored, scales))]
        of_y = _quant(0.03 * side * np.sqrt(channels), -7)
        op = Conv2d(pads=(side // 2,) * 4)
        node = graph.new_node(op, operands, f"node{len(graph.nodes)}", stored=[(DType.S8, of_y)])
        graph.nodes.append(node)
        graph.outputs += node.outputs
    _compare_graph(graph, inputs)
