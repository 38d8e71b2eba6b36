"""A deep network gains from corrected biases and from weights that are rounded together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import buildtool
from buildtool.drafts import deployment
from buildtool.quant import weight_files
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
        assert found.layers == 53
        assert found.after > found.before + 0.5


def test_layers_that_are_too_large_are_rounded_to_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "digits"
    calibration = CalibrationSettings(example / "pictures.npy", output=tmp_path / "digits.ranges")
    options = buildtool.Options(tmp_path / "build")
    ranges = quantize(example / "accuracy.yml", calibration, options=options)
    found = {}
    for most in (correcting._NUMBERS, 100):  # the first convolution sums up 9 numbers
        monkeypatch.setattr(correcting, "_NUMBERS", most)
        report = correct(example / "accuracy.yml", ranges, calibration, Corrections(rounding=True), options=options)
        found[most] = report.apart, weight_files.read(report.file)
    (nothing, all_), (apart, some) = found.values()
    assert (nothing, apart) == ((), ("relu_6_out", "fullyconnected_8_out"))
    assert np.array_equal(all_["relu_2_out"].weights, some["relu_2_out"].weights)
    assert not np.array_equal(all_["relu_6_out"].weights, some["relu_6_out"].weights)
    assert not [change for change in some.values() if change.bias is not None]
