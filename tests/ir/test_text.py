"""The text form reads back exactly, and says where it is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from buildtool.errors import GraphError
from buildtool.ir import text
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, QuantType, TensorType, round_to_bf16
from buildtool.ir.verify import verify
from buildtool.ops.add import Add
from buildtool.ops.identity import Identity
from buildtool.ops.registry import builtin
from tests.ir.graphs import Branch, branches, convolution
from tests.ops.case import OpCase, cases_of, operators_with_cases

_OPERATORS: Mapping[str, type[Operator]] = {**builtin(), "branch": Branch}


def _round_trip(graph: Graph) -> Graph:
    written, arrays = text.write(graph)
    copy = text.read(written, arrays, _OPERATORS)
    again, arrays_again = text.write(copy)
    assert again == written
    assert list(arrays_again) == list(arrays)
    for old, new in zip(graph.values(), copy.values(), strict=True):
        assert (old.name, old.type, old.source_names) == (new.name, new.type, new.source_names)
        if old.constant is not None:
            assert new.constant is not None and old.constant.tobytes() == new.constant.tobytes()
    for old_node, new_node in zip(graph.walk(), copy.walk(), strict=True):
        assert (old_node.op, old_node.name) == (new_node.op, new_node.name)
    assert copy.symbols == graph.symbols
    assert copy.ranges == graph.ranges
    return copy


@pytest.mark.parametrize("make", [convolution, branches])
def test_round_trip(make: Callable[[], Graph]) -> None:
    _round_trip(make())


def _graph_of(case: OpCase) -> Graph:
    graph = Graph(name=str(case), symbols={symbol.name: symbol for symbol in case.op.defined_symbols()})
    values = []
    for position, (array, type_) in enumerate(zip(case.inputs, case.types, strict=True)):
        if position in case.constants:
            values.append(graph.new_constant("w", array))
        else:
            graph.inputs.append(Value(f"x{position}", type_))
            values.append(graph.inputs[-1])
    graph.nodes.append(graph.new_node(case.op, values))
    graph.outputs = graph.nodes[0].outputs[:]
    return graph


@pytest.mark.parametrize("operator", operators_with_cases())
def test_round_trip_of_every_operator(operator: str) -> None:
    for case in cases_of(operator):
        graph = _graph_of(case)
        verify(graph)
        _round_trip(graph)


def test_the_form() -> None:
    attributes = '{note="say \\"so\\"\\n", weights=[0.1, inf], words=["a", "b, c"]}'
    assert text.write(branches())[0] == "\n".join(
        [
            "lathe graph 1",
            'model "branches"',
            "input %condition: bool[]",
            "input %x: f32[3]",
            "%branch.4: f32[3] = branch " + attributes + '(%condition, %x) named "If_0"',
            "  region",
            "    input %carried: f32[3]",
            "    constant %offset.1: f32[3] = [0.5, -0.0, inf]",
            f"    %add.2: f32[3] = {Add()}(%carried, %offset.1)",
            "    output %add.2",
            "  end",
            "  region",
            "    %relu.3: f32[3] = relu(%x)",
            "    output %relu.3",
            "  end",
            "output %branch.4",
            "output %offset.1",
            "",
        ]
    )


def test_fresh_names_stay_fresh_after_reading() -> None:
    copy = _round_trip(convolution())
    names = {value.name for value in copy.values()}
    assert copy.fresh_name("w") not in names
    assert copy.fresh_name("conv2d") not in names


def _constant_graph(array: Array, type_: TensorType | None = None) -> Graph:
    graph = Graph()
    constant = graph.new_constant("c", array)
    constant.type = type_ or constant.type
    graph.nodes.append(graph.new_node(Identity(), [constant]))
    graph.outputs = graph.nodes[0].outputs[:]
    return graph


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from([np.float16, np.float32, np.float64]), st.lists(st.integers(0, 2**64 - 1), max_size=16))
def test_small_constants_are_exact(dtype: type, bits: list[int]) -> None:
    unsigned = {np.float16: np.uint16, np.float32: np.uint32, np.float64: np.uint64}[dtype]  # type: ignore[index]
    words = np.array(bits, np.uint64).astype(unsigned)
    _round_trip(_constant_graph(words.view(dtype)))


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if not dtype.is_float])
@pytest.mark.parametrize("shape", [(), (3,), (0, 4), (5, 7)])
def test_constants_of_every_type(dtype: DType, shape: tuple[int, ...]) -> None:
    limits = (0, 2) if dtype is DType.BOOL else (np.iinfo(str(dtype.numpy)).min, np.iinfo(str(dtype.numpy)).max)
    rng = np.random.default_rng(0)
    drawn = rng.integers(limits[0], limits[1], shape, dtype=np.int8 if dtype is DType.BOOL else dtype.numpy)
    _round_trip(_constant_graph(np.asarray(drawn, dtype.numpy)))


def test_bf16_and_quantised_types() -> None:
    array = round_to_bf16(np.array([0.1, 3e38, -1e-40], np.float32))
    _round_trip(_constant_graph(array, TensorType(DType.BF16, (3,))))
    quantised = np.zeros((2, 3), np.int8)
    for quant in (QuantType((0.1,), (-3,)), QuantType((0.1, 1e-9, 3.0), (0, 1, -2), 1, 4)):
        graph = _constant_graph(quantised, TensorType(DType.S8, (2, 3), quant))
        assert next(iter(_round_trip(graph).values())).type.quant == quant


_GOOD = """lathe graph 1
model "m"
symbol n 1..4
input %x: f32[n, 2]
constant %c: f32[2] = [1.0, 2.0]
%y: f32[n, 2] = mul(%x, %c)
%z: f32[n, 2] = leaky_relu {alpha=0.1}(%y)
output %z
"""


def test_the_good_text_is_good() -> None:
    assert text.write(text.read(_GOOD, {}, _OPERATORS))[0] == _GOOD


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("lathe graph 1", "lathe graph 2", 1, "the first line must be 'lathe graph 1'"),
        ('model "m"', "model m", 2, "expected a quoted string before 'm'"),
        ("1..4", "4..1", 3, "bounds 4..1 of 'n' are not ordered"),
        ("1..4", "1..4\nsymbol n 1..4", 4, "the symbol 'n' is declared twice"),
        ("%x: f32[n, 2]\n", "%x: f32[q, 2]\n", 4, "'q' is not a declared symbol"),
        ("%x: f32[n, 2]\n", "%x: f31[n, 2]\n", 4, "'f31' is not an element type"),
        ("%x: f32[n, 2]\n", "%x: f32[n, 2\n", 4, "expected ','"),
        ("%x: f32[n, 2]\n", "%x: f32[n, 2] from [3]\n", 4, "expected a quoted string before '3]'"),
        ("[1.0, 2.0]", "[1.0]", 5, r"1 elements for f32\[2\], which has 2"),
        ("[1.0, 2.0]", "[1.0, zero]", 5, "expected a number before 'zero]'"),
        ("[1.0, 2.0]", "sha256:00", 5, "the array sha256:00 is missing"),
        ("f32[2] = ", "f32[n] = ", 5, "a constant has a known shape"),
        ("f32[2] = [1.0, 2.0]", "s8[2] = [1, 300]", 5, "an element is not of type s8"),
        ("%y: f32", "%x: f32", 6, "'%x' is defined twice"),
        ("(%x, %c)", "(%x, %d)", 6, "'%d' is not defined before this line"),
        ("(%x, %c)", "(%x, %c) more", 6, "'more' is unexpected"),
        ("mul(", "mull(", 6, "there is no operator 'mull'"),
        ("{alpha=0.1}", "", 7, "'leaky_relu' needs the attribute 'alpha'"),
        ("{alpha=0.1}", "{alpha=0.1, beta=1}", 7, "'leaky_relu' has no attribute 'beta'"),
        ("{alpha=0.1}", "{alpha=0.1, alpha=1.0}", 7, "'leaky_relu' already has the attribute 'alpha'"),
        ("{alpha=0.1}", "{alpha=inf}", 7, "'alpha' is inf, which is not finite"),
        ("output %z", "end", 8, "'end' without 'region'"),
        ("output %z", "output %z\nregion", 10, "the text ends in the middle of a graph"),
    ],
)
def test_mistakes_have_a_line(old: str, new: str, line: int, message: str) -> None:
    assert old in _GOOD
    with pytest.raises(GraphError, match=message) as caught:
        text.read(_GOOD.replace(old, new, 1), {}, _OPERATORS, "graph.txt")
    assert caught.value.problems[0].where.line == line
    assert caught.value.problems[0].where.file == "graph.txt"


def test_graphs_that_are_read_are_verified() -> None:
    with pytest.raises(GraphError, match="but the operator returns"):
        text.read(_GOOD.replace("%y: f32[n, 2]", "%y: f32[n, 3]"), {}, _OPERATORS)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(_GOOD)), st.integers(0, 12), st.text(max_size=6))
def test_damaged_text_gives_graph_errors_only(start: int, length: int, inserted: str) -> None:
    try:
        text.read(_GOOD[:start] + inserted + _GOOD[start + length :], {}, _OPERATORS)
    except GraphError as problem:
        assert problem.problems
