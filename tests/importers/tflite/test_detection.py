"""The last operator of detectors, where LiteRT and the cases of test_handlers cannot be compared element by element."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ModelFileError, UnsupportedError
from tests.importers.tflite.detection_cases import FEWER_THAN_ASKED, SEVERAL_CLASSES
from tests.importers.tflite.harness import imported, litert, run


def test_zeros_follow_the_last_object(tmp_path: Path) -> None:
    file, inputs = FEWER_THAN_ASKED.file(), FEWER_THAN_ASKED.fed()
    *expected, count = litert(file, inputs)
    *results, found = run(imported(file, tmp_path).graph, inputs)
    assert found == count
    some = int(count[0])
    assert 0 < some < 60
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result[:, :some], wanted[:, :some], rtol=1e-5, atol=1e-5)
        assert not result[:, some:].any()


def test_several_classes_of_a_box_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="2 classes for a box"):
        imported(SEVERAL_CLASSES.file(), tmp_path)


def test_options_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    options = FEWER_THAN_ASKED.custom
    for size in range(0, len(options), 7):
        damaged = dataclasses.replace(FEWER_THAN_ASKED, custom=options[size:] if size % 2 else options[:size])
        with pytest.raises(ModelFileError, match=r"option|scale|classes"):
            imported(damaged.file(), tmp_path)
