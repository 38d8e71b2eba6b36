"""How weights and sums are stored."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.targets.k210.format.arguments import LOAD_BYTES
from buildtool.targets.k210.format.tables import BatchNorm
from buildtool.targets.k210.generation import quantise, split
from buildtool.targets.k210.generation.quantise import Bytes, bytes_between
from buildtool.targets.k210.generation.split import MOST_LOADS


def test_zero_is_a_byte_whatever_the_range() -> None:
    for low, high in ((0.0, 6.0), (-3.0, 5.0), (2.0, 5.0), (-4.0, -1.0), (0.0, 0.0)):
        stored = bytes_between(low, high)
        assert stored.stored(np.zeros(1))[0] == stored.zero_point
        assert stored.real(np.array([stored.zero_point])) == 0
        assert stored.low <= low + stored.scale and stored.high >= high - stored.scale


@pytest.mark.parametrize("bits", [8, 16])
def test_weights_are_a_step_away_at_most(bits: int) -> None:
    rng = np.random.default_rng(4)
    real = rng.normal(0, 1, (6, 3, 3, 3)) * 10.0 ** rng.integers(-3, 2, (6, 1, 1, 1))
    for per_channel in (True, False):
        found = quantise.weights(real, bits, per_channel)
        assert (np.abs(found.real() - real) <= found.scales[:, None, None, None] * 0.51).all()
        assert found.stored.min() >= 0 and found.stored.max() < 1 << bits
    assert quantise.weights(real, bits).per_channel


def test_weights_of_one_sign_have_one_scale() -> None:
    real = np.random.default_rng(4).uniform(0.9, 1, (4, 2, 3, 3))
    assert not quantise.weights(real).per_channel


@pytest.mark.parametrize("depthwise", [False, True])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e3])
def test_sums_come_to_scale(depthwise: bool, spread: float) -> None:
    """The batch norm of a sum of stored numbers stands for the real sum and the bias."""
    rng = np.random.default_rng(11)
    real = rng.normal(0, spread, (5, 1 if depthwise else 7, 3, 3)) * 4.0 ** rng.integers(-2, 2, (5, 1, 1, 1))
    bias = rng.normal(0, spread, 5)
    x, y = Bytes(0.02, 77), bytes_between(-3 * spread, 5 * spread)
    found = quantise.weights(real)
    made = quantise.registers(found, bias, x, y, lambda sums: sums, wide=False)
    window = rng.integers(0, 256, real.shape[1:])
    sums = (found.stored * window).sum(axis=(1, 2, 3))
    terms = made.zero_points
    sums += terms.arg_x * window.sum() + terms.arg_w * found.stored.sum(axis=(1, 2, 3)) + terms.arg_add * len(window)
    wanted = (found.real() * x.real(window)).sum(axis=(1, 2, 3)) + bias
    scale = _scale_of(made.batch_norm, bias)
    for norm, total, expected in zip(made.batch_norm, sums, wanted, strict=True):
        got = (int(total) * norm.mul >> norm.shift) + norm.add
        assert abs(got * scale - expected) < y.scale * 0.02
        norm.encode()


def _scale_of(norms: tuple[BatchNorm, ...], bias: np.ndarray) -> float:
    largest = int(np.abs(bias).argmax())
    return float(bias[largest] / norms[largest].add)


def test_sums_that_the_registers_do_not_hold_are_told() -> None:
    real = np.ones((1, 1024, 3, 3))
    found = quantise.weights(real, 16)
    with pytest.raises(UnsupportedError, match="its sums of products reach"):
        quantise.registers(found, np.zeros(1), Bytes(1, 0), Bytes(1, 0), lambda x: x, wide=True)


def test_parts_hold_all_channels_in_the_loads_that_there_are() -> None:
    for wide in (False, True):
        for channels, size in ((1024, 9216), (1024, 4608), (200, 9216), (193, 9216), (7, 9), (1024, 9)):
            found = split.parts(channels, size * (2 if wide else 1), wide=wide)
            assert sum(part.count for part in found) == channels
            assert [part.first for part in found[1:]] == [part.first + part.count for part in found[:-1]]
            assert all(part.first % 8 == 0 for part in found)
            per_load = LOAD_BYTES[wide] // (size * (2 if wide else 1))
            assert all(-(-part.count // per_load) <= MOST_LOADS for part in found)
