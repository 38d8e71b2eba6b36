"""LiteRT as the reference of TFLite models."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import RunError, UnsupportedError
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.types import DType
from buildtool.running import model_under_test
from buildtool.running.inputs import TensorSpec
from buildtool.running.litert import LitertReference
from buildtool.running.model_under_test import choose_reference
from buildtool.running.reference import EvaluatorReference
from tests.importers.tflite.writer import GraphSpec, NodeSpec, Quantisation, write
from tests.importers.tflite.writer import TensorSpec as Stored

needs_litert = pytest.mark.skipif(importlib.util.find_spec("ai_edge_litert") is None, reason="LiteRT is not installed")


def _pool(folder: Path) -> Path:
    """y = pool(relu(x)) of one image of 4x6 with 3 channels."""
    tensors = [Stored(name, "float32", shape) for name, shape in (("x", (1, 4, 6, 3)), ("inner", (1, 4, 6, 3)))]
    window = {"Padding": 1, "StrideW": 2, "StrideH": 2, "FilterWidth": 2, "FilterHeight": 2}
    nodes = [NodeSpec("RELU", [0], [1]), NodeSpec("MAX_POOL_2D", [1], [2], "Pool2DOptions", window)]
    file = folder / "pool.tflite"
    file.write_bytes(write(GraphSpec([*tensors, Stored("y", "float32", (1, 2, 3, 3))], nodes, [0], [2])))
    return file


@needs_litert
@pytest.mark.parametrize("order", ["NHWC", "NCHW"])
def test_both_references_agree_in_the_declared_order(order: str, tmp_path: Path) -> None:
    file = _pool(tmp_path)
    sizes = {"x": (1, 4, 6, 3), "y": (1, 2, 3, 3), "inner": (1, 4, 6, 3)}
    if order == "NCHW":
        sizes = {name: (shape[0], shape[3], *shape[1:3]) for name, shape in sizes.items()}

    def spec(name: str) -> TensorSpec:
        return TensorSpec(name, sizes[name], DType.F32, order, source_format="NHWC")

    inputs, outputs = [spec("x")], [spec("y"), spec("inner")]
    requests = [tuple(TensorRequest(item.name, item.shape, order) for item in items) for items in (inputs, outputs)]
    imported = import_model("tflite", ImportRequest("pool", file, None, requests[0], requests[1]))
    data = {"x": np.random.default_rng(0).standard_normal(sizes["x"]).astype(np.float32)}
    right = LitertReference(file, inputs, outputs).run(data)
    found = EvaluatorReference(imported.graph, inputs, outputs).run(data)
    for name, array in right.items():
        assert array.shape == sizes[name]
        np.testing.assert_allclose(found[name], array, rtol=1e-6)


@needs_litert
def test_numpy_runs_models_that_litert_cannot_unless_litert_was_asked_for(tmp_path: Path) -> None:
    file, y = _pool(tmp_path), [TensorSpec("y", (1, 2, 3, 3), DType.F32)]
    inner = [TensorSpec("inner", (1, 4, 6, 3), DType.F32)]
    chosen = choose_reference("auto", "tflite", file, None, inner, y, ())  # type: ignore[arg-type]
    assert isinstance(chosen, EvaluatorReference)
    with pytest.raises(UnsupportedError, match="'inner' cannot be set"):
        choose_reference("litert", "tflite", file, None, inner, y, ())  # type: ignore[arg-type]


def test_without_litert_numpy_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_under_test, "litert_is_here", lambda: False)
    file, spec = _pool(tmp_path), [TensorSpec("x", (1, 4, 6, 3), DType.F32)]
    assert isinstance(choose_reference("auto", "tflite", file, None, spec, spec, ()), EvaluatorReference)  # type: ignore[arg-type]
    with pytest.raises(RunError, match="pip install ai-edge-litert"):
        choose_reference("litert", "tflite", file, None, spec, spec, ())  # type: ignore[arg-type]


@needs_litert
def test_integers_are_those_of_the_kernels_that_applications_get(tmp_path: Path) -> None:
    """LiteRT's own kernels round a product twice, those of XNNPACK once: on some of these numbers they differ."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    filters = np.arange(1, 128, dtype=np.int8).reshape(127, 1, 1, 1)
    spread = Quantisation([0.05] * 127, [0] * 127, 0)
    tensors = [
        Stored("x", "int8", (1, 16, 16, 1), quantisation=Quantisation([0.05], [0])),
        Stored("w", "int8", filters.shape, filters, spread),
        Stored("b", "int32", (127,), np.zeros(127, np.int32), Quantisation([0.0025] * 127, [0] * 127, 0)),
        Stored("y", "int8", (1, 16, 16, 127), quantisation=Quantisation([0.3], [0])),
    ]
    options = {"Padding": 1, "StrideW": 1, "StrideH": 1, "DilationWFactor": 1, "DilationHFactor": 1}
    file = tmp_path / "conv.tflite"
    file.write_bytes(
        write(GraphSpec(tensors, [NodeSpec("CONV_2D", [0, 1, 2], [3], "Conv2DOptions", options)], [0], [3]))
    )
    x = np.arange(-128, 128).astype(np.int8).reshape(1, 16, 16, 1)
    told = {}
    for kind in (OpResolverType.AUTO, OpResolverType.BUILTIN_REF):
        interpreter = Interpreter(str(file), experimental_op_resolver_type=kind)
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        told[kind] = interpreter.get_tensor(3)
    assert (told[OpResolverType.AUTO] != told[OpResolverType.BUILTIN_REF]).any()
    inputs, outputs = [TensorSpec("x", x.shape, DType.S8)], [TensorSpec("y", (1, 16, 16, 127), DType.S8)]
    found = LitertReference(file, inputs, outputs).run({"x": x})
    np.testing.assert_array_equal(found["y"], told[OpResolverType.AUTO])
