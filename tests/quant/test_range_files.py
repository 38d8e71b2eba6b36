"""Range files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ModelFileError
from buildtool.quant import range_files


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "overall_range"
    path.write_text(text)
    return path


def test_a_file_of_mace_is_read(tmp_path: Path) -> None:
    path = _file(tmp_path, "input@@-1.000000,1.000000\nconv/Relu6:0@@0.000000,5.982171\n\nodd@@name,x@@-3e-2,4\n")
    assert range_files.read(path) == {
        "input": (-1.0, 1.0),
        "conv/Relu6:0": (0.0, 5.982171),
        "odd@@name,x": (-0.03, 4.0),
    }


def test_a_written_range_file_reads_back_equal(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    ends = np.sort(random.normal(size=(50, 2)) * 10.0 ** random.integers(-30, 30, (50, 1)), axis=1).astype(np.float32)
    ranges = {f"t{index}:0": (float(low), float(high)) for index, (low, high) in enumerate(ends)}
    least = float(np.finfo(np.float32).min)  # masks of attention hold it
    ranges |= {"mask": (least, 0.0), "mask of one number": (least, least)}
    text = range_files.text(ranges)
    read = range_files.read(_file(tmp_path, text))
    assert list(read) == list(ranges)
    assert all(np.float32(read[name]) == pytest.approx(np.float32(ranges[name]), rel=0, abs=0) for name in ranges)  # type: ignore[arg-type]
    assert range_files.text(read) == text


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    lines = [
        "a@@0,1",
        "b",
        "c@@1",
        "d@@1,2,3",
        "@@0,1",
        "e@@x,1",
        "f@@2,1",
        "g@@nan,1",
        "h@@0,inf",
        "a@@0,2",
        "i@@-1,1e39",
    ]
    path = _file(tmp_path, "\n".join(lines))
    with pytest.raises(ModelFileError) as caught:
        range_files.read(path)
    assert [problem.where.line for problem in caught.value.problems] == list(range(2, 12))
    assert all(problem.where.file == str(path) for problem in caught.value.problems)
    text = caught.value.render()
    assert "'f'" in text and "not 2 to 1" in text and "in line 1" in text


def test_a_file_that_is_missing_empty_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        range_files.read(tmp_path / "missing")
    with pytest.raises(ModelFileError, match="is empty"):
        range_files.read(_file(tmp_path, "\n \n"))
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ModelFileError, match="it is not text"):
        range_files.read(binary)
