"""The harness itself: obstacles to running cases are reported, and do not make it wait."""

from __future__ import annotations

import os
from pathlib import Path

import onnx
import pytest

from buildtool.errors import RunError
from tests.conformance import __main__ as harness
from tests.conformance.cases import ConformanceCase

_CASES = [ConformanceCase("case", "node", onnx.ModelProto(), (), 0.0, 0.0)] * 20


def test_a_library_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    library = tmp_path / "libfull.so"
    library.write_bytes(b"this is no library")
    with pytest.raises(RunError, match=r"libfull\.so"):
        harness.run_all(_CASES, library, 2)


@pytest.mark.parametrize("dies_in", ["_open_library", "run_case"])
def test_a_process_that_dies_is_told(dies_in: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(harness, "Library", lambda path: None)
    monkeypatch.setattr(harness, dies_in, _die)
    with pytest.raises(RunError, match="died"):
        harness.run_all(_CASES, tmp_path / "libfull.so", 2)


def _die(*_: object) -> None:
    os._exit(3)
