"""If, Loop and Scan: against onnxruntime, before and after all passes; and what cannot be imported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from buildtool.errors import UnsupportedError
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportedModel
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.verify import verify
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.control_flow import MODELS, model, request, request_for
from tests.importers.onnx.harness import reference


def _import(folder: Path, proto: onnx.ModelProto) -> ImportedModel:
    return import_model(request_for(folder, proto))


def _compare(graph: Graph, name: str) -> None:
    verify(graph)
    for feeds in MODELS[name].runs:
        found = evaluate(graph, feeds)
        for value, wanted in zip(graph.outputs, reference(model(name), feeds), strict=True):
            assert found[value.name].shape == wanted.shape
            np.testing.assert_allclose(found[value.name], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_like_onnxruntime(tmp_path: Path, name: str) -> None:
    graph = import_model(request(tmp_path, name)).graph
    assert set(MODELS[name].holds) <= {node.op.name for node in graph.walk()}
    _compare(graph, name)
    optimise(graph)
    _compare(graph, name)


def _parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> model {text}')


_COUNTING = """(float[3] x, int64 n) => (float[3] y, float[k,3] all) <bool yes = {1}, int64 four = {4}> {
  %s
  y, all = Loop(m, yes, x) <body = b (int64 i, bool c, float[3] s) => (bool c2, float[3] s2, float[3] s3) {
    s2 = Add(s, x)
    s3 = Neg(s2)
    c2 = Identity(c)
  }>
}"""


def test_a_trip_count_without_a_bound_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="Loop: its trip count is unbounded") as caught:
        _import(tmp_path, _parsed(_COUNTING % "m = Identity(n)"))
    (problem,) = caught.value.problems
    assert problem.where.node == "y"
    assert "Min or Clip" in problem.remedy


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("m = Min(n, four)", 4),
        ("m = Mod(n, four)", 4),
        ("t = Min(n, four) m = Add(t, t)", 8),
        ("t = Cast<to = 1>(x) s = Sigmoid(t) u = ReduceMax<keepdims = 0>(s) m = Cast<to = 7>(u)", 1),
        ("m = ArgMax<keepdims = 0>(x)", 2),
        ("t = Cast<to = 2>(n) m = Cast<to = 7>(t)", 255),
        ("t = Max(n, four) u = Neg(t) m = Add(u, four)", 0),
        ("t = Cast<to = 9>(x) u = Cast<to = 7>(t) m = ReduceSum<keepdims = 0>(u)", 3),
        ("t = Less(n, four) big = Constant<value = int64 {9}>() m = Where(t, big, four)", 9),
    ],
)
def test_the_trip_count_is_bounded_by_what_computes_it(tmp_path: Path, text: str, most: int) -> None:
    graph = _import(tmp_path, _parsed(_COUNTING % text)).graph
    (loop,) = [node for node in graph.nodes if node.op.name == "loop"]
    assert loop.op.attributes()["most"] == (most,)
    assert [symbol.high for symbol in graph.symbols.values()] == [most]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_iterations_known_on_import(tmp_path: Path, count: int) -> None:
    proto = _parsed(_COUNTING % f"m = Constant<value = int64 {{{count}}}>()")
    graph = _import(tmp_path, proto).graph
    assert sum(node.op.name == "loop" for node in graph.nodes) == (count != 1)
    feeds = {"x": np.array([1, -2, 3], np.float32), "n": np.array(0)}
    found = evaluate(graph, {"x": feeds["x"], "n": feeds["n"]})
    for value, wanted in zip(graph.outputs, reference(proto, feeds), strict=True):
        np.testing.assert_array_equal(found[value.name], wanted)


_GROWING = """(float[3] x, int64 n) => (float[k] y) <bool yes = {1}, int64 four = {4}> {
  %s
  y = Loop(m, yes, x) <body = b (int64 i, bool c, float[k] s) => (bool c2, float[j] s2) {
    s2 = Concat<axis = 0>(s, x)
    c2 = Identity(c)
  }>
}"""


def test_a_value_that_grows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"starts as f32\[3\] and becomes f32\[6\]") as caught:
        _import(tmp_path, _parsed(_GROWING % "m = Min(n, four)"))
    assert "ScatterND" in caught.value.problems[0].remedy


def test_a_value_may_grow_where_the_number_of_iterations_is_known(tmp_path: Path) -> None:
    graph = _import(tmp_path, _parsed(_GROWING % "m = Identity(four)")).graph
    x = np.array([1, 2, 3], np.float32)
    assert evaluate(graph, {"x": x, "n": np.array(0)})["y"].tolist() == [1, 2, 3] * 5


def test_branches_of_different_ranks_are_refused(tmp_path: Path) -> None:
    proto = _parsed("""(float[4] x, bool c) => (float[k] y) <int64[2] s = {2, 2}> {
  y = If(c) <then_branch = a () => (float[4] p) { p = Neg(x) },
      else_branch = b () => (float[2,2] q) { q = Reshape(x, s) }>
}""")
    with pytest.raises(UnsupportedError, match=r"its branches give f32\[4\] and f32\[2, 2\]"):
        _import(tmp_path, proto)


def test_slices_of_sizes_that_differ_are_refused(tmp_path: Path) -> None:
    proto = _parsed("""(float[3,4] x) => (float[2,k] all) <bool yes = {1}, int64 hundred = {100}> {
  all = Loop(hundred, yes) <body = b (int64 i, bool c) => (bool c2, int64[1,k] found) {
    row = Gather(x, i)
    found = NonZero(row)
    c2 = Identity(c)
  }>
}""")
    with pytest.raises(UnsupportedError, match="whose size every iteration decides anew"):
        _import(tmp_path, proto)


def test_all_that_is_in_the_way_inside_is_told(tmp_path: Path) -> None:
    proto = _parsed("""(float[3] x, bool c) => (float[3] y) {
  y = If(c) <then_branch = a () => (float[3] p) { p = NoSuchOperator(x) },
      else_branch = b () => (float[3] q) { q = Neg(x) }>
}""")
    with pytest.raises(UnsupportedError, match=r"NoSuchOperator \(node 'y/p'\)"):
        _import(tmp_path, proto)
