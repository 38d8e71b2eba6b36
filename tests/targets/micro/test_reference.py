"""The arithmetic of layers, against LiteRT's reference kernels: every byte is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.micro import reference
from tests.targets.micro.quantised_models import images, inputs_of, litert, network_of, wide

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")


@pytest.mark.parametrize("make", [images, wide])
@pytest.mark.parametrize("seed", range(6))
def test_networks_compute_what_litert_computes(make: object, seed: int, tmp_path: Path) -> None:
    assert callable(make)
    data = make(seed)
    network = network_of(data, tmp_path)
    for draw in range(3):
        inputs = inputs_of(network, 10 * seed + draw)
        expected = litert(data, list(inputs.values()))
        found = list(reference.evaluate(network, inputs).values())
        for ours, theirs in zip(found, expected, strict=True):
            assert np.array_equal(ours.ravel(), theirs.ravel())
            assert len(np.unique(theirs)) > 1
