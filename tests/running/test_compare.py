"""One comparison per output, and clear words where arrays cannot be compared."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.errors import RunError
from buildtool.running.compare import Variant, compare_outputs

VARIANT = Variant("digits", "host", "shared", "file", "local")


def test_one_comparison_per_output() -> None:
    right = {"a": np.ones(4), "b": np.array([1.0, 0.0])}
    left = {"a": np.ones((1, 4)), "b": np.array([0.0, 1.0])}
    first, second = compare_outputs(VARIANT, left, right, 0.999, "numpy")
    assert first.passed
    assert not second.passed
    document = first.as_json()
    assert {key: document[key] for key in ("abi", "kind", "format", "output", "cosine", "passed", "model")} == {
        "abi": "host",
        "kind": "shared",
        "format": "file",
        "output": "a",
        "cosine": 1.0,
        "passed": True,
        "model": "digits",
    }


def test_shapes_that_differ_fail_and_say_so() -> None:
    (found,) = compare_outputs(VARIANT, {"a": np.ones((2, 3))}, {"a": np.ones((3, 2))}, 0.9, "numpy")
    assert not found.passed
    assert found.as_json()["problem"] == "shape [2, 3] is not [3, 2]"


def test_a_missing_output_is_an_error() -> None:
    with pytest.raises(RunError, match="outputs b"):
        compare_outputs(VARIANT, {"a": np.ones(1)}, {"a": np.ones(1), "b": np.ones(1)}, 0.9, "numpy")
