"""Models with loops and branches through the whole pipeline: built, planned, run by their own library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

import buildtool
from buildtool.errors import UnsupportedError
from buildtool.ir.operator import Array
from tests.importers.onnx.control_flow import MODELS, model
from tests.importers.onnx.harness import reference

_COUNT = """(float[2,3] x, int32[1] n) => (float[2,3] y, float[k,2,3] all) <bool yes = {1}, int64 most = {6}> {
  axis = Constant<value = int64[1] {0}>()
  flat = Squeeze(n, axis)
  wide = Cast<to = 7>(flat)
  m = %s
  y, all = Loop(m, yes, x) <body = b (int64 i, bool c, float[2,3] s) => (bool go, float[2,3] s2, float[2,3] s3) {
    sum = ReduceSum<keepdims = 0>(s)
    limit = Constant<value = float {50}>()
    low = Less(sum, limit)
    s2 = If(low) <then_branch = t () => (float[2,3] up) { up = Add(s, x) },
        else_branch = e () => (float[2,3] down) { down = Neg(s) }>
    s3 = Sigmoid(s2)
    go = Identity(c)
  }>
}"""
#: Of inputs and outputs, and the element types of the inputs.
_SHAPES = {
    "count": ('["2,3", "1"]', '["2,3", "1..6,2,3"]', "[float32, int32]"),
    "early_exit": ('["3"]', '["3", "1..20"]', "[float32]"),
    "rnn_in_scan": ('["1..7,2,3", "2,4"]', '["2,4", "1..7,2,4", "2,1..7,4"]', "[float32, float32]"),
}


def _counting(bound: str) -> onnx.ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> model {_COUNT % bound}')


def _runs(name: str) -> list[dict[str, Array]]:
    if name != "count":
        return [dict(feeds) for feeds in MODELS[name].runs]
    starts = [np.full((2, 3), number, np.float32) for number in (1, 3, 20)]
    return [{"x": x, "n": np.array([n], np.int32)} for x in starts for n in (0, 1, 4, 9)]


def _deploy(folder: Path, protos: dict[str, onnx.ModelProto]) -> Path:
    lines = ["library_name: control", "target_abis: [host]", "models:"]
    for name, proto in protos.items():
        onnx.save(proto, folder / f"{name}.onnx")
        shapes, output_shapes, types = _SHAPES[name]
        inputs = ", ".join(value.name for value in proto.graph.input)
        outputs = ", ".join(value.name for value in proto.graph.output)
        lines += [
            f"  {name}:",
            "    platform: onnx",
            f"    model_file_path: {name}.onnx",
            "    data_type: fp32_fp32",
            "    subgraphs:",
            f"      - input_tensors: [{inputs}]",
            f"        input_shapes: {shapes}",
            f"        input_data_types: {types}",
            f"        output_tensors: [{outputs}]",
            f"        output_shapes: {output_shapes}",
        ]
    file = folder / "control.yml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[buildtool.BuildReport]:
    folder = tmp_path_factory.mktemp("control")
    protos = {name: model(name) for name in _SHAPES if name != "count"} | {"count": _counting("Min(wide, most)")}
    yield buildtool.build(_deploy(folder, protos), options=buildtool.Options(folder / "build"))


@pytest.mark.slow
@pytest.mark.parametrize("name", _SHAPES)
def test_the_library_computes_what_onnxruntime_does(built: buildtool.BuildReport, name: str) -> None:
    proto = _counting("Min(wide, most)") if name == "count" else model(name)
    with buildtool.load(built, model=name, threads=2) as loaded:
        for feeds in _runs(name):
            found = loaded.run(feeds)
            for output, wanted in zip(proto.graph.output, reference(proto, feeds), strict=True):
                assert found[output.name].shape == wanted.shape
                np.testing.assert_allclose(found[output.name], wanted, rtol=1e-5, atol=1e-5)


def test_a_trip_count_without_a_bound_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="its trip count is unbounded") as caught:
        buildtool.build(_deploy(tmp_path, {"count": _counting("Identity(wide)")}), options=buildtool.Options(tmp_path))
    (problem,) = caught.value.problems
    assert problem.where.node == "y"
    assert "bound the trip count in the model" in problem.remedy
