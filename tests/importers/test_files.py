"""Files of models that are refused before they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from buildtool.errors import ModelFileError, Where
from buildtool.importers.files import read_bytes


def test_a_file_of_holes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"\x08\x07")
    os.truncate(file, 2**30)
    with pytest.raises(ModelFileError, match="1,073,741,824 bytes, nearly all of which are holes"):
        read_bytes(file, Where(str(file)), "", "export it again")


def test_a_file_that_was_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(bytes(2**26 + 1))
    assert len(read_bytes(file, Where(str(file)), "", "")) == 2**26 + 1
