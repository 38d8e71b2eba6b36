"""Sizes that are only known at run time: declared by bounds, run at every size between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import buildtool
from buildtool.errors import RunError


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A convolution over images of 8..24 x 8..24, one to three of them."""
    folder = tmp_path_factory.mktemp("bounded")
    weights = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
            helper.make_node("Relu", ["c"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights, "w")],
    )
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]), folder / "net.onnx")
    (folder / "net.yml").write_text("""\
target_abis: [host]
models:
  net:
    platform: onnx
    model_file_path: net.onnx
    subgraphs:
      - input_tensors: [x]
        input_shapes: ["1..3,8..24,8..24,3"]
        output_tensors: [y]
        output_shapes: ["1..3,4..12,4..12,4"]
    data_type: fp32_fp32
""")
    return folder / "net.yml"


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 8, 8, 3), (3, 24, 24, 3), (2, 11, 17, 3)])
def test_every_size_between_the_bounds_is_right(deployment: Path, tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(1).standard_normal(shape).astype(np.float32))
    settings = buildtool.RunSettings(inputs={"x": tmp_path / "x.npy"})
    report = buildtool.validate(deployment, options=buildtool.Options(deployment.parent / "build"), settings=settings)
    assert report.passed, report.results
    assert report.results[0]["shape"] == [shape[0], (shape[1] + 1) // 2, (shape[2] + 1) // 2, 4]
    assert report.results[0]["cosine"] >= 0.99999


def test_a_size_outside_the_bounds_is_refused(deployment: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((4, 8, 8, 3), np.float32))
    settings = buildtool.RunSettings(inputs={"x": tmp_path / "x.npy"})
    with pytest.raises(RunError, match=r"\[4, 8, 8, 3\] does not fit 'x'"):
        buildtool.run(deployment, options=buildtool.Options(deployment.parent / "build"), settings=settings)
