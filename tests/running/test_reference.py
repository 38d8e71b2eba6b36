"""Who gives the right answer, and in which order of dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from buildtool.errors import RunError, UnsupportedError
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.types import DType
from buildtool.running import model_under_test
from buildtool.running.inputs import TensorSpec
from buildtool.running.model_under_test import choose_reference
from buildtool.running.reference import EvaluatorReference, FileReference, OnnxruntimeReference


def write_pool(path: Path, kind: str = "MaxPool") -> Path:
    """y = pool(x) of one image of 4x6 with 3 channels, with an inner tensor before it."""
    graph = helper.make_graph(
        [
            helper.make_node("Relu", ["x"], ["inner"]),
            helper.make_node(kind, ["inner"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 2, 3])],
    )
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


@pytest.mark.parametrize("order", ["NHWC", "NCHW"])
def test_both_references_agree_in_the_declared_order(tmp_path: Path, order: str) -> None:
    file = write_pool(tmp_path / "pool.onnx")
    sizes = {"x": (1, 4, 6, 3), "y": (1, 2, 3, 3), "inner": (1, 4, 6, 3)}
    if order == "NCHW":
        sizes = {"x": (1, 3, 4, 6), "y": (1, 3, 2, 3), "inner": (1, 3, 4, 6)}

    def spec(name: str) -> TensorSpec:
        return TensorSpec(name, sizes[name], DType.F32, order, source_format="NCHW")

    inputs, outputs = [spec("x")], [spec("y"), spec("inner")]

    def request(item: TensorSpec) -> TensorRequest:
        return TensorRequest(item.name, item.shape, order)

    imported = import_model(
        "onnx", ImportRequest("pool", file, None, tuple(map(request, inputs)), tuple(map(request, outputs)))
    )
    assert set(imported.source_formats.values()) == {"NCHW"}
    data = {"x": np.random.default_rng(0).standard_normal(sizes["x"]).astype(np.float32)}
    right = OnnxruntimeReference(file, inputs, outputs).run(data)
    found = EvaluatorReference(imported.graph, inputs, outputs).run(data)
    for name, array in right.items():
        assert array.shape == sizes[name]
        np.testing.assert_allclose(found[name], array, rtol=1e-6)


def test_numpy_runs_models_that_onnxruntime_cannot_unless_it_was_asked_for(tmp_path: Path) -> None:
    file = write_pool(tmp_path / "odd.onnx", kind="OddPool")
    spec = [TensorSpec("x", (1, 3, 4, 6), DType.F32)]
    chosen = choose_reference("auto", "onnx", file, None, spec, spec, ())  # type: ignore[arg-type]
    assert isinstance(chosen, EvaluatorReference)
    with pytest.raises(UnsupportedError, match="--reference numpy"):
        choose_reference("onnxruntime", "onnx", file, None, spec, spec, ())  # type: ignore[arg-type]


def test_refusals_of_onnxruntime_are_its_errors_and_no_defects(tmp_path: Path) -> None:
    tensors = {"x": TensorProto.FLOAT, "indices": TensorProto.INT64, "y": TensorProto.FLOAT}
    infos = [helper.make_tensor_value_info(name, kind, [2]) for name, kind in tensors.items()]
    graph = helper.make_graph([helper.make_node("Gather", ["x", "indices"], ["y"])], "g", infos[:2], infos[2:])
    file = tmp_path / "gather.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)
    inputs = [TensorSpec("x", (2,), DType.F32), TensorSpec("indices", (2,), DType.S64)]
    reference = OnnxruntimeReference(file, inputs, [TensorSpec("y", (2,), DType.F32)])
    with pytest.raises(UnsupportedError, match=r"onnxruntime cannot run this model: .*out of data bounds") as caught:
        reference.run({"x": np.zeros(2, np.float32), "indices": np.array([0, 9])})
    (problem,) = caught.value.problems
    assert problem.where.file == str(file)
    assert "input_ranges" in problem.remedy
    assert "--reference numpy" in problem.remedy


def test_without_onnxruntime_numpy_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_under_test, "onnxruntime_is_here", lambda: False)
    file = write_pool(tmp_path / "pool.onnx")
    spec = [TensorSpec("x", (1, 3, 4, 6), DType.F32)]
    assert isinstance(choose_reference("auto", "onnx", file, None, spec, spec, ()), EvaluatorReference)  # type: ignore[arg-type]
    with pytest.raises(RunError, match="pip install onnxruntime"):
        choose_reference("onnxruntime", "onnx", file, None, spec, spec, ())  # type: ignore[arg-type]


def test_recorded_outputs_win(tmp_path: Path) -> None:
    array = np.ones((1, 3), np.float32)
    np.save(tmp_path / "y.npy", array)
    spec = [TensorSpec("y", (1, 3), DType.F32)]
    chosen = choose_reference("auto", "onnx", tmp_path / "none.onnx", None, (), spec, (tmp_path / "y.npy",))  # type: ignore[arg-type]
    assert isinstance(chosen, FileReference)
    np.testing.assert_array_equal(chosen.run({})["y"], array)


def test_small_sigmoids_are_exact(tmp_path: Path) -> None:
    """onnxruntime's are off by up to 1.4e-7: more than a map of a detector that sees nothing."""
    shape = [1, 5]
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["inner"]), helper.make_node("Sigmoid", ["inner"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    file = tmp_path / "sigmoid.onnx"
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]), file)
    specs = [TensorSpec(name, (1, 5), DType.F32) for name in ("x", "y", "inner")]
    x = np.array([[-2, 0, 15, 17, 200]], np.float32)
    found = OnnxruntimeReference(file, specs[:1], specs[1:]).run({"x": x})
    np.testing.assert_allclose(found["y"], [[0.88079708, 0.5, 3.0590227e-07, 4.1399377e-08, 0]], rtol=1e-6)
    np.testing.assert_array_equal(found["inner"], -x)


@pytest.mark.parametrize("quantises", [True, False])
def test_what_is_quantised_as_it_runs_is_computed_as_the_model_says(
    tmp_path: Path, quantises: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other orders of the same sums round to other steps, layer by layer; and sums of bytes must not saturate."""
    given: dict[str, Any] = {}
    session = onnxruntime.InferenceSession

    def watched(*arguments: Any, **options: Any) -> Any:
        given.update(options)
        return session(*arguments, **options)

    monkeypatch.setattr(onnxruntime, "InferenceSession", watched)
    weights = np.full((8, 4), 127, np.int8)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        helper.make_node("MatMulInteger", ["q", "w", "zero"], ["sums"]),
        helper.make_node("Cast", ["sums"], ["y"], to=TensorProto.FLOAT),
    ]
    shapes = {"x": [1, 8], "y": [1, 4]}
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    nodes = nodes if quantises else [helper.make_node("MatMul", ["x", "w"], ["y"])]
    constant = numpy_helper.from_array(weights if quantises else weights.astype(np.float32), "w")
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], [constant])
    file = tmp_path / "g.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)
    specs = [TensorSpec(name, tuple(shape), DType.F32) for name, shape in shapes.items()]
    y = OnnxruntimeReference(file, specs[:1], specs[1:]).run({"x": np.ones((1, 8), np.float32)})["y"]
    assert np.array_equal(y, np.full((1, 4), 8 * 127 * (255 if quantises else 1)))
    assert bool(given["disabled_optimizers"]) == quantises
