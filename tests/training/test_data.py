"""Samples for training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import LatheError
from buildtool.training import data


def test_digits_are_bytes_and_split() -> None:
    found = data.read("digits")
    assert (found.shape, found.classes) == ((1, 8, 8), 10)
    assert (len(found.labels), len(found.test_labels)) == (1437, 360)
    assert (found.samples.min(), found.samples.max()) == (-128, 127)


def saved(folder: Path, **arrays: Any) -> str:
    np.savez(folder / "mine.npz", **arrays)
    return str(folder / "mine.npz")


def test_samples_of_a_file_are_all_used_once(tmp_path: Path) -> None:
    samples = np.arange(20).reshape(20, 1, 1, 1)
    found = data.read(saved(tmp_path, samples=samples, labels=np.arange(20) % 3))
    both = np.concatenate((found.samples, found.test_samples)).reshape(-1)
    assert sorted(both) == list(range(20))
    labels = np.concatenate((found.labels, found.test_labels))
    assert np.array_equal(labels, both % 3)
    assert found.classes == 3


ZEROS = np.zeros((20, 1, 4, 4), np.int8)
LABELS = np.zeros(20, np.int64)
BOXES = np.tile(np.array([[1, 0.1, 0.2, 0.5, 0.6], [-1] * 5], np.float32), (20, 1, 1))
MISTAKES: dict[str, dict[str, Any]] = {
    "samples of float64": {"samples": ZEROS.astype(float), "labels": LABELS},
    "labels of (3,)": {"samples": ZEROS, "labels": LABELS[:3]},
    "samples of (20, 16)": {"samples": ZEROS.reshape(20, 16), "labels": LABELS},
    "from 0 to 200": {"samples": np.maximum(ZEROS.astype(int), np.arange(20).reshape(-1, 1, 1, 1) // 19 * 200),
                      "labels": LABELS},
    "a label is -1": {"samples": ZEROS, "labels": LABELS - 1},
    "there are 5 samples": {"samples": ZEROS[:5], "labels": LABELS[:5]},
    "cannot read the samples": {"pictures": ZEROS},
    "20 samples, boxes of float32 (19, 2, 5)": {"samples": ZEROS, "boxes": BOXES[:19]},
    "20 samples, boxes of int64 (20, 2, 5)": {"samples": ZEROS, "boxes": BOXES.astype(int)},
    "there is no box": {"samples": ZEROS, "boxes": -np.ones_like(BOXES)},
    "a box has a label that is no integer": {"samples": ZEROS, "boxes": BOXES + 0.1},
    "edges that are not in order": {"samples": ZEROS, "boxes": BOXES[..., [0, 3, 2, 1, 4]]},
    "labels of (20, 4, 3)": {"samples": ZEROS, "labels": np.zeros((20, 4, 3), np.int64)},
}  # fmt: skip


@pytest.mark.parametrize("told", MISTAKES)
def test_mistakes_are_named(told: str, tmp_path: Path) -> None:
    with pytest.raises(LatheError, match=told.replace("(", r"\(").replace(")", r"\)")):
        data.read(saved(tmp_path, **MISTAKES[told]))


def test_boxes_are_read_and_split(tmp_path: Path) -> None:
    found = data.read(saved(tmp_path, samples=ZEROS, boxes=BOXES))
    assert found.has_boxes
    assert (found.classes, found.labels.shape, found.test_labels.shape) == (2, (16, 2, 5), (4, 2, 5))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(LatheError, match="there are no samples 'digit'"):
        data.read("digit")


def test_labels_of_pixels_and_of_what_is_rebuilt(tmp_path: Path) -> None:
    masks = np.tile(np.arange(4), (20, 4, 1))
    found = data.read(saved(tmp_path, samples=ZEROS, labels=masks))
    assert (found.has_masks, found.has_boxes, found.classes) == (True, False, 4)
    assert not data.read(saved(tmp_path, samples=ZEROS, boxes=BOXES)).has_masks
    samples = np.arange(40).reshape(40, 1, 1, 1)
    whole = data.read(saved(tmp_path, samples=samples, labels=np.arange(40) % 4 // 2))
    found = whole.of_the_first_label()
    assert not found.labels.any()
    assert np.array_equal(found.test_samples, whole.test_samples)
    assert sorted(found.samples.reshape(-1)) == sorted(whole.samples[whole.labels == 0].reshape(-1))
    with pytest.raises(LatheError, match="the samples are of one kind"):
        data.read(saved(tmp_path, samples=ZEROS, labels=LABELS)).of_the_first_label()
