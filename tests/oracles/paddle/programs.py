"""Programs of single operators, as Paddle 2 writes them: built by hand, so that every slot and attribute is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Tensors = Array | Sequence[Array]


@dataclass(frozen=True)
class Case:
    """One operator. `inputs` has arrays by slot, lists of arrays for slots that take several.

    Slots in `weights` are parameters, all others are fed. `outputs` are the slots that are fetched.
    """

    op: str
    inputs: Mapping[str, Tensors]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    weights: tuple[str, ...] = ()
    outputs: Mapping[str, int] = field(default_factory=lambda: {"Out": 1})  # how many tensors each slot has
    unread: tuple[str, ...] = ()  # output slots that have to be there, but are not fetched
    dtypes: Mapping[str, str] = field(default_factory=dict)  # of outputs that are not float32
    aliases: Mapping[str, str] = field(default_factory=dict)  # output slots that write the variables of input slots
    suffix: str = ""

    @property
    def name(self) -> str:
        return self.op + (f"-{self.suffix}" if self.suffix else "")

    def tensors(self) -> dict[str, list[Array]]:
        """All inputs as lists."""
        return {slot: [item] if isinstance(item, np.ndarray) else list(item) for slot, item in self.inputs.items()}


def random(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """Numbers with few digits, so that files are small."""
    values = np.random.default_rng((seed, *shape)).uniform(low, high, shape)
    return np.asarray(np.round(values, 2), np.float32)


def whole(*shape: int, low: int = 0, high: int = 9, seed: int = 0, dtype: str = "int64") -> Array:
    return np.random.default_rng((seed, *shape)).integers(low, high, shape).astype(dtype)


def ints(*values: int, dtype: str = "int32") -> Array:
    return np.array(values, dtype)
