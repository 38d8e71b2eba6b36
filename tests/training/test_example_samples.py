"""The samples of examples/chips: bytes, equal in every run, with all classes."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest


def test_objects_have_boxes(samples: ModuleType) -> None:
    pictures, boxes = samples.objects(60)
    assert pictures.shape == (60, 3, 48, 48)
    there = boxes[boxes[..., 0] >= 0]
    assert set(there[:, 0]) == {0, 1, 2, 3}
    assert ((there[:, 1:3] >= 0) & (there[:, 1:3] < there[:, 3:]) & (there[:, 3:] <= 1)).all()
    sides = (there[:, 3:] - there[:, 1:3]) * 48
    assert 7 <= sides.min() <= sides.max() <= 19
    assert ((boxes[..., 0] >= 0).sum(1) >= 1).all()
    assert np.array_equal(samples.objects(60)[1], boxes)


@pytest.mark.parametrize(("task", "shape", "classes"), [("words", (24, 60), 5), ("scenes", (3, 16, 16), 8)])
def test_samples(samples: ModuleType, task: str, shape: tuple[int, ...], classes: int) -> None:
    pictures, labels = samples.TASKS[task](60)
    again, same = samples.TASKS[task](60)
    assert pictures.shape == (60, *shape)
    assert pictures.dtype == np.int8
    assert pictures.min() < -64
    assert pictures.max() > 64
    assert set(labels) == set(range(classes))
    assert np.array_equal(pictures, again)
    assert np.array_equal(labels, same)


def test_pixels_and_signals(samples: ModuleType) -> None:
    pictures, labels = samples.segments(40)
    assert pictures.shape == (40, 3, 32, 32)
    assert labels.shape == (40, 32, 32)
    assert set(np.unique(labels)) == {0, 1, 2, 3, 4}
    signals, kinds = samples.vibrations(200)
    assert signals.shape == (200, 3, 64)
    assert set(kinds) == {0, 1, 2, 3, 4}
    assert 100 < (kinds == 0).sum() < 160
    assert np.array_equal(samples.vibrations(200)[0], signals)


def test_faces_and_textures(samples: ModuleType) -> None:
    """What is of one person is more alike than what is of two, and not equal."""
    pictures, people = samples.faces(6, 8)
    assert (pictures.shape, list(np.unique(people))) == ((48, 3, 32, 32), list(range(6)))
    middles = pictures[:, :, 10:24, 12:20].reshape(48, -1).astype(float)
    far = np.abs(middles[:, None] - middles[None]).mean(2)
    same = people[:, None] == people
    assert 5 < far[same & ~np.eye(48, dtype=bool)].mean() < 0.8 * far[~same].mean()
    surfaces, kinds = samples.textures(40)
    assert (surfaces.shape, surfaces.dtype) == ((40, 3, 32, 32), np.int8)
    assert set(kinds) <= set(range(10))
