"""ONNX's conformance cases: what has passed natively once keeps passing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from buildtool.runtime import Library
from tests.conformance import cases, exclusions, runner
from tests.native_builds import full_library

_ROOT = Path(__file__).resolve().parent.parent.parent
_EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text())


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(full_library())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the cases divide by zero on purpose
@pytest.mark.parametrize("suite", cases.SUITES)
def test_cases_that_passed_keep_passing(suite: str, library: Library) -> None:
    names = set(_EXPECTED[suite])
    chosen = [case for case in cases.load(suite) if case.name in names]
    assert len(chosen) > 0.9 * len(names), "the onnx package has other cases: run with --page again"
    outcomes = {case.name: exclusions.reason(case) or runner.run(case, library).native for case in chosen}
    assert {name: outcome for name, outcome in outcomes.items() if outcome != runner.PASSED} == {}
