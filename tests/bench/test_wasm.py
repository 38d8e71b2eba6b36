"""The comparison with engines for browsers: what it gives TensorFlow.js, and how it sums up. They are not run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from buildtool.ir.graph import Graph
from buildtool.requests.deployments import load_deployment
from buildtool.settings import DEFAULTS, SILENT, Overrides
from buildtool.workflow.preparing import prepare
from tests.bench.wasm import __main__ as bench
from tests.zoo.networks import NETWORKS, cached

KNOWN = set(re.findall(r"case '(\w+)'", (Path(bench.__file__).parent / "bench.mjs").read_text()))


def optimised(name: str, folder: Path) -> Graph:
    from buildtool.drafts import deployment

    onnx = cached(name, folder, size=64, width=0.25)
    file = folder / "deploy.yml"
    file.write_text(deployment.write([onnx], relative_to=folder, library_name=name, data_type="fp32_fp32"))
    (model,) = prepare(load_deployment(file, Overrides(target_abis=("wasm32-simd",))), DEFAULTS, SILENT)
    return model.graph


@pytest.mark.parametrize("name", NETWORKS)
def test_every_node_has_a_counterpart_and_every_constant_its_bytes(name: str, tmp_path: Path) -> None:
    graph = optimised(name, tmp_path)
    document, weights = bench.for_tensorflow(graph)
    assert len(document["nodes"]) == len(graph.nodes)
    assert {node["op"] for node in document["nodes"]} <= KNOWN
    known = {document["input"]} | {constant["name"] for constant in document["constants"]}
    for node in document["nodes"]:
        assert set(node["inputs"]) <= known
        known.add(node["output"])
    assert document["output"] in known
    assert sum(constant["count"] for constant in document["constants"]) * 4 == len(weights)


def test_filters_are_in_the_order_of_tensorflow(tmp_path: Path) -> None:
    graph = optimised("mobilenet_v1", tmp_path)
    document, weights = bench.for_tensorflow(graph)
    first = next(node for node in graph.nodes if node.op.name == "conv2d")
    (place,) = [one for one in document["constants"] if one["name"] == first.inputs[1].name]
    stored = np.frombuffer(weights, np.float32, place["count"], place["offset"]).reshape(place["shape"])
    assert first.inputs[1].constant is not None
    np.testing.assert_array_equal(stored[1, 2, 0, 5], first.inputs[1].constant[5, 1, 2, 0])


def test_means_are_geometric() -> None:
    rows = [
        {"dtype": "fp32", "ratios": {"onnxruntime_web": a, "tensorflow_js": b}, "forms": {}}
        for a, b in ((0.25, 1.0), (1.0, 4.0))
    ]
    rows.append({"dtype": "int8", "ratios": {"onnxruntime_web": 0.25}, "forms": {}})
    assert bench._means(rows) == pytest.approx(
        {"onnxruntime_web in fp32": 0.5, "tensorflow_js in fp32": 2.0, "onnxruntime_web in int8": 0.25}
    )
