"""Compares what a library gave with what the reference gave, output by output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from buildtool.errors import LatheError, RunError
from buildtool.running.inputs import without_ones
from buildtool.running.metrics import DIFFERENT, Array, Metrics, compare


@dataclass(frozen=True)
class Variant:
    """Which of the built things was run."""

    model: str
    abi: str
    kind: str  # shared, static
    format: str  # file, code
    device: str = ""
    gpu: Mapping[str, Any] = field(default_factory=dict)  # what ran its parts for a GPU; empty: it has none

    def as_json(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "gpu" or value}


@dataclass(frozen=True)
class Comparison:
    """One output of one variant against the reference."""

    variant: Variant
    output: str
    shape: tuple[int, ...]
    metrics: Metrics
    threshold: float
    reference: str
    problem: str = ""  # why the arrays cannot be compared at all

    @property
    def passed(self) -> bool:
        return not self.problem and self.metrics.cosine >= self.threshold

    def as_json(self) -> dict[str, Any]:
        return {
            **self.variant.as_json(),
            "output": self.output,
            "shape": list(self.shape),
            **self.metrics.as_json(),
            "threshold": self.threshold,
            "reference": self.reference,
            "passed": self.passed,
            **({"problem": self.problem} if self.problem else {}),
        }


def compare_outputs(
    variant: Variant,
    results: Mapping[str, Array],
    references: Mapping[str, Array],
    threshold: float,
    reference: str,
    channels: Mapping[str, int] | None = None,
) -> tuple[Comparison, ...]:
    """One comparison per output of the reference. An output that the library did not give is a RunError.

    `channels`: the axis that holds them, where it is not the last.
    """
    missing = [name for name in references if name not in results]
    if missing:
        raise RunError(f"the library did not return the outputs {', '.join(missing)}")
    found = []
    for name, right in references.items():
        left = results[name]
        problem, metrics = "", DIFFERENT
        if without_ones(left.shape) != without_ones(right.shape):
            problem = f"shape {list(left.shape)} is not {list(right.shape)}"
        else:
            metrics = compare(left.reshape(right.shape), right, (channels or {}).get(name, -1))
        found.append(Comparison(variant, name, tuple(left.shape), metrics, threshold, reference, problem))
    return tuple(found)


def failed_outputs(
    variant: Variant, references: Mapping[str, Array], threshold: float, reference: str, error: LatheError
) -> tuple[Comparison, ...]:
    """What a variant gets that gave no outputs at all."""
    problem = error.problems[0].what
    return tuple(
        Comparison(variant, name, tuple(array.shape), DIFFERENT, threshold, reference, problem)
        for name, array in references.items()
    )
