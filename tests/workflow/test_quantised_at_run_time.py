"""Models that quantise numbers by their own range as they run: last bits decide which step a number takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import buildtool
from buildtool import workflow
from buildtool.errors import Problem
from buildtool.settings import Silent
from buildtool.validation import layers
from buildtool.workflow import inner_tensors


class Notes(Silent):
    def __init__(self) -> None:
        self.notes: list[Problem] = []

    def note(self, problem: Problem) -> None:
        self.notes.append(problem)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A product as `quantize_dynamic` of onnxruntime writes it."""
    folder = tmp_path_factory.mktemp("dynamic")
    weights = np.random.default_rng(0).integers(-127, 128, (8, 4)).astype(np.int8)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "x_scale", "x_zero"]),
        helper.make_node("MatMulInteger", ["q", "w", "x_zero", "w_zero"], ["sums"]),
        helper.make_node("Cast", ["sums"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["x_scale", "w_scale"], ["scale"]),
        helper.make_node("Mul", ["real", "scale"], ["y"]),
    ]
    constants: dict[str, np.ndarray[Any, Any]] = {
        "w": weights,
        "w_zero": np.zeros((), np.int8),
        "w_scale": np.full((), 0.01, np.float32),
    }
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 4])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "m.onnx")
    np.save(folder / "in.npy", np.random.default_rng(1).standard_normal((3, 8)).astype(np.float32))
    np.save(folder / "out.npy", np.eye(3, 4, dtype=np.float32))
    return folder


def _file(folder: Path, *keys: str) -> Path:
    more = "".join(f"        {key}\n" for key in keys)
    (folder / "m.yml").write_text(
        "library_name: m\ntarget_abis: [host]\nmodel_graph_format: file\nmodel_data_format: file\nmodels:\n  m:\n"
        "    platform: onnx\n    model_file_path: m.onnx\n    subgraphs:\n      - input_tensors: [x]\n"
        '        input_shapes: ["3,8"]\n        input_data_formats: [NONE]\n        output_tensors: [y]\n'
        f'        output_shapes: ["3,4"]\n        output_data_formats: [NONE]\n{more}'
        "    runtime: cpu\n    data_type: fp32_fp32\n"
    )
    return folder / "m.yml"


def test_the_product_is_one_node_and_right(project: Path) -> None:
    options, notes = buildtool.Options(project / "build", archive=False), Notes()
    report = buildtool.validate(_file(project), options=options, progress=notes)
    assert report.passed
    assert not notes.notes
    text = (project / "build/m/report/build.json").read_text()
    assert "fully_connected_integer" in json.dumps(json.loads(text)["models"][0]["plans"])


def test_a_failure_tells_of_the_last_bits(project: Path) -> None:
    options, notes = buildtool.Options(project / "build", archive=False), Notes()
    file = _file(project, "validation_inputs_data: [in.npy]", "validation_outputs_data: [out.npy]")
    assert not buildtool.validate(file, options=options, progress=notes).passed
    (note,) = notes.notes
    assert "quantises numbers by their own range" in note.what
    assert "validate --layers" in note.remedy


def test_layers_are_compared_with_the_source_less_strictly(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[float] = []
    judge = layers.judge

    def watched(found_layers: Any, threshold: float, *rest: Any) -> Any:
        found.append(threshold)
        return judge(found_layers, threshold, *rest)

    monkeypatch.setattr(inner_tensors, "judge", watched)
    (model,) = workflow.validate_layers(_file(project), options=buildtool.Options(project / "build")).models
    assert model["passed"]
    assert found == [0.9]
