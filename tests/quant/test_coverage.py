"""The ranges of a calibration are all that the graph of few bits asks for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from buildtool import workflow
from buildtool.drafts import deployment
from buildtool.quant import range_files
from buildtool.quant.ranges import between, stored_as
from buildtool.requests import build_identity, deployments
from buildtool.requests.library_sources import Algorithms
from buildtool.settings import CalibrationSettings, Options
from buildtool.workflow import prepare
from buildtool.workflow.building import lower

NETWORK = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[1, 3, 12, 12] image) => (float[1, 5] y) <
    float[8, 3, 3, 3] w1, float[8, 8, 3, 3] w2, float[8, 1, 3, 3] w3, float[5, 16] w4, int64[2] shape = {1, 16}
> {
    a = Conv <pads = [1, 1, 1, 1]> (image, w1)
    a_sigmoid = Sigmoid (a)
    swish = Mul (a, a_sigmoid)
    b = Conv <pads = [1, 1, 1, 1]> (swish, w2)
    sum = Add (b, swish)
    hard = HardSwish (sum)
    c = Conv <pads = [1, 1, 1, 1], group = 8> (hard, w3)
    clipped = Relu (c)
    both = Concat <axis = 1> (hard, clipped)
    pooled = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (both)
    mean = GlobalAveragePool (pooled)
    flat = Reshape (mean, shape)
    z = Gemm <transB = 1> (flat, w4)
    y = Softmax (z)
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    model = onnx.parser.parse_model(NETWORK)
    random = np.random.default_rng(2)
    for name, shape in {"w1": (8, 3, 3, 3), "w2": (8, 8, 3, 3), "w3": (8, 1, 3, 3), "w4": (5, 16)}.items():
        weights = (random.normal(size=shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weights, name))
    onnx.save(model, tmp_path / "net.onnx")
    text = deployment.write([tmp_path / "net.onnx"], relative_to=tmp_path, data_type="fp16_fp32")
    (tmp_path / "net.yml").write_text(text)
    (tmp_path / "int8.yml").write_text(f"{text.rstrip()}\n    quantize: 1\n    quantize_range_file: net.ranges\n")
    np.save(tmp_path / "images.npy", random.normal(size=(8, 3, 12, 12)).astype(np.float32))
    return tmp_path


@pytest.mark.slow
def test_every_tensor_of_the_graph_of_few_bits_has_a_range(project: Path) -> None:
    calibration = CalibrationSettings(project / "images.npy", output=project / "net.ranges")
    report = workflow.quantize(project / "net.yml", calibration, options=Options(project / "build"))
    assert {"image", "a", "swish", "hard", "clipped", "both", "z"} <= set(report.ranges)
    assert range_files.read(project / "net.ranges").keys() == report.ranges.keys()
    quantised = deployments.load_deployment(project / "int8.yml")
    models = prepare(quantised)
    _, (program,) = lower(quantised, models, Algorithms())
    assert [node for node in program.models[0].kept if "range of" in node.reason] == []
    names = {name for value in models[0].graph.values() for name in (value.name, *value.source_names)}
    assert set(report.ranges) <= names


@pytest.mark.slow
def test_a_deployment_whose_range_file_is_still_missing_is_calibrated_into_it(project: Path) -> None:
    calibration = CalibrationSettings(project / "images.npy", samples=3)
    report = workflow.quantize(project / "int8.yml", calibration, options=Options(project / "build"))
    assert (report.file, report.samples) == (project / "net.ranges", 3)
    again = workflow.quantize(project / "net.yml", calibration, options=Options(project / "build"))
    assert again.file == project / "net.ranges"
    assert again.ranges == report.ranges


def test_concatenations_share_a_range_where_that_is_asked_for(project: Path) -> None:
    ends = {"hard": (-0.375, 2.0), "clipped": (0.0, 6.0), "both": (-0.375, 5.0)}
    (project / "net.ranges").write_text(range_files.text({"image": (-3.0, 3.0), **ends}))
    file = project / "int8.yml"
    for asked in (False, True):
        (model,) = prepare(deployments.load_deployment(file))
        stored = {name: model.graph.ranges[name] for name in ends}
        assert len(set(stored.values())) == (1 if asked else 3)
        assert model.graph.ranges["image"] == stored_as(-3.0, 3.0)
        file.write_text(file.read_text() + "    change_concat_ranges: 1\n")
    assert between(stored["clipped"]) == pytest.approx((-0.375, 6.0), abs=stored["clipped"].scales[0] / 2)
    pooled = [node.outputs[0] for node in model.graph.nodes if node.op.name == "max_pool2d"]
    assert [model.graph.range_of(value) for value in pooled] == [stored["clipped"]]


def test_a_library_is_built_anew_when_its_ranges_change(project: Path) -> None:
    quantised, options = deployments.load_deployment(project / "int8.yml"), Options(project / "build")
    identities = []
    for high in (2.0, 3.0):
        (project / "net.ranges").write_text(range_files.text({"image": (-3.0, high)}))
        identities.append(build_identity.known_tuning(quantised, options).identity)
    assert identities[0] != identities[1]
