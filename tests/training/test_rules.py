"""The integers of training are those of the simulators and of `lathe quantize`."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.targets.max7800x.checkpoints import quantise_checkpoint
from buildtool.targets.max7800x.network import Pool
from buildtool.targets.max7800x.simulation import arithmetic
from buildtool.training import rules

SUMS = np.concatenate((np.arange(-40_000, 40_000), np.random.default_rng(0).integers(-(2**31), 2**31, 20_000)))


@pytest.mark.parametrize("bits", rules.WEIGHT_BITS)
@pytest.mark.parametrize("output_shift", range(-8, 8))
def test_sums_are_narrowed_as_by_the_simulator(bits: int, output_shift: int) -> None:
    expected = arithmetic.narrowed(SUMS, arithmetic.total_shift(output_shift, bits))
    assert np.array_equal(rules.narrowed(SUMS.astype(np.float64), output_shift, bits), expected)


@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize("size", [(1, 2), (2, 2), (3, 3), (5, 3), (4, 4)])
def test_averages_are_those_of_the_simulator(size: tuple[int, int], rounds: bool) -> None:
    values = np.random.default_rng(1).integers(-128, 128, (200, *size))
    expected = arithmetic.pooled(values, Pool("average", size, size), rounds=rounds).reshape(-1)
    found = rules.average(values.sum(axis=(1, 2)).astype(np.float64), size[0] * size[1], rounds=rounds)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("bits", rules.WEIGHT_BITS)
def test_weights_are_those_of_lathe_quantize(bits: int) -> None:
    rng = np.random.default_rng(bits)
    weights = rng.normal(0, 0.2, (6, 5, 3, 3)).astype(np.float32)
    bias = rng.normal(0, 0.1, 6).astype(np.float32)
    state = {"a.op.weight": weights, "a.op.bias": bias, "a.weight_bits": np.array([bits], np.float32)}
    made = quantise_checkpoint.quantise({"state_dict": state}, quantise_checkpoint.Rule()).tree["state_dict"]
    power = rules.highest_shift(np.concatenate((weights.reshape(-1), bias)), 1.0, bits)
    factor = np.float32(rules.factor(bits, power))
    assert made["a.output_shift"] == -power
    assert np.array_equal(rules.whole(weights, factor, bits), made["a.op.weight"])
    assert np.array_equal(rules.whole(bias, factor, bits) * 2 ** (bits - 1), made["a.op.bias"])
