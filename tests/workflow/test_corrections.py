"""A deep network gains from corrected biases and from weights that are rounded together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import buildtool
from buildtool.drafts import deployment
from buildtool.quant import weight_files
from buildtool.quant.weight_files import Change
from buildtool.settings import CalibrationSettings, Corrections
from buildtool.workflow import correct, correcting, quantize
from tests.zoo.networks import cached

CACHE = Path(__file__).resolve().parents[2] / "build" / "test-zoo"


@pytest.mark.slow
def test_both_options_help_on_samples_that_they_have_not_seen(tmp_path: Path) -> None:
    file = tmp_path / "net.yml"
    text = deployment.write(
        [cached("mobilenet_v2", CACHE, 64, 0.25)], relative_to=tmp_path, library_name="net", target_abis=["host"]
    )
    file.write_text(text.replace("data_type: fp16_fp32", "data_type: fp32_fp32"))
    inputs = np.random.default_rng(0).uniform(-1, 1, (24, 1, 3, 64, 64)).astype(np.float32)
    np.save(tmp_path / "x.npy", inputs)
    calibration = CalibrationSettings(tmp_path / "x.npy", output=tmp_path / "net.ranges")
    options = buildtool.Options(tmp_path / "build")
    ranges = quantize(file, calibration, options=options)
    for wanted in (Corrections(bias=True), Corrections(rounding=True), Corrections(bias=True, rounding=True)):
        found = correct(file, ranges, calibration, wanted, options=options)
        assert (found.samples, found.judged) == (18, 6)
        assert found.layers + len(found.refused) == 53
        assert found.after > found.before + 0.5


@pytest.mark.slow
def test_layers_that_are_too_large_are_rounded_to_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "digits"
    calibration = CalibrationSettings(example / "pictures.npy", output=tmp_path / "digits.ranges")
    options = buildtool.Options(tmp_path / "build")
    ranges = quantize(example / "accuracy.yml", calibration, options=options)
    found = {}
    monkeypatch.setattr(correcting, "_helping", lambda _bench, _file, changes, before: (changes, before))
    for most in (correcting._NUMBERS, 100):  # the first convolution sums up 9 numbers
        monkeypatch.setattr(correcting, "_NUMBERS", most)
        report = correct(example / "accuracy.yml", ranges, calibration, Corrections(rounding=True), options=options)
        assert report.file is not None
        found[most] = report.apart, weight_files.read(report.file)
    (nothing, all_), (apart, some) = found.values()
    assert (nothing, apart) == ((), ("relu_6_out", "fullyconnected_8_out"))
    assert np.array_equal(all_["relu_2_out"].weights, some["relu_2_out"].weights)
    assert not np.array_equal(all_["relu_6_out"].weights, some["relu_6_out"].weights)
    assert not [change for change in some.values() if change.bias is not None]


@dataclass(frozen=True)
class _Judge:
    """What a bench measures: each layer adds decibels, or takes them."""

    gains: Mapping[str, float]
    choice: None = None
    weights: tuple[Path, Mapping[str, object]] | None = None

    def graph(self, choice: None) -> None:
        return choice

    def decibels(self, graph: None) -> float:
        assert self.weights is not None
        return 30 + sum(self.gains[name] for name in self.weights[1])


@pytest.mark.parametrize(
    ("gains", "kept"),
    [
        ({"a": 1.0, "b": -0.5, "c": 0.2}, "abc"),  # all of them together are better
        ({"a": 1.0, "b": -2.0, "c": 0.2, "d": 0.1}, "acd"),
        ({"a": -1.0, "b": -2.0}, ""),
    ],
)
def test_changes_that_do_not_help_are_taken_out(gains: Mapping[str, float], kept: str, tmp_path: Path) -> None:
    changes = {name: Change("", np.zeros(1, np.float32), None) for name in gains}
    found, after = correcting._helping(_Judge(gains), tmp_path / "x.npz", changes, 30.0)  # type: ignore[arg-type]
    assert list(found) == list(kept)
    assert after == pytest.approx(30 + sum(gains[name] for name in kept))
