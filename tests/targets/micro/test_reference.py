"""The arithmetic of layers, against LiteRT's reference kernels: every byte is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.micro import reference
from tests.targets.micro.quantised_models import Model, images, inputs_of, litert, network_of, rearranged, wide

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")


@pytest.mark.parametrize("make", [images, wide, rearranged])
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


@pytest.mark.parametrize("op", ["LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU"])
def test_tables_are_at_most_a_step_away(op: str, tmp_path: Path) -> None:
    model = Model(4)
    options = {"LEAKY_RELU": ("LeakyReluOptions", {"Alpha": 0.1})}.get(op, ("", {}))
    data = model.file(model.unary(model.input(1, 256), op, options[0], **options[1]))
    network = network_of(data, tmp_path)
    inputs = {network.inputs[0].name: np.arange(-128, 128).astype(np.int8)[None]}
    (theirs,) = litert(data, list(inputs.values()))
    (ours,) = reference.evaluate(network, inputs).values()
    assert np.abs(ours.astype(int) - theirs.astype(int)).max() <= 1
