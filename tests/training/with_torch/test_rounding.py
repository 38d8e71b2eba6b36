"""Rounding in place gives the integers of `rules`, and passes gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from buildtool.training import rounding, rules
from buildtool.training.layers import Fused, Pooling

KINDS = (torch.float32, torch.float64)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize("size", [(2,), (3,), (7,), (16,), (2, 2), (3, 3), (5, 3), (7, 7), (16, 16)])
def test_averages(size: tuple[int, ...], rounds: bool, kind: torch.dtype) -> None:
    rng = np.random.default_rng(0)
    whole = torch.from_numpy(rng.integers(-128, 128, (50, 3, *[33] * len(size))))
    values = (whole / 128).to(kind).requires_grad_()
    found = Pooling("average", size, size, (1,) * len(size), rounds)(values * 1, quantised=True)
    windows = whole.double()
    for axis, side in enumerate(size):
        windows = windows.unfold(2 + axis, side, side)
    count = int(np.prod(size))
    sums = windows.flatten(2 + len(size)).sum(-1)
    assert torch.equal(found.detach().double() * 128, rules.average(sums, count, rounds=rounds) + 0.0)
    found.sum().backward()
    assert values.grad is not None
    assert float(values.grad.max()) == pytest.approx(1 / count)


@pytest.mark.parametrize("kind", KINDS)
def test_narrow_values(kind: torch.dtype) -> None:
    """Every half step and its neighbours; gradients end where values were cut off."""
    steps = torch.arange(-300, 300, dtype=kind).div(2)
    steps = torch.cat([steps, steps + 1 / 64, steps - 1 / 64])
    for lowest in (-1.0, 0.0):
        values = (steps / 128).requires_grad_()
        found = rounding.narrow(values + rounding.HALF_STEP, lowest)
        expected = rules.saturated(torch.floor(steps + 0.5)).clamp(min=lowest * 128)
        assert torch.equal(found.detach() * 128, expected)
        found.sum().backward()
        assert values.grad is not None
        assert torch.equal(values.grad, ((expected > lowest * 128) & (expected < 127)).to(kind))


@pytest.mark.parametrize("bits", rules.WEIGHT_BITS)
@pytest.mark.parametrize("quantile", [1.0, 0.9])
def test_parameters(bits: int, quantile: float) -> None:
    torch.manual_seed(bits)
    layer = Fused("conv2d", 3, 8)
    layer.quantise(bits, quantile)
    both = np.concatenate([part.detach().numpy().reshape(-1) for part in (layer.op.weight, layer.op.bias)])
    assert layer.power() == rules.highest_shift(both, quantile, bits)
    factor = rules.factor(bits, layer.power())
    found = rounding.parameters(layer.op.weight, factor, bits)
    assert np.array_equal(found.detach().numpy() * factor, rules.whole(layer.op.weight.detach().numpy(), factor, bits))
    found.sum().backward()
    assert torch.equal(layer.op.weight.grad, torch.ones_like(layer.op.weight))
