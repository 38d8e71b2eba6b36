"""Zip archives that would be unpacked to far more than their size are refused before they are."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from buildtool import archives
from buildtool.errors import ModelFileError, RunError, Where
from buildtool.importers.keras.archive import Archive
from buildtool.quant import weight_files
from buildtool.workflow import simulating


def bomb(*names: str, size: int = 96 << 20) -> bytes:
    """An archive of members that are all zeros: a thousandth of their size."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, bytes(size))
    return stream.getvalue()


@pytest.fixture(scope="module")
def packed() -> bytes:
    return bomb("model.weights.h5")


def test_a_bomb_is_refused_and_named(packed: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive, pytest.raises(archives.InflatedError) as caught:
        archives.verify(archive, len(packed))
    assert "100,663,296 bytes (the largest is 'model.weights.h5')" in str(caught.value)


def test_a_keras_archive_that_is_a_bomb(packed: bytes) -> None:
    with pytest.raises(ModelFileError, match="the archive is not unpacked: its members unpack to 100,663,296 bytes"):
        Archive(io.BytesIO(packed), Where("x.keras"))


def test_arrays_that_are_a_bomb(tmp_path: Path, packed: bytes) -> None:
    file = tmp_path / "x.npz"
    file.write_bytes(packed)
    with pytest.raises(ModelFileError, match="bytes"):
        weight_files.read(file)
    with pytest.raises(RunError, match="bytes"):
        simulating._read(file)


def test_arrays_that_pack_well_pass(tmp_path: Path) -> None:
    file = tmp_path / "x.npz"
    np.savez_compressed(file, zeros=np.zeros(2**22, np.float32))
    archives.verify_file(file)
    plain = tmp_path / "x.npy"
    np.save(plain, np.zeros(4))
    archives.verify_file(plain)
