"""group_norm: every group of channels of an image gets mean 0 and variance 1, then a scale and a bias per channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import equal_dim, keeps_channels_last, number, require_rank
from buildtool.ops._types import plain, require_float, require_same_dtype, stored, working


@dataclass(frozen=True)
class GroupNorm(Operator):
    """Inputs x[N,...,C], scale[C], bias[C]. The statistics of a group are over its channels and all spatial axes.

    With as many groups as channels this is an instance normalisation.
    """

    name: ClassVar[str] = "group_norm"
    arity: ClassVar[tuple[int, int | None]] = (3, 3)

    groups: int
    epsilon: float

    def check(self) -> None:
        if self.groups < 1:
            raise OperatorError(f"'groups' is {self.groups}, which is not positive")
        if not 0 <= self.epsilon < np.inf:
            raise OperatorError(f"'epsilon' is {self.epsilon}, which is not a finite number of 0 or more")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, scale, bias = self.operands(inputs)
        require_same_dtype(inputs)
        require_float(x)
        if x.rank < 2:
            raise OperatorError(f"the input has rank {x.rank}, not batch and channel axes")
        channels = number(x.shape[-1], "the number of channels")
        if channels % self.groups or not channels:
            raise OperatorError(f"{channels} channels cannot be divided into {self.groups} groups")
        for what, type_ in (("scale", scale), ("bias", bias)):
            require_rank(type_, 1, f"the {what}")
            equal_dim(channels, type_.shape[0], f"the input's channels and the size of the {what}")
        return (plain(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, scale, bias = (working(array) for array in inputs)
        if not x.size:
            return (inputs[0].copy(),)
        grouped = x.reshape(x.shape[0], -1, self.groups, x.shape[-1] // self.groups).astype(np.float64)
        with np.errstate(all="ignore"):
            apart = grouped - grouped.mean(axis=(1, 3), keepdims=True)
            variance = (apart * apart).mean(axis=(1, 3), keepdims=True)
            y = (apart / np.sqrt(variance + self.epsilon)).reshape(x.shape)
            return (stored(y * scale + bias, inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * 2

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if perm[:1] == (0,) and keeps_channels_last(perm) else None
