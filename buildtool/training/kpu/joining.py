"""Where branches of a network for the K210 meet: sums and concatenations, which the CPU makes of bytes.

They follow the generator of kmodels: a convolution that is only added to something gives its results in the steps that
the sum needs, and what is only a part of a concatenation is stored as that is.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from buildtool.errors import InternalError, UnsupportedError
from buildtool.targets.k210.generation import sums
from buildtool.targets.k210.generation.activation import Function
from buildtool.targets.k210.generation.quantise import Bytes, bytes_between
from buildtool.targets.k210.simulation.cpu import carry_shift
from buildtool.training.kpu.layers import ACTIVATIONS, Stored

_AFTER_SUMS = ("", "relu")
_TABLE = np.arange(256)


class Joined(Stored):
    """A layer that reads several others."""

    def __init__(self) -> None:
        super().__init__()
        self._before: tuple[Stored, ...] = ()

    def reads(self, before: tuple[Stored, ...]) -> None:
        self._before = before

    def _bytes_of(self, operands: tuple[torch.Tensor, ...]) -> list[NDArray[np.int64]]:
        """What the layers in front stored."""
        if len(self._before) != len(operands):
            raise InternalError("a layer that joins branches does not know what it reads")
        steps = [(values.double() / one.stored.scale, one) for values, one in zip(operands, self._before, strict=True)]
        return [(torch.round(values).long() + one.stored.zero_point).numpy() for values, one in steps]

    def _real(self, found: NDArray[np.int64], like: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(self.stored.real(found)).to(like.dtype)

    def _given(self, values: torch.Tensor) -> torch.Tensor:
        if self.training:
            self._see(values.detach())
        return self._rounded(values) if self.quantised else values


class Add(Joined):
    """The sum of two results of one size, and an activation: none or "relu"."""

    def __init__(self, activation: str = "") -> None:
        super().__init__()
        if activation not in _AFTER_SUMS:
            raise UnsupportedError(
                f"`activation` of a sum cannot be '{activation}'", rule="'' or 'relu'", remedy="let a Conv2d follow"
            )
        self.activation = activation
        self._merged: tuple[Stored, ...] = ()

    def merges(self, layer: Stored | None) -> None:
        """With this convolution the generator merges the sum: it comes first."""
        self._merged = () if layer is None else (layer,)

    @property
    def _functions(self) -> list[Function]:
        return [ACTIVATIONS[self.activation][1]] if self.activation else []

    def stored_of(self, layer: Stored) -> Bytes:
        """What a convolution may give in front of the sum, for all sums that make a difference."""
        residual = next(one for one in self._before if one is not layer).stored
        low, high = sums.reach(self._functions, self.stored)
        return bytes_between(low - residual.high, high - residual.low)

    def forward(self, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        if not self.quantised or self.training:
            return self._given(functional.relu(one + other) if self.activation else one + other)
        left, right = self._bytes_of((one, other))
        first, second = (layer.stored for layer in self._before)
        if self._merged and self._merged[0] is self._before[1]:
            left, right, first, second = right, left, second, first
        stored, functions = self.stored, self._functions
        plain = sums.cuts_only(functions, stored)
        between = stored if plain else bytes_between(first.low + second.low, first.high + second.high)
        of_one, by_one, _, of_other, by_other, _, _, _, shift = sums.factors(first, second, between)
        found = carry_shift((left + of_one) * by_one + (right + of_other) * by_other, shift).clip(0, 255)
        if not plain:
            found = stored.stored(ACTIVATIONS[self.activation][1](between.real(_TABLE))).astype(np.int64)[found]
        return self._real(found, one)


class Concat(Joined):
    """Results of one size side by side, along the channels."""

    def stored_of(self, layer: Stored) -> Bytes:
        """As the whole is."""
        del layer
        return self.stored

    def forward(self, *operands: torch.Tensor) -> torch.Tensor:
        if not self.quantised or self.training:
            return self._given(torch.cat(operands, 1))
        stored, parts = self.stored, []
        for found, layer in zip(self._bytes_of(operands), self._before, strict=True):
            own = layer.stored
            parts.append(found if own == stored else stored.stored(own.real(_TABLE)).astype(np.int64)[found])
        return self._real(np.concatenate(parts, 1), operands[0])


def quantise(network: nn.Module) -> None:
    """Joined results are bytes from now on, as those of the layers are."""
    for module in network.modules():
        if isinstance(module, Joined):
            module.check_seen()
            module.quantize_activation.fill_(1)
