"""The layers of the chips for torch: floats in training, and the chips' integers once `quantise` gave them bits.

A value of 1.0 stands for 128. Quantised layers compute with the rules of `rules`; gradients pass as if nothing had been
rounded. In double precision (`Module.double`) their results are exact: the integers of the simulators, divided by 128.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from buildtool.errors import UnsupportedError
from buildtool.training import rounding, rules

Operation = Literal["conv1d", "conv2d", "convtranspose2d", "linear"]

_SHARE = 0.25  # of a normalised value, so that values stay within one; as in `checkpoints.fuse_batch_norm`
_MOMENTUM = 0.05
_OPERATIONS: dict[str, type[Any]] = {
    "conv1d": nn.Conv1d,
    "conv2d": nn.Conv2d,
    "convtranspose2d": nn.ConvTranspose2d,
}


@dataclass(frozen=True)
class Pooling:
    """What happens to the input of a layer first."""

    kind: Literal["max", "average"]
    size: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    rounds: bool = False  # averages

    @staticmethod
    def of(kind: Any, dimensions: int, size: Any, stride: Any, dilation: Any, *, rounds: bool) -> Pooling:
        return Pooling(kind, _each(size, dimensions), _each(stride, dimensions), _each(dilation, dimensions), rounds)

    def __call__(self, values: torch.Tensor, *, quantised: bool) -> torch.Tensor:
        flat = len(self.size) == 1
        if self.kind == "max":
            pool = functional.max_pool1d if flat else functional.max_pool2d
            return pool(values, self.size, self.stride, 0, self.dilation)
        average = functional.avg_pool1d if flat else functional.avg_pool2d
        mean = average(values, self.size, self.stride)
        return rounding.mean(mean, rounds=self.rounds) if quantised else mean


def _each(value: Any, dimensions: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (int(value),) * dimensions


def _instead(values: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """The exact values, with the gradient of the others."""
    return values + (exact - values).detach() if values.requires_grad else exact


class Fused(nn.Module):
    """Pooling, a convolution or a fully connected layer, batch normalisation and an activation: one layer of a chip."""

    def __init__(
        self,
        operation: Operation,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        *,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        pooling: Pooling | None = None,
        activation: Literal["relu", "abs"] | None = None,
        batchnorm: str | None = None,
        wide: bool = False,
    ) -> None:
        super().__init__()
        if batchnorm not in (None, "Affine", "NoAffine"):
            raise UnsupportedError(f"`batchnorm` cannot be '{batchnorm}'", rule="'Affine', 'NoAffine' or None")
        if wide and activation:
            raise UnsupportedError("outputs of 32 bits have no activation", remedy="remove `wide`, or the activation")
        self.operation, self.pooling, self.activation, self.wide = operation, pooling, activation, wide
        if operation == "linear":
            self.op: Any = nn.Linear(in_channels, out_channels, bias=bias)
        else:
            extra = {"output_padding": 1} if operation == "convtranspose2d" else {}
            kind = _OPERATIONS[operation]
            self.op = kind(
                in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation,
                groups=groups, bias=bias, **extra,
            )  # fmt: skip
        norm = nn.BatchNorm1d if operation in ("conv1d", "linear") else nn.BatchNorm2d
        self.bn = norm(out_channels, momentum=_MOMENTUM, affine=batchnorm == "Affine") if batchnorm else None
        for name, value in (("weight_bits", 0.0), ("bias_bits", 0.0), ("output_shift", 0.0), ("shift_quantile", 1.0)):
            self.register_buffer(name, torch.tensor([value]))
        self.register_buffer("quantize_activation", torch.zeros(1))
        self.register_buffer("adjust_output_shift", torch.zeros(1))

    @property
    def bits(self) -> int:
        """Of the weights; 0: they are floats."""
        return int(self.weight_bits)

    def quantise(self, bits: int, quantile: float = 1.0) -> None:
        """Compute as the chip from now on. The normalisation has to be part of the weights."""
        if bits not in rules.WEIGHT_BITS:
            raise UnsupportedError(f"weights of {bits} bits", rule="those of the MAX7800x have 1, 2, 4 or 8")
        for name, value in (("weight_bits", bits), ("bias_bits", bits), ("shift_quantile", quantile)):
            getattr(self, name).fill_(value)
        self.quantize_activation.fill_(1)
        self.adjust_output_shift.fill_(1)

    def power(self, bits: int | None = None) -> int:
        """The power of two that weights are multiplied by: that which `lathe quantize` finds."""
        parts = [self.op.weight] if self.op.bias is None else [self.op.weight, self.op.bias]
        quantile, bits = float(self.shift_quantile), self.bits if bits is None else bits
        if quantile == 1:  # what is largest, without a copy of all
            ends = [float(end) for part in parts for end in torch.aminmax(part.detach())]
            both = np.asarray(ends, np.float32)
        else:
            both = np.concatenate([part.detach().float().reshape(-1).numpy() for part in parts])
        return rules.highest_shift(both, quantile, bits)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        if self.operation == "linear" and values.ndim != 2:
            shape = " x ".join(map(str, values.shape[1:]))
            raise UnsupportedError(
                f"a fully connected layer gets {shape}", remedy="x = x.view(x.size(0), -1) before it"
            )
        bits = self.bits
        if self.pooling is not None:
            values = self.pooling(values, quantised=bits > 0)
        return self._quantised(values, bits) if bits else self._real(values)

    def _real(self, values: torch.Tensor) -> torch.Tensor:
        values = self.op(values)
        if self.bn is not None:
            values = self.bn(values) * _SHARE
        if self.wide:
            return values
        values = self._activated(values)
        return values.clamp(rules.LOWEST / rules.DATA_FACTOR, rules.HIGHEST / rules.DATA_FACTOR)

    def _quantised(self, values: torch.Tensor, bits: int) -> torch.Tensor:
        """Weights and sums as the real numbers that the chip's integers stand for."""
        factor = rules.factor(bits, self.power(bits))
        weight, bias = self.op.weight, self.op.bias
        raised = 0.0 if self.wide else rounding.HALF_STEP
        by = rounding.parameters(weight, factor, bits)
        if bias is not None:
            added = rounding.parameters(bias, factor, bits, raised)
        else:
            added = by.new_full((weight.shape[self.operation == "convtranspose2d"],), raised)
        sums = self._sums(values, by, added)
        if self.wide:
            return sums
        lowest = 0.0 if self.activation == "relu" else rules.LOWEST / rules.DATA_FACTOR
        narrow = rounding.narrow(sums, lowest)
        return narrow.abs().clamp(max=rules.HIGHEST / rules.DATA_FACTOR) if self.activation == "abs" else narrow

    def _sums(self, values: torch.Tensor, by: torch.Tensor, added: torch.Tensor) -> torch.Tensor:
        op = self.op
        if self.operation == "linear":
            return functional.linear(values, by, added)
        if self.operation == "convtranspose2d":
            border = (op.stride, op.padding, op.output_padding, op.groups, op.dilation)
            return functional.conv_transpose2d(values, by, added, *border)
        convolve = functional.conv1d if self.operation == "conv1d" else functional.conv2d
        return convolve(values, by, added, op.stride, op.padding, op.dilation, op.groups)

    def _activated(self, values: torch.Tensor) -> torch.Tensor:
        if self.activation == "relu":
            return functional.relu(values)
        return values.abs() if self.activation == "abs" else values

    def fold(self) -> None:
        """Take the normalisation into the weights, by the rule of `lathe quantize --fuse-batch-norm`."""
        if self.bn is None:
            return
        from buildtool.targets.max7800x.checkpoints.fuse_batch_norm import fuse

        state = {f"layer.{name}": tensor.detach().numpy() for name, tensor in self.state_dict().items()}
        fused = fuse({"state_dict": state}).tree["state_dict"]
        self.bn = None
        with torch.no_grad():
            self.op.weight.copy_(torch.from_numpy(fused["layer.op.weight"]))
            bias = torch.from_numpy(np.ascontiguousarray(fused["layer.op.bias"]))
            if self.op.bias is None:
                self.op.bias = nn.Parameter(bias.clone())
            else:
                self.op.bias.copy_(bias)

    def remove_outliers(self, deviations: float) -> None:
        """Cut weights off that are farther from their mean."""
        weight = self.op.weight.detach()
        reach = deviations * weight.std()
        weight.copy_(weight.clamp(weight.mean() - reach, weight.mean() + reach))


class Pool(nn.Module):
    """A pool alone."""

    def __init__(self, pooling: Pooling) -> None:
        super().__init__()
        self.pooling = pooling
        self.register_buffer("quantize_activation", torch.zeros(1))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.pooling(values, quantised=bool(self.quantize_activation))


_BITWISE: dict[str, Callable[[Any, Any], Any]] = {"or": torch.bitwise_or, "xor": torch.bitwise_xor}


class Elementwise(nn.Module):
    """2 to 16 operands, from left to right."""

    def __init__(self, operator: Literal["add", "sub", "or", "xor"]) -> None:
        super().__init__()
        self.operator = operator
        self.register_buffer("quantize_activation", torch.zeros(1))

    def forward(self, *operands: torch.Tensor) -> torch.Tensor:
        if not 2 <= len(operands) <= 16:
            raise UnsupportedError(f"'{self.operator}' has {len(operands)} operands", rule="2 to 16")
        low, high = rules.LOWEST / rules.DATA_FACTOR, rules.HIGHEST / rules.DATA_FACTOR
        if self.operator == "sub":
            return functools.reduce(torch.sub, operands).clamp(low, high)
        total = functools.reduce(torch.add, operands)
        if self.operator == "add":
            return total.clamp(low, high)
        whole = [torch.round(operand.detach() * rules.DATA_FACTOR).to(torch.int64) for operand in operands]
        exact = functools.reduce(_BITWISE[self.operator], whole).to(total.dtype) / rules.DATA_FACTOR
        return _instead(total.clamp(low, high), exact)
