"""Activations of 16 bits with weights of 8: the results are those of LiteRT's reference kernels, on every processor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.micro import network as nets
from buildtool.targets.micro import reference
from buildtool.targets.micro.processors import PROCESSORS
from tests.importers.tflite.writer import Quantisation
from tests.targets.micro import boards
from tests.targets.micro.quantised_models import inputs_of, litert, network_of
from tests.targets.micro.short_models import ShortModel, deep, shorts
from tests.targets.micro.test_host import check_on_this_machine


@pytest.mark.parametrize("make", [shorts, deep])
@pytest.mark.parametrize("seed", range(4))
def test_networks_compute_what_litert_computes(make: object, seed: int, tmp_path: Path) -> None:
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")
    assert callable(make)
    data = make(seed)
    network = network_of(data, tmp_path)
    assert not any(isinstance(layer, nets.Defined) for layer in network.layers)
    for draw in range(3):
        inputs = inputs_of(network, 10 * seed + draw)
        expected = litert(data, list(inputs.values()))
        for ours, theirs in zip(reference.evaluate(network, inputs).values(), expected, strict=True):
            assert np.array_equal(ours.ravel(), theirs.ravel())
            assert len(np.unique(theirs)) > 1


@pytest.mark.parametrize("op", ["TANH", "LOGISTIC"])
@pytest.mark.parametrize("scale", [2.0**-15, 4.03e-5, 2.0**-12, 2.0**-11, 0.001])
def test_curves_are_equal_for_every_input(op: str, scale: float, tmp_path: Path) -> None:
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")
    model = ShortModel(0)
    model.inputs.append(model._activation((1, 1 << 16), Quantisation([scale], [0])))
    data = model.file(model.curve(0, op))
    network = network_of(data, tmp_path)
    every = np.arange(-(1 << 15), 1 << 15).astype(np.int16)[None]
    (theirs,) = litert(data, [every])
    (ours,) = reference.evaluate(network, {network.inputs[0].name: every}).values()
    assert np.array_equal(ours, theirs)


@pytest.mark.arm
@pytest.mark.parametrize(
    "abi",
    [
        pytest.param(abi, marks=() if abi in ("cortex-m4", "cortex-m55", "rv32imac") else pytest.mark.slow)
        for abi, processor in PROCESSORS.items()
        if processor.board
    ],
)
@pytest.mark.parametrize("make", [shorts, deep])
def test_boards_compute_the_reference(make: object, abi: str, tmp_path: Path) -> None:
    assert callable(make)
    network = network_of(make(3), tmp_path)
    inputs = inputs_of(network, 4)
    ran = boards.run(network, abi, tmp_path, inputs)
    for name, expected in reference.evaluate(network, inputs).items():
        assert np.array_equal(ran.result.outputs[name], expected), name
    assert 0 < ran.result.stack_bytes <= 1024


@pytest.mark.slow
@pytest.mark.parametrize("make", [shorts, deep])
def test_no_kernel_leaves_its_memory(make: object, tmp_path: Path) -> None:
    assert callable(make)
    check_on_this_machine(network_of(make(8), tmp_path), tmp_path)


def test_biases_of_32_bits_are_computed_in_floating_point(tmp_path: Path) -> None:
    """LiteRT reads them as if they had 64: there is no reference to be equal to."""
    model = ShortModel(2)
    x = model.input(1, 40)
    weights, bias = model._products(x, (6, 40), 6, None)
    content = model.tensors[bias].content
    assert content is not None
    model.tensors[bias] = replace(model.tensors[bias], dtype="int32", content=content.astype(np.int32))
    y = model._node("FULLY_CONNECTED", [x, weights, bias], model._activation((1, 6)), "FullyConnectedOptions", {})
    network = network_of(model.file(y), tmp_path)
    assert any(isinstance(layer, nets.Defined) for layer in network.layers)
