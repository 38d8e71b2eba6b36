"""Every handler against LiteRT, before and after all passes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import LatheError, UnsupportedError
from buildtool.importers.tflite import supported_operators
from tests.importers.same_graphs import differences
from tests.importers.tflite.cases import CASES
from tests.importers.tflite.detection_cases import DETECTION
from tests.importers.tflite.harness import Case, check, imported, ints
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


@pytest.mark.parametrize("op", sorted({case.op for case in CASES if case.options}))
def test_options_that_a_file_leaves_out_have_their_defaults(op: str, tmp_path: Path) -> None:
    """As LiteRT reads it. An error is no silence: some options have to be there."""
    case = replace(next(case for case in CASES if case.op == op and case.options), values={})
    try:
        without = imported(replace(case, options="").file(), tmp_path).graph
    except LatheError:
        return
    assert differences(imported(case.file(), tmp_path).graph, without, 0.0) == []


def test_a_border_that_no_single_float_holds_is_refused(tmp_path: Path) -> None:
    border = np.array([2**24 + 1], np.int32)
    case = Case(
        "PADV2", (np.ones((2, 3), np.int32), ints(1, 0, 0, 2).reshape(2, 2), border), "PadV2Options", {}, (1, 2)
    )
    with pytest.raises(UnsupportedError, match="a border of 16777217"):
        imported(case.file(), tmp_path)
    border -= 1
    imported(case.file(), tmp_path)


def test_every_operator_has_a_case() -> None:
    tested = {case.op for case in (*CASES, *DETECTION, *SIGNALS, *QUANTISED)} | _ELSEWHERE
    assert sorted(set(supported_operators()) - tested) == []
