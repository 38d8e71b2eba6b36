"""The five networks: imported, optimised, compared with onnxruntime, and what is left of them counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest

from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.graph import Graph
from buildtool.ops._activation import ActivatedOperator
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import random, reference, run
from tests.zoo import networks

#: Nodes in the file, in the graph as imported, and in the optimised graph.
COUNTS = {
    "mobilenet_v1": (84, 193, 29),
    "mobilenet_v2": (229, 361, 54),
    "squeezenet_v11": (65, 124, 38),
    "resnet18": (69, 152, 23),
    "shufflenet_v2": (725, 459, 101),
}


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _activations_left(graph: Graph) -> list[str]:
    """Activations that stand alone although a layer that could apply them is right before them."""
    producers = graph.producers()
    return [
        repr(node)
        for node in graph.nodes
        if node.op.name in ("relu", "clip") and isinstance(producers[node.inputs[0]].op, ActivatedOperator)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_network(name: str, tmp_path: Path) -> None:
    model = networks.build(name, size=64)
    file = tmp_path / "model.onnx"
    onnx.save(model, file)
    picture = random(1, 64, 64, 3)
    (expected,) = reference(model, {"input": picture.transpose(0, 3, 1, 2).copy()})

    result = import_model(ImportRequest(name, file, inputs=(TensorRequest("input", (1, 64, 64, 3), "NHWC"),)))
    graph = result.graph
    imported_nodes = len(graph.nodes)
    assert _cosine(run(graph, [picture])[0], expected) > 0.99999
    optimise(graph)
    assert _cosine(run(graph, [picture])[0], expected) > 0.99999
    assert (result.source_nodes, imported_nodes, len(graph.nodes)) == COUNTS[name]

    kinds = Counter(node.op.name for node in graph.nodes)
    transposes = [node.op.attributes()["perm"] for node in graph.nodes if node.op.name == "transpose"]
    assert kinds["batch_norm"] == 0
    assert kinds["identity"] == 0
    assert transposes == []
    assert kinds["gather"] == (13 if name == "shufflenet_v2" else 0)  # each of half of the channels
    assert not _activations_left(graph)
    assert graph.outputs[0].name == "output"
    assert "output" in graph.outputs[0].source_names


def test_layers_keep_the_names_of_the_source(tmp_path: Path) -> None:
    """What is compared layer by layer must still be there: the outputs of fused layers."""
    model = networks.build("resnet18", size=64)
    file = tmp_path / "model.onnx"
    onnx.save(model, file)
    graph = import_model(ImportRequest("resnet18", file)).graph
    optimise(graph)
    kept = {name for value in graph.values() for name in value.source_names}
    relus = {node.output[0] for node in model.graph.node if node.op_type == "Relu"}
    assert relus <= kept
    assert {node.name for node in graph.nodes} <= {node.name for node in model.graph.node}
