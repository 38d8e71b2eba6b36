"""Samples to train on: integers from -128 to 127, as the chips take them, and a label for each."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool import archives
from buildtool.errors import ConfigError, RunError, Where

DIGITS = "digits"
_TEST_SHARE = 5  # every so many-th sample is held out
_RULE = (
    "`samples`: integers from -128 to 127, of [number, channels, rows, columns]; `labels`: integers from 0 on; or "
    "`boxes`: of each sample rows of label, left, top, right, bottom, as shares of the picture; label -1: none; labels "
    "of pixels: [number, rows, columns]"
)
_BOX, _BOX_RANK, _MASK_RANK = 5, 3, 3
_HELD_CLASSES = 3  # of ten


@dataclass(frozen=True)
class Data:
    """Samples [number, channels, ...] and labels, for training and held out. Instead of a label a sample may have rows
    of boxes: label, left, top, right, bottom; or a label for each pixel.
    """

    name: str
    samples: NDArray[np.int64]
    labels: NDArray[Any]
    test_samples: NDArray[np.int64]
    test_labels: NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(side) for side in self.samples.shape[1:])

    def for_search(self) -> Data:
        """The samples for training alone, a part of which is held out instead: a search sees no others."""
        return _split(self.name, self.samples, self.labels)

    def by_classes(self) -> Data:
        """Whole classes held out, the last ones: what training did not see."""
        samples = np.concatenate([self.samples, self.test_samples])
        labels = np.concatenate([self.labels, self.test_labels])
        known = np.unique(labels)
        held = np.isin(labels, known[-max(len(known) * _HELD_CLASSES // 10, 2) :])
        if held.all():
            raise ConfigError(f"the samples have {len(known)} classes", rule="embeddings are learned of 4 or more")
        return Data(self.name, samples[~held], labels[~held], samples[held], labels[held])

    def of_the_first_label(self) -> Data:
        """Label 0 alone in training; the samples that are held out stay as they are."""
        usual = self.labels == 0
        if not usual.any() or not (self.test_labels == 0).any() or not self.test_labels.any():
            raise ConfigError("the samples are of one kind", rule="the task rebuild has label 0 and others: anomalies")
        return Data(self.name, self.samples[usual], self.labels[usual], self.test_samples, self.test_labels)

    @property
    def has_boxes(self) -> bool:
        return self.labels.ndim == _BOX_RANK and self.labels.dtype.kind == "f"

    @property
    def has_masks(self) -> bool:
        """A label for each pixel."""
        return self.labels.ndim == _MASK_RANK and not self.has_boxes

    @property
    def classes(self) -> int:
        first = [labels[..., 0] if self.has_boxes else labels for labels in (self.labels, self.test_labels)]
        return int(max(one.max() for one in first)) + 1


def read(word: str) -> Data:
    """`digits`, the pictures of scikit-learn; or an .npz with `samples` and `labels`, or `boxes`."""
    if word == DIGITS:
        return _split(word, *_digits())
    file = Path(word)
    if not file.is_file():
        raise ConfigError(f"there are no samples '{word}'", rule=f"{DIGITS}, or an .npz with {_RULE}")
    where = Where(file=word)
    try:
        archives.verify_file(file)
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            boxed = "boxes" in arrays
            samples, labels = arrays["samples"], arrays["boxes" if boxed else "labels"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise RunError(f"cannot read the samples: {error}", where=where, rule=_RULE) from None
    wrong = _wrong(samples, labels, boxed=boxed)
    if wrong:
        raise RunError(wrong, where=where, rule=_RULE)
    kind = np.float32 if boxed else np.int64
    return _split(file.stem, samples.astype(np.int64), labels.astype(kind))


def _wrong(samples: NDArray[Any], labels: NDArray[Any], *, boxed: bool) -> str:
    if boxed:
        wrong = _wrong_boxes(labels, len(samples))
        if wrong:
            return wrong
        labels = np.zeros(len(samples), np.int64)
    if samples.dtype.kind not in "iu" or labels.dtype.kind not in "iu":
        return f"samples of {samples.dtype}, labels of {labels.dtype}"
    of_pixels = labels.ndim == _MASK_RANK and labels.shape[1:] == samples.shape[2:]
    if samples.ndim not in (3, 4) or not (labels.ndim == 1 or of_pixels) or len(samples) != len(labels):
        return f"samples of {samples.shape}, labels of {labels.shape}"
    if len(samples) < 2 * _TEST_SHARE:
        return f"there are {len(samples)} samples"
    if samples.min() < -128 or samples.max() > 127:
        return f"the samples are from {samples.min()} to {samples.max()}"
    return f"a label is {labels.min()}" if labels.min() < 0 else ""


def _wrong_boxes(boxes: NDArray[Any], count: int) -> str:
    if boxes.dtype.kind != "f" or boxes.ndim != _BOX_RANK or boxes.shape[2] != _BOX or len(boxes) != count:
        return f"{count} samples, boxes of {boxes.dtype} {boxes.shape}"
    there = boxes[boxes[..., 0] >= 0]
    if not len(there):
        return "there is no box"
    label, low, high = there[:, 0], there[:, 1:3], there[:, 3:]
    if not np.array_equal(label, np.floor(label)) or not ((low >= 0) & (low < high) & (high <= 1)).all():
        return "a box has a label that is no integer, or edges that are not in order from 0 to 1"
    return ""


def _split(name: str, samples: NDArray[np.int64], labels: NDArray[Any]) -> Data:
    """Every fifth sample of a shuffled order is held out."""
    order = np.random.default_rng(0).permutation(len(labels))
    samples, labels = samples[order], labels[order]
    held = np.arange(len(labels)) % _TEST_SHARE == 0
    return Data(name, samples[~held], labels[~held], samples[held], labels[held])


def _digits() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError:
        what = f"'{DIGITS}' are pictures of scikit-learn, which is not installed"
        raise ConfigError(what, remedy="pip install scikit-learn") from None
    digits = load_digits()
    pictures = np.minimum(digits.images[:, None] * 16, 255).astype(np.int64) - 128
    return pictures, digits.target.astype(np.int64)
