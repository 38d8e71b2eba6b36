"""Weights of 4 bits: the results are those of LiteRT's reference kernels, and flash holds two weights a byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.micro import flash, reference
from buildtool.targets.micro import network as nets
from buildtool.targets.micro.packing import packed
from buildtool.targets.micro.processors import PROCESSORS
from tests.targets.micro import boards
from tests.targets.micro.quantised_models import inputs_of, litert, network_of, nibbles, nibbles_by_channels
from tests.targets.micro.test_host import check_on_this_machine


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [nibbles, nibbles_by_channels])
def test_networks_compute_what_litert_computes(make: Callable[[int], bytes], seed: int, tmp_path: Path) -> None:
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")
    data = make(seed)
    network = network_of(data, tmp_path)
    inputs = inputs_of(network, seed)
    for ours, theirs in zip(
        reference.evaluate(network, inputs).values(), litert(data, list(inputs.values())), strict=True
    ):
        assert np.array_equal(ours.ravel(), theirs.ravel())
        assert len(np.unique(theirs)) > 1


@pytest.mark.parametrize("kernel_set", ["portable", "dsp", "mve"])
def test_two_weights_have_a_byte(kernel_set: str, tmp_path: Path) -> None:
    layers = network_of(nibbles(1), tmp_path).layers
    products = [layer for layer in layers if isinstance(layer, nets.Conv | nets.Dense)]
    assert [layer.kind for layer in products] == ["conv", "conv", "depthwise", "conv", "dense"]
    for layer in products:
        twin = {nets.ConvNibbles: nets.Conv, nets.DepthwiseNibbles: nets.Depthwise, nets.DenseNibbles: nets.Dense}
        kept = {each.name: getattr(layer, each.name) for each in fields(layer)}
        whole = packed(twin[type(layer)](**kept), kernel_set).weights.size
        alone = len(layer.weights) * -(-layer.weights[0].size // 2)
        assert packed(layer, kernel_set).weights.size <= max(-(-whole // 2), alone)


@pytest.mark.arm
@pytest.mark.parametrize(
    "abi",
    [
        pytest.param(abi, marks=() if abi in ("cortex-m4", "cortex-m55") else pytest.mark.slow)
        for abi, processor in PROCESSORS.items()
        if processor.board
    ],
)
def test_boards_compute_the_reference(abi: str, tmp_path: Path) -> None:
    for make in (nibbles, nibbles_by_channels):
        network = network_of(make(3), tmp_path)
        inputs = inputs_of(network, 4)
        ran = boards.run(network, abi, tmp_path, inputs)
        for name, expected in reference.evaluate(network, inputs).items():
            assert np.array_equal(ran.result.outputs[name], expected), name


def test_unpacked_layers_get_no_code_of_their_own(tmp_path: Path) -> None:
    """It would read their weights as bytes."""
    network, processor = network_of(nibbles(3), tmp_path), PROCESSORS["cortex-m4"]
    choice = flash.choose(network, processor, 1000, 1 << 20)
    assert choice is not None and not choice.own


@pytest.mark.slow
def test_no_kernel_leaves_its_memory(tmp_path: Path) -> None:
    for make in (nibbles, nibbles_by_channels):
        check_on_this_machine(network_of(make(8), tmp_path), tmp_path)
