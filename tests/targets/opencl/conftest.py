"""A place for programs that drivers build, shared by the tests of a run: each is built once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def program_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For DeviceOptions.storage_path. What PoCL keeps for itself goes beside it, not into the user's folder."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # the workers of a run have a folder in common
        shared = shared.parent
    folder = shared / "opencl"
    (folder / "pocl").mkdir(parents=True, exist_ok=True)
    os.environ["POCL_CACHE_DIR"] = str(folder / "pocl")
    return folder
