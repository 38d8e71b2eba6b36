"""What an architecture of the gallery is: how to make the module, and what goes into it at two sizes.

Imported by the exporting process only, so these modules need PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

import tests.gallery.torchvision_operators  # noqa: F401 (before torchvision)

# The axes of an input that vary, with their names: {2: "height"}.
Axes = Mapping[int, str]


@dataclass(frozen=True)
class Input:
    """An input: its shape at the two sizes (equal where the architecture has one size), its type, its drawn range."""

    first: tuple[int, ...]
    second: tuple[int, ...] = ()
    dtype: torch.dtype = torch.float32
    below: int = 0  # integers are drawn from 0 to this

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.first, self.second or self.first

    def tensor(self, size: int, generator: torch.Generator) -> torch.Tensor:
        shape = self.shapes()[size]
        if self.below:
            return torch.randint(0, self.below, shape, generator=generator).to(self.dtype)
        if self.dtype != torch.float32:
            return torch.ones(shape, dtype=self.dtype)
        return torch.rand(shape, generator=generator)

    def varying(self, name: str) -> dict[int, str]:
        first, second = self.shapes()
        return {axis: f"{name}_{axis}" for axis, (a, b) in enumerate(zip(first, second, strict=True)) if a != b}


@dataclass(frozen=True)
class Entry:
    """An architecture. `exporter`: torchscript or dynamo.

    `has_ties`: its rows are sorted by scores, which random weights make equal, in an order that each runtime chooses;
    it is compared with onnxruntime on the exported file instead of with PyTorch.
    """

    family: str
    make: Callable[[], torch.nn.Module]
    inputs: Mapping[str, Input]
    exporter: str = "torchscript"
    opset: int = 17
    axes: Mapping[str, Axes] = field(default_factory=dict)  # where sizes of several inputs are one size
    has_ties: bool = False


def image(first: int, second: int = 0, channels: int = 3, batch: tuple[int, int] = (1, 1)) -> dict[str, Input]:
    """A square picture."""
    second = second or first
    return {"image": Input((batch[0], channels, first, first), (batch[1], channels, second, second))}


def tokens(first: int, second: int = 0, vocabulary: int = 100, name: str = "input_ids") -> dict[str, Input]:
    return {name: Input((1, first), (1, second or first), torch.int64, vocabulary)}


class Outputs(torch.nn.Module):
    """A module whose results are a flat tuple of tensors: what exporters and comparisons can name."""

    def __init__(
        self, inner: torch.nn.Module, wanted: Sequence[str] = (), names: Sequence[str] = (), **fixed: object
    ) -> None:
        super().__init__()
        self.inner, self.wanted, self.names, self.fixed = inner, tuple(wanted), tuple(names), fixed

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if self.names:
            found = self.inner(**dict(zip(self.names, inputs, strict=True)), **self.fixed)
        else:
            found = self.inner(*inputs, **self.fixed)
        if self.wanted:
            found = [found[name] if isinstance(found, dict) else getattr(found, name) for name in self.wanted]
        return tuple(flat(found))


def flat(value: object) -> list[torch.Tensor]:
    """The tensors of nested lists, tuples and dictionaries, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, Mapping):
        return [tensor for item in value.values() for tensor in flat(item)]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in flat(item)]
    return []
