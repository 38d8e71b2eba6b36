"""Files that belong to a model without being named: a build is made from them as from the model itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from buildtool import workflow
from buildtool.artifacts.depfile import FilesRead
from buildtool.importers.frameworks import companions
from buildtool.reports.documents import MANIFEST
from buildtool.requests import build_identity, deployments, model_sources
from buildtool.settings import Options

DEPLOYMENT = """
library_name: net
target_abis: [host]
models:
  net: {platform: onnx, model_file_path: net.onnx, data_type: fp32_fp32,
    input_tensors: x, input_shapes: 4, output_tensors: y, output_shapes: 4}
"""


def outside(name: str, location: str) -> TensorProto:
    """A tensor of four numbers whose content lies in a file."""
    tensor = numpy_helper.from_array(np.zeros(4, np.float32), name)
    set_external_data(tensor, location, 0, 16)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    return tensor


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """y = where(sum(x) > 0, x + w, x + v): `w` is of the graph, `v` of a branch, both in files."""
    folder = tmp_path / "net"
    (folder / "weights").mkdir(parents=True)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    branches = {}
    for branch, weight in (("then_branch", "w"), ("else_branch", "v")):
        out = helper.make_tensor_value_info(branch, TensorProto.FLOAT, [4])
        held = [outside("v", "weights/v.bin")] if weight == "v" else []
        branches[branch] = helper.make_graph([helper.make_node("Add", ["x", weight], [branch])], "g", [], [out], held)
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["positive"]),
        helper.make_node("If", ["positive"], ["y"], **branches),  # type: ignore[arg-type]
    ]
    held = [outside("w", "weights/w.bin"), numpy_helper.from_array(np.zeros((), np.float32), "zero")]
    graph = helper.make_graph(nodes, "net", [x], [y], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
    (folder / "net.onnx").write_bytes(model.SerializeToString())
    for name in "wv":
        (folder / "weights" / f"{name}.bin").write_bytes(np.ones(4, np.float32).tobytes())
    (folder / "deploy.yml").write_text(DEPLOYMENT)
    return folder


def test_external_data_is_part_of_identity_dependencies_and_manifest(net: Path) -> None:
    """Whether a build is up to date, what build systems are told to watch, and what the manifest lists."""
    data = [net / "weights" / f"{name}.bin" for name in "vw"]
    assert list(companions("onnx", net / "net.onnx", None)) == data
    deployment, options = deployments.load_deployment(net / "deploy.yml"), Options(net / "build", archive=False)
    identity = build_identity.known_tuning(deployment, options).identity
    read = FilesRead()
    workflow.convert(net / "deploy.yml", options=options)
    assert {*data} <= {*model_sources.inputs_of(deployment, options, read)}
    listed = (net / "build" / "net" / MANIFEST).read_text()
    assert all(f'"{file.name}"' in listed for file in data)
    assert build_identity.known_tuning(deployment, options).identity == identity
    for file in data:
        file.write_bytes(np.full(4, 2, np.float32).tobytes())
        changed = build_identity.known_tuning(deployment, options).identity
        assert changed != identity
        identity = changed


def test_missing_files_and_files_outside_the_folder_are_no_companions(net: Path, tmp_path: Path) -> None:
    (net / "weights" / "v.bin").unlink()
    assert [file.name for file in companions("onnx", net / "net.onnx", None)] == ["w.bin"]
    (net / "junk.onnx").write_bytes(b"location\xff\xff")
    assert companions("onnx", net / "junk.onnx", None) == ()
    assert companions("onnx", net / "none.onnx", None) == ()
    (tmp_path / "secret").write_bytes(bytes(16))
    model = onnx.load(net / "net.onnx", load_external_data=False)
    model.graph.initializer[0].external_data[0].value = "../secret"
    (net / "net.onnx").write_bytes(model.SerializeToString())
    assert companions("onnx", net / "net.onnx", None) == ()


def test_a_saved_model_that_is_named_by_its_file(tmp_path: Path) -> None:
    assert companions("tensorflow", tmp_path / "saved_model.pb", None) == ()
    (tmp_path / "variables").mkdir()
    assert companions("tensorflow", tmp_path / "saved_model.pb", None) == (tmp_path / "variables",)
    assert companions("tensorflow", tmp_path / "frozen.pb", None) == ()
