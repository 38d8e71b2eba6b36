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
_RULE = "`samples`: integers from -128 to 127, of [number, channels, rows, columns]; `labels`: integers from 0 on"


@dataclass(frozen=True)
class Data:
    """Samples [number, channels, ...] and labels, for training and held out."""

    name: str
    samples: NDArray[np.int64]
    labels: NDArray[np.int64]
    test_samples: NDArray[np.int64]
    test_labels: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(side) for side in self.samples.shape[1:])

    def for_search(self) -> Data:
        """The samples for training alone, a part of which is held out instead: a search sees no others."""
        return _split(self.name, self.samples, self.labels)

    @property
    def classes(self) -> int:
        return int(max(self.labels.max(), self.test_labels.max())) + 1


def read(word: str) -> Data:
    """`digits`, the pictures of scikit-learn; or an .npz with `samples` and `labels`."""
    if word == DIGITS:
        return _split(word, *_digits())
    file = Path(word)
    if not file.is_file():
        raise ConfigError(f"there are no samples '{word}'", rule=f"{DIGITS}, or an .npz with {_RULE}")
    where = Where(file=word)
    try:
        archives.verify_file(file)
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            samples, labels = arrays["samples"], arrays["labels"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise RunError(f"cannot read the samples: {error}", where=where, rule=_RULE) from None
    wrong = _wrong(samples, labels)
    if wrong:
        raise RunError(wrong, where=where, rule=_RULE)
    return _split(file.stem, samples.astype(np.int64), labels.astype(np.int64))


def _wrong(samples: NDArray[Any], labels: NDArray[Any]) -> str:
    if samples.dtype.kind not in "iu" or labels.dtype.kind not in "iu":
        return f"samples of {samples.dtype}, labels of {labels.dtype}"
    if samples.ndim not in (3, 4) or labels.ndim != 1 or len(samples) != len(labels):
        return f"samples of {samples.shape}, labels of {labels.shape}"
    if len(samples) < 2 * _TEST_SHARE:
        return f"there are {len(samples)} samples"
    if samples.min() < -128 or samples.max() > 127:
        return f"the samples are from {samples.min()} to {samples.max()}"
    return f"a label is {labels.min()}" if labels.min() < 0 else ""


def _split(name: str, samples: NDArray[np.int64], labels: NDArray[np.int64]) -> Data:
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
