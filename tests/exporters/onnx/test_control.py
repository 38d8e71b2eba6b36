"""Branches, loops and run-time sizes: every model of the importer's tests, exported, gives what it gave before."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.passes.pipeline import optimise
from tests.exporters.onnx.harness import checked, counts, differences, run_fast
from tests.importers.onnx import control_flow, run_time_sizes

MODELS = {**control_flow.MODELS, **run_time_sizes.MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_bodies_compute_the_same(name: str, tmp_path: Path) -> None:
    proto = MODELS[name].proto()
    file = tmp_path / "model.onnx"
    onnx.save(proto, file)
    shapes = MODELS[name].bounded or {}
    inputs, outputs = (
        tuple(TensorRequest(value.name, shapes.get(value.name), _format(value), None) for value in values)
        for values in (proto.graph.input, proto.graph.output)
    )
    graph = import_model(ImportRequest("model", file, inputs=inputs, outputs=outputs)).graph
    optimise(graph)
    exported = checked(graph)
    left = {node.op.name for node in graph.walk()}
    assert counts(exported, "Loop") == sum(node.op.name == "loop" for node in graph.walk())
    assert ("If" in exported.operators) == ("if_else" in left)
    for feeds in MODELS[name].runs:
        wanted = run_fast(file.read_bytes(), feeds)
        assert differences(wanted, run_fast(exported.content, feeds), 1e-5) == ""


def _format(value: onnx.ValueInfoProto) -> str:
    return "NCHW" if len(value.type.tensor_type.shape.dim) == 4 else "NONE"
