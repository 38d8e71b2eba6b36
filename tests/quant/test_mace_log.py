"""Logs of `run --quantize_stat`, and what becomes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ModelFileError
from buildtool.quant import mace_log


def _log(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "range_log"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_lines_among_others_are_read(tmp_path: Path) -> None:
    path = _log(
        tmp_path,
        "I mace_run.cc:412] model name: net",
        "I net.cc:178] Tensor range @@input@@-1,0.992157",
        "I net.cc:178] Tensor range @@conv/Relu6:0@@0,5.5",
        mace_log.line("input", -0.25, 1e-7 / 3),
        mace_log.line("conv/Relu6:0", 0, 6),
    )
    log = mace_log.read(path)
    assert log == {"input": ([-1, -0.25], [0.992157, 3.33333e-08]), "conv/Relu6:0": ([0, 0], [5.5, 6])}
    assert mace_log.samples(log) == 2
    assert mace_log.ranges(log, 0, enhance=False, ratio=10) == {"input": (-1, 0.992157), "conv/Relu6:0": (0, 6)}


def test_percentiles_are_of_the_ends_of_the_samples() -> None:
    lows, highs = [-1.0, -2.0, -3.0, -4.0, -5.0], [5.0, 4.0, 3.0, 2.0, 1.0]
    (ends,) = mace_log.ranges({"x": (lows, highs)}, 25, enhance=False, ratio=10).values()
    assert ends == (-4.0, 4.0)


def test_enhancement_gives_rare_extremes_up() -> None:
    lows, highs = [0.0] * 200, [*np.linspace(5, 6, 198), 700.0, 90.0]
    log = {"x": (lows, highs)}
    assert mace_log.ranges(log, 0, enhance=True, ratio=10)["x"] == (0.0, 6.0)
    assert mace_log.ranges(log, 0, enhance=True, ratio=1e6)["x"] == (0.0, 700.0)
    narrow = {"x": ([0.0] * 3, [0.01, 0.02, 0.09])}  # too narrow to be made narrower
    assert mace_log.ranges(narrow, 0, enhance=True, ratio=1)["x"] == (0.0, 0.09)
    zeros = {"x": ([0.0] * 3, [0.0] * 3)}
    assert mace_log.ranges(zeros, 0, enhance=True, ratio=1)["x"] == (0.0, 0.0)


def test_errors_in_a_log_name_the_line(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        mace_log.read(
            _log(
                tmp_path,
                "Tensor range @@a@@0,1",
                "Tensor range @@a@@0",
                "Tensor range @@a@@nan,1",
                "x",
                "Tensor range @@b@@2,1",
            )
        )
    assert [problem.where.line for problem in caught.value.problems] == [2, 3, 5]
    with pytest.raises(ModelFileError, match="this log contains no ranges"):
        mace_log.read(_log(tmp_path, "nothing"))
    with pytest.raises(ModelFileError, match="cannot be read"):
        mace_log.read(tmp_path / "missing")
