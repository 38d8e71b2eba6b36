"""Every rule of the verifier: a good graph passes, and one change breaks one rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from buildtool.errors import GraphError
from buildtool.ir.dims import Symbol, symbol
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ir.verify import verify
from buildtool.ops.device_region import DeviceRegion
from buildtool.ops.identity import Identity
from buildtool.ops.if_else import IfElse
from buildtool.ops.relu import Relu
from buildtool.ops.reshape import Reshape
from tests.ir.graphs import branches, convolution, f32


def test_good_graphs() -> None:
    verify(convolution())
    verify(branches())
    verify(Graph())


def _same_name(graph: Graph) -> None:
    graph.nodes[0].outputs[0].name = "x"


def _no_name(graph: Graph) -> None:
    graph.nodes[0].outputs[0].name = ""


def _defined_twice(graph: Graph) -> None:
    graph.nodes.append(graph.nodes[0])


def _input_twice(graph: Graph) -> None:
    graph.inputs.append(graph.inputs[0])


def _read_early(graph: Graph) -> None:
    graph.nodes[0], graph.nodes[1] = graph.nodes[1], graph.nodes[0]


def _never_defined(graph: Graph) -> None:
    graph.nodes[3].inputs[0] = Value("stranger", graph.nodes[3].inputs[0].type)


def _output_not_defined(graph: Graph) -> None:
    graph.outputs.append(Value("stranger", f32(1)))


def _constant_input(graph: Graph) -> None:
    graph.inputs.append(graph.new_constant("c", np.zeros(1, np.float32)))


def _constant_output(graph: Graph) -> None:
    graph.nodes[2].outputs[0].constant = np.zeros(50, np.float32)


def _too_few_inputs(graph: Graph) -> None:
    graph.nodes[0].inputs = graph.nodes[0].inputs[:1]


def _too_many_outputs(graph: Graph) -> None:
    graph.nodes[0].outputs.append(Value("more", f32(1)))


def _wrong_type(graph: Graph) -> None:
    graph.nodes[0].outputs[0].type = f32(symbol("N", 1, 8), 5, 5, 7)


def _refused_by_operator(graph: Graph) -> None:
    x = graph.inputs[0]
    graph.nodes.append(Node(Reshape((3,)), [x], [Value("r", f32(3))], "broken"))


def _constant_dtype(graph: Graph) -> None:
    graph.nodes[0].inputs[1].constant = np.zeros((6, 3, 3, 4), np.float64)


def _constant_shape(graph: Graph) -> None:
    graph.nodes[0].inputs[1].constant = np.zeros((6, 3, 3, 5), np.float32)


def _not_bf16(graph: Graph) -> None:
    constant = Value("b", TensorType(DType.BF16, (1,)), (), np.array([0.1], np.float32))
    graph.nodes.append(graph.new_node(Identity(), [constant]))


def _undeclared_symbol(graph: Graph) -> None:
    graph.symbols.clear()


def _other_bounds(graph: Graph) -> None:
    graph.symbols["N"] = Symbol("N", 1, 9)


def _symbol_under_another_name(graph: Graph) -> None:
    graph.symbols["M"] = Symbol("K")


def _rank_9(graph: Graph) -> None:
    graph.inputs.append(Value("deep", f32(*[1] * 9)))


def _too_many_elements(graph: Graph) -> None:
    graph.inputs.append(Value("huge", f32(2**20, 2**20)))


def _negative_dimension(graph: Graph) -> None:
    graph.inputs.append(Value("minus", f32(-1)))


def _quantised_along_no_axis(graph: Graph) -> None:
    graph.inputs.append(Value("q", TensorType(DType.S8, (2,), QuantType((1.0,), (0,), 1))))


def _scales_for_another_axis(graph: Graph) -> None:
    graph.inputs.append(Value("q", TensorType(DType.S8, (2,), QuantType((1.0,) * 3, (0,) * 3, 0))))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_same_name, "two values have this name"),
        (_no_name, "a value has no name"),
        (_defined_twice, "the value is defined twice"),
        (_input_twice, "the value is defined twice"),
        (_read_early, "input 0 is read before it is defined"),
        (_never_defined, "value 'stranger'.*is read before it is defined"),
        (_output_not_defined, "an output is read before it is defined"),
        (_constant_input, "an input is a constant"),
        (_constant_output, "the output of a node is a constant"),
        (_too_few_inputs, "conv2d takes 2 to 4 inputs, not 1"),
        (_too_many_outputs, "the node has 2 outputs, but needs 1"),
        (_wrong_type, r"the output has the type f32\[N, 5, 5, 7\], but the operator returns f32\[N, 5, 5, 6\]"),
        (_refused_by_operator, r"node 'broken': error: reshape: \[N, 7, 7, 4\] cannot become \[3\]"),
        (_constant_dtype, "has type float64, but f32 needs float32"),
        (_constant_shape, r"array has the shape \[6, 3, 3, 5\]"),
        (_not_bf16, "values that bf16 cannot represent"),
        (_undeclared_symbol, "the symbol 'N' is not declared"),
        (_other_bounds, "has the bounds 1..8 here, but is declared with 1..9"),
        (_symbol_under_another_name, "the symbol 'K' is declared under the name 'M'"),
        (_rank_9, "the rank 9 is above 8"),
        (_too_many_elements, "1099511627776 elements are too many"),
        (_negative_dimension, "the dimension -1 is negative"),
        (_quantised_along_no_axis, "quantised along axis 1, but the rank is 1"),
        (_scales_for_another_axis, "3 scales for the 2 elements of axis 0"),
    ],
)
def test_broken_rules(spoil: Callable[[Graph], None], message: str) -> None:
    graph = convolution()
    spoil(graph)
    with pytest.raises(GraphError, match=message):
        verify(graph)


def test_undeclared_symbols_in_attributes() -> None:
    graph = convolution()
    graph.nodes.append(Node(Reshape((symbol("Q") * 196,)), [graph.inputs[0]], [Value("r", f32(symbol("Q") * 196))]))
    with pytest.raises(GraphError, match="the symbol 'Q' is not declared"):
        verify(graph)


def test_number_of_regions() -> None:
    graph = branches()
    graph.nodes[0].regions.pop()
    with pytest.raises(GraphError, match="the node has 1 regions, but needs 2"):
        verify(graph)


def test_nothing_leaks_out_of_a_region() -> None:
    graph = branches()
    hidden = graph.nodes[0].regions[0].outputs[0]
    graph.nodes.append(graph.new_node(Relu(), [hidden]))
    with pytest.raises(GraphError, match="input 0 is not visible here"):
        verify(graph)


def test_regions_do_not_see_what_comes_later() -> None:
    graph = branches()
    graph.nodes[0].regions[1].nodes[0].inputs[0] = graph.nodes[0].outputs[0]
    with pytest.raises(GraphError, match="is read before it is defined"):
        verify(graph)


def test_names_are_unique_across_regions() -> None:
    graph = branches()
    graph.nodes[0].regions[0].nodes[0].outputs[0].name = "x"
    with pytest.raises(GraphError, match="two values have this name"):
        verify(graph)


def test_all_problems_are_reported_at_once() -> None:
    graph = convolution()
    _same_name(graph)
    _rank_9(graph)
    _output_not_defined(graph)
    with pytest.raises(GraphError) as caught:
        verify(graph)
    assert len(caught.value.problems) == 3
    assert {problem.where.value for problem in caught.value.problems} == {"x", "deep", "stranger"}


@pytest.mark.parametrize(("depth", "device"), [(8, False), (8, True), (9, False)])
def test_regions_nest_8_deep_beside_those_of_devices(depth: int, device: bool) -> None:
    graph = Graph(name="nested")
    graph.inputs = [Value("x", f32(4)), Value("c", TensorType(DType.BOOL, ()))]
    inner = Region()
    inner.nodes = [graph.new_node(Relu(), graph.inputs[:1])]
    inner.outputs = list(inner.nodes[0].outputs)
    for level in range(depth + device):
        outer = Region()
        if device and level == 0:
            node = graph.new_node(DeviceRegion(), [], regions=[inner])
        else:
            other = Region()
            other.nodes = [graph.new_node(Relu(), graph.inputs[:1])]
            other.outputs = list(other.nodes[0].outputs)
            node = graph.new_node(IfElse(sizes=()), graph.inputs[1:], regions=[inner, other])
        outer.nodes, outer.outputs = [node], list(node.outputs)
        inner = outer
    graph.nodes, graph.outputs = inner.nodes, inner.outputs
    if depth == 8:
        verify(graph)
    else:
        with pytest.raises(GraphError, match="nested too deeply"):
            verify(graph)


def test_regions_beside_each_other_are_not_nested() -> None:
    graph = Graph(name="beside")
    graph.inputs = [Value("x", f32(4)), Value("c", TensorType(DType.BOOL, ()))]
    for _ in range(12):
        regions = []
        for _ in range(2):
            node = graph.new_node(Relu(), graph.inputs[:1])
            regions.append(Region(nodes=[node], outputs=list(node.outputs)))
        graph.nodes.append(graph.new_node(IfElse(sizes=()), graph.inputs[1:], regions=regions))
    graph.outputs = list(graph.nodes[-1].outputs)
    verify(graph)
