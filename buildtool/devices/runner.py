"""What it means to run a model: what goes in, what comes out. `lathe_run.py` does it on a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Job:
    """One run of one model of a library."""

    program: Path  # lathe_run, for the ABI and kind of the library
    library: Path | None  # the shared library; None: it is linked into the program
    symbol: str  # the one function of the library
    model: str  # its name in the library
    model_file: Path | None  # None: inside the library
    data_file: Path | None
    inputs: Mapping[str, Array]
    outputs: Sequence[str]
    rounds: int = 1
    profile: bool = False  # whether as many runs are timed node by node, too
    threads: int = -1
    timeout: float = 600.0


@dataclass(frozen=True)
class NodeTime:
    """What one node took: the least of all profiled runs."""

    name: str
    op: str
    kernel: str
    nanoseconds: int


@dataclass(frozen=True)
class RunResult:
    """What a run gave."""

    outputs: Mapping[str, Array]
    milliseconds: float  # of one run, the median of all rounds
    memory: Mapping[str, int] = field(default_factory=dict)
    device: Mapping[str, str] = field(default_factory=dict)
    nodes: tuple[NodeTime, ...] = ()  # of a job that asks for them

    def save(self, name: str, folder: Path) -> Path:
        """Write an output as `<folder>/<name>.npy`."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name.replace('/', '_')}.npy"
        np.save(file, self.outputs[name])
        return file

    def summary(self) -> list[dict[str, Any]]:
        """The outputs in figures."""
        return [_figures(name, array) for name, array in self.outputs.items()]


def _figures(name: str, array: Array) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": name, "shape": list(array.shape), "dtype": str(array.dtype)}
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    figures = {"least": finite.min(), "largest": finite.max(), "mean": finite.mean()} if finite.size else {}
    return {**shown, **{key: float(figures[key]) if figures else None for key in ("least", "largest", "mean")}}
