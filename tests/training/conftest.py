"""Tests that need torch, which is a gigabyte, run by `make test-train`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "examples" / "chips" / "samples.py"

collect_ignore = [] if importlib.util.find_spec("torch") else ["with_torch"]


@pytest.fixture(scope="module")
def samples() -> ModuleType:
    """What makes the samples of examples/chips."""
    specification = importlib.util.spec_from_file_location("chips_samples", SAMPLES)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
