"""Described networks on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ConfigError, RunError, ValidationError
from buildtool.settings import SimulationSettings
from buildtool.workflow.simulating import simulate

NETWORK = """
arch: tiny
dataset: none
layers:
  - processors: 0x7
    operation: conv2d
    activate: relu
    output_shift: -3
    out_offset: 0x2000
    avg_pool: 2
    pool_stride: 2
  - processors: 0xf
    operation: mlp
    flatten: true
    output_width: 32
"""


@pytest.fixture
def settings(tmp_path: Path) -> SimulationSettings:
    """A network of two layers beside the files that it takes."""
    rng = np.random.default_rng(4)
    (tmp_path / "net.yaml").write_text(NETWORK)
    with (tmp_path / "weights.npy").open("wb") as stream:
        for shape in ((4, 3, 3, 3), (5, 36)):
            np.save(stream, rng.integers(-128, 128, shape))
    np.save(tmp_path / "sample.npy", rng.integers(-128, 128, (3, 6, 6)))
    return SimulationSettings(weights=tmp_path / "weights.npy", sample=tmp_path / "sample.npy")


def test_outputs_are_logged_and_compared(tmp_path: Path, settings: SimulationSettings) -> None:
    log = tmp_path / "log"
    report = simulate(tmp_path / "net.yaml", replace(settings, log_folder=log, power=(0.02, 0.001)))
    assert report.trace is not None
    assert report.as_json()["outputs"] == {"1": report.trace.result.tolist()}
    assert report.as_json()["estimate"]["joules"] > 0
    assert sorted(report.written) == sorted(str(path) for path in log.iterdir())
    assert len(report.written) == 3
    again = simulate(tmp_path / "net.yaml", replace(settings, against=log))
    assert again.comparison is not None
    assert again.comparison.same
    with pytest.raises(ValidationError, match=r"layer 0, channel \d, row \d, column \d.*\n.*--avg-pool-rounding"):
        simulate(tmp_path / "net.yaml", replace(settings, against=log, average_rounds=True))


def test_accuracy_over_labelled_samples(tmp_path: Path, settings: SimulationSettings) -> None:
    samples = np.random.default_rng(6).integers(-128, 128, (12, 3, 6, 6))
    answers = []
    for sample in samples:
        np.save(tmp_path / "one.npy", sample)
        trace = simulate(tmp_path / "net.yaml", replace(settings, sample=tmp_path / "one.npy")).trace
        assert trace is not None
        answers.append(int(trace.result.argmax()))
    labels = np.array(answers)
    labels[:3] = (labels[:3] + 1) % 5
    np.savez(tmp_path / "data.npz", samples=samples, labels=labels)
    report = simulate(tmp_path / "net.yaml", replace(settings, data=tmp_path / "data.npz"))
    assert report.accuracy is not None
    assert report.accuracy.wrong == (0, 1, 2)
    assert report.as_json()["accuracy"]["share"] == 0.75


def test_what_is_refused(tmp_path: Path, settings: SimulationSettings) -> None:
    with pytest.raises(ConfigError, match="no device 'max1'"):
        simulate(tmp_path / "net.yaml", replace(settings, device="max1"))
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 not a zip")
    np.savez(tmp_path / "other.npz", pictures=np.zeros(3))
    np.savez(tmp_path / "floats.npz", samples=np.zeros((2, 3, 6, 6)), labels=np.zeros(2, int))
    for name in ("nowhere", "broken", "other", "floats"):
        with pytest.raises(RunError, match=f"{name}.npz"):
            simulate(tmp_path / "net.yaml", replace(settings, data=tmp_path / f"{name}.npz"))
