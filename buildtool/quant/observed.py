"""The estimators of all tensors of a model: one state that can be kept, taken up again, and merged."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from buildtool import archives
from buildtool.ir.operator import Array
from buildtool.quant.estimators import ESTIMATORS, WHOLE, Estimator, Settings


@dataclass
class Observed:
    """What was seen so far."""

    kind: str  # one of ESTIMATORS
    settings: Settings
    whole: frozenset[str] = frozenset()  # tensors of which nothing is cut off, whatever the kind
    tensors: dict[str, Estimator] = field(default_factory=dict)

    def update(self, name: str, array: Array) -> None:
        """See a tensor of one more sample. ValueError where it holds numbers that are not finite."""
        # What estimators do with a number that is none would be found out much later.
        if array.size and not (np.isfinite(array.min()) and np.isfinite(array.max())):
            raise ValueError("it contains NaN or infinity")
        self._of(name).update(array)

    def merge(self, other: Observed) -> None:
        """Have seen what the other saw, whose samples come behind these."""
        for name, estimator in other.tensors.items():
            self._of(name).merge(estimator)

    def ranges(self) -> dict[str, tuple[float, float]]:
        """By the names of the tensors, in the order in which they were seen first."""
        return {name: estimator.range() for name, estimator in self.tensors.items()}

    def saved(self) -> bytes:
        """All of it as the contents of an .npz file."""
        arrays: dict[str, Array] = {"names": np.array(list(self.tensors), np.str_)}
        for index, estimator in enumerate(self.tensors.values()):
            arrays.update({f"{index}/{key}": array for key, array in estimator.state().items()})
        stream = io.BytesIO()
        np.savez_compressed(stream, allow_pickle=False, **arrays)
        return stream.getvalue()

    def load(self, contents: bytes) -> None:
        """What `saved` gave, instead of what was seen. Any exception of NumPy's where it is damaged."""
        archives.verify_file(io.BytesIO(contents))
        with np.load(io.BytesIO(contents), allow_pickle=False) as stored:
            names = [str(name) for name in stored["names"]]
            states: list[dict[str, Array]] = [{} for _ in names]
            for entry in _below(stored.files):
                index, _, key = entry.partition("/")
                states[int(index)][key] = stored[entry]
        self.tensors = {}
        for name, state in zip(names, states, strict=True):
            self._of(name).restore(state)

    def _of(self, name: str) -> Estimator:
        if name not in self.tensors:
            kind = WHOLE if name in self.whole else self.kind
            self.tensors[name] = ESTIMATORS[kind](self.settings)
        return self.tensors[name]


def _below(entries: Iterable[str]) -> Iterable[str]:
    return (entry for entry in entries if "/" in entry)
