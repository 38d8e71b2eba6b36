"""Rounding as the chips do it, in few passes over the tensors; gradients pass as if nothing had been rounded.

Values are multiples of 1/128, and weights are scaled to real numbers by powers of two, so that nothing is rounded
twice: the results are those of `rules`, divided by a power of two.
"""

from __future__ import annotations

from typing import Any

import torch

from buildtool.training import rules

_STEP = 1 / rules.DATA_FACTOR
HALF_STEP = _STEP / 2


class _Parameters(torch.autograd.Function):
    """Weights or biases of so many bits. In single precision, in which checkpoints are quantised."""

    @staticmethod
    def forward(context: Any, values: torch.Tensor, factor: float, bits: int, added: float) -> torch.Tensor:
        del context
        half = 2 ** (bits - 1)
        whole = values.float().mul(factor).add_(0.5).floor_().clamp_(-half, half - 1).to(values.dtype)
        whole.mul_(1 / factor)
        return whole.add_(added) if added else whole

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        del context
        return gradients[0], None, None, None


class _Narrow(torch.autograd.Function):
    """Cut off to eight bits, in place. Where nothing was cut off, gradients pass."""

    @staticmethod
    def forward(context: Any, raised: torch.Tensor, lowest: float) -> torch.Tensor:
        raised.mul_(rules.DATA_FACTOR).floor_().clamp_(lowest * rules.DATA_FACTOR, rules.HIGHEST).mul_(_STEP)
        context.mark_dirty(raised)
        context.save_for_backward(raised)
        context.lowest = lowest
        return raised

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        (narrow,) = context.saved_tensors
        highest = rules.HIGHEST * _STEP
        return torch.ops.aten.hardtanh_backward(gradients[0], narrow, context.lowest, highest), None


class _Mean(torch.autograd.Function):
    """Means cut off towards zero, or rounded to the nearest with halves away from it, in place."""

    @staticmethod
    def forward(context: Any, means: torch.Tensor, rounds: bool) -> torch.Tensor:
        means.mul_(rules.DATA_FACTOR)
        if rounds:
            means.add_(means.sign(), alpha=0.5)
        context.mark_dirty(means)
        return means.trunc_().mul_(_STEP)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        del context
        return gradients[0], None


def parameters(values: torch.Tensor, factor: float, bits: int, added: float = 0.0) -> torch.Tensor:
    """What the integers of the chip stand for, as real numbers, and something that is added to each."""
    found: torch.Tensor = _Parameters.apply(values, factor, bits, added)
    return found


def narrow(raised: torch.Tensor, lowest: float) -> torch.Tensor:
    """Sums as real numbers, raised by half a step, as the values that the chip keeps. The tensor is overwritten."""
    found: torch.Tensor = _Narrow.apply(raised, lowest)
    return found


def mean(means: torch.Tensor, *, rounds: bool) -> torch.Tensor:
    """Means of values as the chip rounds them. The tensor is overwritten."""
    found: torch.Tensor = _Mean.apply(means, rounds)
    return found
