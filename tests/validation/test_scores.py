"""Figures of accuracy against those of scikit-learn, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, jaccard_score, top_k_accuracy_score

from buildtool.validation.scores import (
    confusion,
    detections,
    in_top,
    mean_average_precision,
    mean_iou,
    overlap,
    part,
)

RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_top_k(k: int) -> None:
    scores, labels = RANDOM.normal(size=(200, 10)), RANDOM.integers(0, 10, 200)
    labels[:10] = range(10)
    hits = [in_top(row, int(label), k) for row, label in zip(scores, labels, strict=True)]
    assert part(hits) == pytest.approx(top_k_accuracy_score(labels, scores, k=k))


def test_of_equal_scores_the_first_counts_more() -> None:
    assert in_top([1, 1, 1], 0)
    assert not in_top([1, 1, 1], 2, 2)


def test_overlap() -> None:
    assert overlap([0, 0, 2, 2], [[0, 0, 2, 2], [1, 1, 3, 3], [2, 2, 3, 3]]).tolist() == [1, pytest.approx(1 / 7), 0]
    assert overlap([0, 0, 0, 0], [[0, 0, 0, 0]]).tolist() == [0]


def test_mean_iou_is_the_mean_of_jaccard_scores() -> None:
    true, found = RANDOM.integers(0, 4, (5, 16, 16)), RANDOM.integers(0, 4, (5, 16, 16))
    kept = [confusion(left, right, 4) for left, right in zip(found, true, strict=True)]
    expected = jaccard_score(true.ravel(), found.ravel(), average="macro")
    assert mean_iou(kept) == pytest.approx(expected)
    true[true == 3] = 255
    kept = [confusion(left, right, 4) for left, right in zip(found, true, strict=True)]
    assert np.sum(kept) == (true != 255).sum()


def test_average_precision_by_hand() -> None:
    """Three true boxes; found: right, wrong, right, and the same one twice: precision 1, 1, 2/3 at recalls 1/3, 2/3."""
    true = [[0, 0, 0, 10, 10], [0, 20, 20, 30, 30], [0, 50, 50, 60, 60]]
    found = [
        [0, 0.9, 0, 0, 10, 10],
        [0, 0.8, 80, 80, 90, 90],
        [0, 0.7, 20, 20, 30, 31],
        [0, 0.6, 0, 0, 10, 10],
    ]
    picture = detections(found, true)
    # 34 of the 101 recalls lie up to 1/3, 33 more up to 2/3.
    expected = (34 * 1 + 33 * 2 / 3) / 101
    assert mean_average_precision([picture], (0.5,)) == pytest.approx(expected)
    assert mean_average_precision([picture], (0.95,)) == pytest.approx(34 / 101)
    assert mean_average_precision([detections([], [])]) == 0.0


def test_average_precision_is_that_of_a_ranking_where_boxes_are_exact() -> None:
    """One box in each picture that is there, or elsewhere: then it is how well scores rank, read at 101 recalls."""
    scores, there = RANDOM.uniform(size=400), RANDOM.integers(0, 2, 400)
    pictures = [
        detections([[1, score, *((0, 0, 1, 1) if hit else (5, 5, 6, 6))]], [[1, 0, 0, 1, 1]] if hit else [])
        for score, hit in zip(scores, there, strict=True)
    ]
    assert mean_average_precision(pictures) == pytest.approx(average_precision_score(there, scores), abs=0.03)
