"""Every handler against OpenCV, or NumPy where OpenCV has no such layer or not Caffe's, before and after all passes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from buildtool.importers.caffe import supported_operators
from buildtool.ir.operator import Array
from tests.importers.caffe.cases import Case
from tests.importers.caffe.harness import check
from tests.importers.caffe.more_cases import CASES

EXPECTED = Path(__file__).resolve().parents[2] / "oracles" / "caffe" / "expected"


@cache
def _by_opencv() -> dict[str, Array]:
    with np.load(EXPECTED / "layers.npz") as file:
        return dict(file)


def _expected(case: Case) -> list[Array]:
    if case.meaning is not None:
        return case.meant()
    return [_by_opencv()[f"{case.name}/{index}"] for index in range(len(case.outputs))]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_layer(case: Case, tmp_path: Path) -> None:
    check(case, _expected(case), tmp_path)


def test_every_layer_has_a_case() -> None:
    tested = "".join(case.layers for case in CASES)
    assert [kind for kind in supported_operators() if f'type: "{kind}"' not in tested] == ["Input"]


def test_expected_results_are_of_these_cases() -> None:
    assert {name.rpartition("/")[0] for name in _by_opencv()} == {case.name for case in CASES if case.meaning is None}
    assert len({case.name for case in CASES}) == len(CASES)
