"""Streaming estimators against what brute force finds in all numbers at once."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.quantised import dequantised, quantised
from buildtool.ir.types import DType, TensorType
from buildtool.quant.estimators import ESTIMATORS, Settings
from buildtool.quant.histogram import HALF
from buildtool.quant.observed import Observed
from buildtool.quant.ranges import stored_as

SAMPLES = 40


def _samples(seed: int = 0) -> list[np.ndarray]:
    """An activation: a ReLU's results, with a sample now and then that is far out."""
    random = np.random.default_rng(seed)
    scales = np.where(random.random(SAMPLES) < 0.1, 9.0, 1.0)
    return [np.maximum(random.normal(size=(3, 700)) * scale, -0.2).astype(np.float32) for scale in scales]


def _outliers(count: int = 200_000) -> np.ndarray:
    """A bell, and a few numbers that are a hundred times as far out."""
    random = np.random.default_rng(8)
    numbers = random.normal(size=count)
    numbers[:6] = [90, -85, 100, -70, 60, 75]
    return random.permutation(numbers).astype(np.float32)


def _range(kind: str, samples: list[np.ndarray], settings: Settings = Settings()) -> tuple[float, float]:  # noqa: B008
    estimator = ESTIMATORS[kind](settings)
    for sample in samples:
        estimator.update(sample)
    return estimator.range()


def _square_error(numbers: np.ndarray, ends: tuple[float, float], bits: int = 8) -> float:
    type_ = TensorType(DType.S8, numbers.shape, stored_as(*ends, bits=bits))
    return float(np.mean(np.square(dequantised(quantised(numbers, type_), type_) - numbers)))


def test_of_some_tensors_nothing_is_cut_off() -> None:
    rare = np.r_[np.linspace(0, 0.01, 4000), 1.0]
    observed = Observed("kl", Settings(), frozenset({"probabilities"}))
    for name in ("probabilities", "others"):
        observed.update(name, rare)
    assert observed.ranges()["probabilities"] == (0, 1)
    assert observed.ranges()["others"][1] < 0.5
    again = Observed("kl", Settings(), frozenset({"probabilities"}))
    again.load(observed.saved())
    assert again.ranges() == observed.ranges()


def test_min_max() -> None:
    samples = _samples()
    whole = np.stack(samples)
    assert _range("min-max", samples) == (whole.min(), whole.max())


def test_moving_average_is_the_mean_that_forgets() -> None:
    samples = _samples()
    weights = 0.9 ** np.arange(SAMPLES)[::-1]
    lows, highs = ([getattr(sample, end)() for sample in samples] for end in ("min", "max"))
    low, high = _range("moving-average", samples)
    assert low == pytest.approx(np.average(lows, weights=weights), rel=1e-6)
    assert high == pytest.approx(np.average(highs, weights=weights), rel=1e-6)
    assert min(highs) < high < max(highs)


@pytest.mark.parametrize("percent", [0.0, 0.01, 0.5, 5.0, 40.0])
def test_percentiles_are_within_a_bin(percent: float) -> None:
    numbers = _outliers()
    low, high = _range("percentile", np.array_split(numbers, 23), Settings(percentile=percent))
    width = 128 / HALF  # the largest number is 100
    expected = np.percentile(numbers, [percent, 100 - percent], method="inverted_cdf")
    assert np.abs(np.array([low, high]) - expected).max() <= width
    outside = np.count_nonzero(numbers < low), np.count_nonzero(numbers > high)
    assert max(outside) <= numbers.size * percent / 100


def test_enhanced_ranges_leave_out_rare_samples() -> None:
    lows, highs = np.linspace(-1, -0.9, 100), np.linspace(2, 2.1, 100)
    highs[17], highs[50], lows[30] = 50.0, 60.0, -35.0
    samples = [np.array([low, 0.1, high], np.float32) for low, high in zip(lows, highs, strict=True)]
    low, high = _range("enhance", samples)
    assert low == pytest.approx(-1) and high == pytest.approx(2.1)
    assert _range("enhance", samples, Settings(ratio=1000)) == pytest.approx((-35, 60))
    assert _range("enhance", samples[:1]) == pytest.approx((-1, 2))


def test_enhanced_ranges_need_no_more_memory_for_many_samples() -> None:
    random = np.random.default_rng(1)
    estimator, few = ESTIMATORS["enhance"](Settings()), ESTIMATORS["enhance"](Settings())
    for index in range(9000):
        high = 500.0 if index % 4000 == 7 else random.uniform(1, 2)
        sample = np.array([-1.0, high], np.float32)
        estimator.update(sample)
        if index < 3000:
            few.update(sample)
    assert sum(array.nbytes for array in estimator.state().values()) < 140_000
    assert estimator.range()[1] == pytest.approx(2, abs=512 / HALF)
    assert few.range()[1] == pytest.approx(2, abs=1e-2)


def test_square_errors_are_less_than_those_of_all_other_estimators() -> None:
    numbers = _outliers()
    parts = np.array_split(numbers, 10)
    for bits, gain in ((8, 0.8), (4, 0.3)):
        settings = Settings(bits=bits)
        errors = {kind: _square_error(numbers, _range(kind, parts, settings), bits) for kind in ESTIMATORS}
        assert errors["mse"] == min(errors.values())
        assert errors["mse"] < gain * errors["min-max"]


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("one_sided", [False, True])
def test_square_errors_are_near_the_least_of_all_ends(bits: int, one_sided: bool) -> None:
    numbers = _outliers(20_000)
    numbers = np.abs(numbers) if one_sided else numbers
    found = _square_error(numbers, _range("mse", [numbers], Settings(bits=bits)), bits)
    tops = numbers.max() * np.geomspace(0.005, 1, 60)
    bottoms = [0.0] if one_sided else numbers.min() * np.geomspace(0.005, 1, 60)
    least = min(_square_error(numbers, (float(low), float(high)), bits) for low in bottoms for high in tops)
    assert found <= 1.05 * least


def test_divergence_cuts_outliers_off_and_keeps_a_bell() -> None:
    numbers = _outliers()
    low, high = _range("kl", np.array_split(numbers, 10))
    assert -15 < low < -3 and 3 < high < 15
    bell = numbers[np.abs(numbers) < 6]
    clipped = _range("kl", [bell])
    assert np.mean((bell < clipped[0]) | (bell > clipped[1])) < 2e-3


def test_divergence_does_not_look_at_zeros() -> None:
    random = np.random.default_rng(4)
    numbers = np.abs(random.normal(size=100_000)).astype(np.float32)
    many_zeros = np.append(numbers, np.zeros(3_000_000, np.float32))
    assert _range("kl", [many_zeros]) == _range("kl", [numbers])
    assert _range("mse", [many_zeros]) == _range("mse", [numbers])
    low, high = _range("kl", [many_zeros])
    assert low == 0 and high > 2


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parts_that_are_merged_are_the_whole(kind: str) -> None:
    samples = _samples(1)
    whole = _range(kind, samples)
    for cuts in ([7, 20], [1, 2, 39], [0, 13]):
        parts = np.split(np.stack(samples), cuts)
        observed = [Observed(kind, Settings()) for _ in parts]
        for part, one in zip(parts, observed, strict=True):
            for sample in part:
                one.update("x", sample)
        for one in observed[1:]:
            again = Observed(kind, Settings())
            again.load(one.saved())  # as it comes from a worker
            observed[0].merge(again)
        assert observed[0].ranges()["x"] == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    "array", [np.zeros(50), np.full(9, 1e-42), np.full(4, -3.0), np.array([2.0, 3.0]), np.array(7.0)], ids=str
)
def test_odd_tensors_have_ranges(kind: str, array: np.ndarray) -> None:
    low, high = _range(kind, [array.astype(np.float32), np.empty((0, 2), np.float32)])
    assert array.min() - 1e-6 <= max(low, array.min()) <= min(high, array.max()) + 1e-6
    stored_as(low, high)
    assert ESTIMATORS[kind](Settings()).range() == (0.0, 0.0)


def test_numbers_that_are_not_finite_are_refused() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="NaN or infinity"):
            Observed("min-max", Settings()).update("x", np.array([1.0, bad]))
