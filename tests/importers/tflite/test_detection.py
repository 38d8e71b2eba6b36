"""The last operator of detectors, where LiteRT and the cases of test_handlers cannot be compared element by element."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ModelFileError
from tests.importers.tflite.detection_cases import FEWER_CLASSES, FEWER_THAN_ASKED, ROOM_FOR_TWICE_AS_MANY
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


def test_zeros_follow_what_the_slow_way_selects(tmp_path: Path) -> None:
    file, inputs = ROOM_FOR_TWICE_AS_MANY.file(), ROOM_FOR_TWICE_AS_MANY.fed()
    found, wanted = run(imported(file, tmp_path).graph, inputs), litert(file, inputs)
    assert found[3] == wanted[3] == 6
    for result, expected in zip(found[:3], wanted, strict=False):
        np.testing.assert_allclose(result[:, :6], expected[:, :6], rtol=1e-5, atol=1e-5)
        assert result.shape[1] == 12
        assert not result[:, 6:].any()


def test_zeros_follow_the_last_class_of_a_box(tmp_path: Path) -> None:
    file, inputs = FEWER_CLASSES.file(), FEWER_CLASSES.fed()
    for result, wanted in zip(run(imported(file, tmp_path).graph, inputs)[:3], litert(file, inputs), strict=False):
        apart, expected = (array.reshape(3, 5, -1) for array in (result, wanted))
        np.testing.assert_allclose(apart[:, :3], expected[:, :3], rtol=1e-5, atol=1e-5)
        assert not apart[:, 3:].any()


def test_options_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    options = FEWER_THAN_ASKED.custom
    for size in range(0, len(options), 7):
        damaged = dataclasses.replace(FEWER_THAN_ASKED, custom=options[size:] if size % 2 else options[:size])
        with pytest.raises(ModelFileError, match=r"option|scale|classes"):
            imported(damaged.file(), tmp_path)
