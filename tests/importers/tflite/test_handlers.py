"""Every handler against LiteRT, before and after all passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.importers.tflite import supported_operators
from tests.importers.tflite.cases import CASES
from tests.importers.tflite.detection_cases import DETECTION
from tests.importers.tflite.harness import Case, check
from tests.importers.tflite.quantised_cases import QUANTISED
from tests.importers.tflite.signal_cases import SIGNALS

#: These are tested with graphs of their own, in the other files of this folder.
_ELSEWHERE = {"COMPLEX_ABS", "DENSIFY", "IF", "IMAG", "REAL", "RFFT2D", "WHILE"}


@pytest.mark.parametrize("case", [*CASES, *DETECTION, *SIGNALS], ids=str)
def test_floats_and_integers(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.parametrize("case", QUANTISED, ids=str)
def test_quantised(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_every_operator_has_a_case() -> None:
    tested = {case.op for case in (*CASES, *DETECTION, *SIGNALS, *QUANTISED)} | _ELSEWHERE
    assert sorted(set(supported_operators()) - tested) == []
