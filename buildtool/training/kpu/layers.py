"""Layers of the K210 for torch: floats in training, rounded to the chip's steps from quantisation on; in evaluation the
chip's own bytes.

A quantised layer evaluates with the registers that `lathe build` finds for it (`generation.quantise`), by the steps of
the simulator (`simulation.arithmetic`): its bytes are those of the kmodel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from buildtool.errors import InternalError, UnsupportedError
from buildtool.ops import _activation
from buildtool.quant import range_files
from buildtool.quant.ranges import stored_as
from buildtool.targets.k210.generation import on_kpu, quantise
from buildtool.targets.k210.generation.activation import Function
from buildtool.targets.k210.generation.quantise import Bytes, Registers
from buildtool.targets.k210.simulation import arithmetic
from buildtool.targets.k210.simulation.arithmetic import Library
from buildtool.wording import did_you_mean

WEIGHT_BITS = (8, 16)
INPUT_RANGE = (-1.0, 127 / 128)  # of samples in training
_MOMENTUM = 0.05
_LEFT_TOP = 5
_POOLS = {"": 0, "max": 1, "average": 2, "max4": 3, "average4": 4}  # as in the register
_LEAKY = 0.1

Torch = Callable[[torch.Tensor], torch.Tensor]


def _as_layer(kind: str, low: float = 0.0, high: float = 0.0) -> Function:
    """What convolutions apply themselves: in double precision."""
    return lambda values: _activation.activate(values, kind, low, high)


def _as_operator(kind: str, alpha: float = 0.0) -> Function:
    """What stays an operator of its own behind a convolution: in single precision."""
    return lambda values: _activation.activate(values.astype(np.float32), kind, alpha, 0.0)


#: For each activation what it is in training, and what the generator of kmodels makes its segments of.
ACTIVATIONS: dict[str, tuple[Torch, Function]] = {
    "": (lambda values: values, lambda values: values),
    "relu": (functional.relu, _as_layer("relu")),
    "relu6": (functional.relu6, _as_layer("clip", 0.0, 6.0)),
    "leaky_relu": (
        lambda values: functional.leaky_relu(values, _LEAKY),
        _as_operator("leaky_relu", float(np.float32(_LEAKY))),
    ),
    "sigmoid": (torch.sigmoid, _as_operator("sigmoid")),
    "tanh": (torch.tanh, _as_operator("tanh")),
    "hard_swish": (functional.hardswish, _as_operator("hard_swish")),
}

TORCH = Library(
    integers=lambda values: torch.tensor(values, dtype=torch.int64),
    sections=lambda starts, values: torch.searchsorted(starts, values.contiguous(), right=True),
    maximum=torch.maximum,
    edges=lambda planes, count: functional.pad(planes.double(), (0, count, 0, count), mode="replicate").long(),
    zeros=lambda planes: functional.pad(planes, (0, 1)),
    wide=lambda planes: planes,
)


def stored_between(low: float, high: float) -> Bytes:
    """How the generator stores a tensor whose range file has these numbers."""
    ends = (float(range_files.shown(low)), float(range_files.shown(high)))
    quant = stored_as(*ends)
    return Bytes(quant.scales[0], quant.zero_points[0] + 128)


class Stored(nn.Module):
    """A layer whose results are stored in bytes: by the range that training saw, or as the one that reads them asks."""

    def __init__(self) -> None:
        super().__init__()
        for name in ("low", "high", "quantize_activation"):
            self.register_buffer(name, torch.zeros(1))
        self._reader: tuple[Any, ...] = ()

    @property
    def quantised(self) -> bool:
        return bool(self.quantize_activation)

    @property
    def may_be_merged(self) -> bool:
        """With a sum that alone reads it."""
        return False

    @property
    def stored(self) -> Bytes:
        """How the results are stored."""
        if self._reader:
            found: Bytes = self._reader[0].stored_of(self)
            return found
        return stored_between(float(self.low), float(self.high))

    def is_read_by(self, reader: Any) -> None:
        """By this layer alone, which tells how the results are stored; None: they have a range of their own."""
        self._reader = () if reader is None else (reader,)

    def check_seen(self) -> None:
        """UnsupportedError where there is no range."""
        if not float(self.high) > float(self.low):
            raise UnsupportedError(
                "no results were seen whose range tells how to store them", remedy="train for an epoch with floats"
            )

    def _see(self, values: torch.Tensor) -> None:
        """Follow the range of the results."""
        seen = bool(self.high > self.low)
        for buffer, now in ((self.low, values.min().clamp(max=0)), (self.high, values.max().clamp(min=0))):
            buffer.copy_(buffer + _MOMENTUM * (now - buffer) if seen else now)

    def _rounded(self, values: torch.Tensor) -> torch.Tensor:
        stored = self.stored
        reached = values.clamp(stored.low, stored.high)
        return _instead(reached, torch.round(reached.detach() / stored.scale) * stored.scale)


class Conv2d(Stored):
    """A convolution of 1x1 or 3x3 pixels with the zeros around that keep the size, batch normalisation, an activation
    and a pool: one layer of the KPU.
    """

    wide = True  # outputs are real numbers of any size

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int = 3,
        *,
        stride: int = 1,
        depthwise: bool = False,
        bias: bool = True,
        batchnorm: bool = True,
        activation: str = "relu",
        pool: str = "",
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, kernel_size, stride, depthwise)
        for what, value, known in (("activation", activation, ACTIVATIONS), ("pool", pool, _POOLS)):
            if value not in known:
                raise UnsupportedError(
                    f"`{what}` cannot be '{value}'",
                    rule=", ".join(f"'{one}'" for one in known),
                    remedy=did_you_mean(value, known),
                )
        if stride == 2 and pool:
            raise UnsupportedError("a stride of 2 and a pool in one layer", rule="the KPU has one step behind its sums")
        self.depthwise, self.stride, self.activation, self.pool = depthwise, stride, activation, pool
        groups = in_channels if depthwise else 1
        self.op = nn.Conv2d(in_channels, out_channels, kernel_size, padding=kernel_size // 2, groups=groups, bias=bias)
        self.bn = nn.BatchNorm2d(out_channels, momentum=_MOMENTUM) if batchnorm else None
        self.register_buffer("weight_bits", torch.zeros(1))
        self._before: tuple[Stored, ...] | None = None

    @property
    def bits(self) -> int:
        """Of the weights; 0: they are floats."""
        return int(self.weight_bits)

    @property
    def may_be_merged(self) -> bool:
        dense = not self.depthwise or self.op.in_channels == 1
        return dense and not self.activation and not self.pool

    @property
    def register_pool(self) -> int:
        """The pool as the register has it."""
        return _LEFT_TOP if self.stride == 2 else _POOLS[self.pool]

    def reads(self, before: Stored | None) -> None:
        """Which layer's results it reads; None: the samples."""
        self._before = () if before is None else (before,)

    def quantise(self, bits: int, quantile: float = 1.0) -> None:
        """Compute as the chip from now on. `quantile` is for the shifts of other chips: weights here have scales."""
        del quantile
        if bits not in WEIGHT_BITS:
            raise UnsupportedError(f"weights of {bits} bits", rule="those of the KPU have 8 or 16")
        self.check_seen()
        self.weight_bits.fill_(bits)
        self.quantize_activation.fill_(1)

    def fold(self) -> None:
        """Take the normalisation into the weights."""
        if self.bn is None:
            return
        norm, self.bn = self.bn, None
        with torch.no_grad():
            by = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            bias = torch.zeros_like(by) if self.op.bias is None else self.op.bias
            bias = (bias - norm.running_mean) * by + norm.bias
            self.op.weight.mul_(by[:, None, None, None])
            self.op.bias = nn.Parameter(bias.clone())

    def remove_outliers(self, deviations: float) -> None:
        """Cut weights off that are farther from their mean."""
        weight = self.op.weight.detach()
        reach = deviations * weight.std()
        weight.copy_(weight.clamp(weight.mean() - reach, weight.mean() + reach))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        if self.bits and not self.training:
            stored, read = self.stored, self._read()
            found = self._bytes(torch.round(values.detach().double() / read.scale).long() + read.zero_point)
            return ((found - stored.zero_point).double() * stored.scale).to(values.dtype)
        weight = self.op.weight
        if self.bits:
            rounded = quantise.weights(weight.detach().numpy(), self.bits).real()
            weight = _instead(weight, torch.from_numpy(rounded).to(weight.dtype))
        op = self.op
        values = functional.conv2d(values, weight, op.bias, padding=op.padding, groups=op.groups)
        if self.bn is not None:
            values = self.bn(values)
        values = ACTIVATIONS[self.activation][0](values)
        if self.training:
            self._see(values.detach())
        return self._pooled(self._rounded(values) if self.bits else values)

    def _pooled(self, values: torch.Tensor) -> torch.Tensor:
        if self.stride == 2:
            return values[:, :, ::2, ::2]
        if not self.pool:
            return values
        size = 4 if self.pool.endswith("4") else 2
        if self.pool.startswith("max"):
            return functional.max_pool2d(values, size)
        values = functional.avg_pool2d(values, size)
        return self._rounded(values) if self.bits else values

    # -- the chip's integers --
    def _read(self) -> Bytes:
        if self._before is None:
            raise InternalError("a layer of the KPU does not know what it reads")
        return self._before[0].stored if self._before else stored_between(*INPUT_RANGE)

    def registers(self) -> Registers:
        """What the generator puts into the layer's registers, batch norm and activation."""
        weights = quantise.weights(self.op.weight.detach().float().numpy(), self.bits)
        count = len(weights.scales)
        bias = np.zeros(count) if self.op.bias is None else self.op.bias.detach().float().numpy().astype(np.float64)
        function = on_kpu.function_of(ACTIVATIONS[self.activation][1], self.register_pool, self.stored)
        return quantise.registers(weights, bias, self._read(), self.stored, function, wide=self.bits > WEIGHT_BITS[0])

    def _bytes(self, planes: torch.Tensor) -> torch.Tensor:
        """What the KPU makes of planes of bytes."""
        registers = self.registers()
        weights = np.frombuffer(registers.weights, "<u2" if self.bits > WEIGHT_BITS[0] else np.uint8)
        kernels = torch.from_numpy(weights.astype(np.float64)).reshape(self.op.weight.shape)
        sums = self._sums(planes, kernels, registers)
        found = arithmetic.activated(
            TORCH, arithmetic.normalised(TORCH, sums, registers.batch_norm), registers.fit.activation
        )
        rows, columns = self.out_size(planes.shape[-2:])
        return torch.as_tensor(arithmetic.pooled(TORCH, found, self.register_pool, rows, columns))

    def out_size(self, size: Any) -> tuple[int, int]:
        by = 2 if self.stride == 2 else 1 if not self.pool else 4 if self.pool.endswith("4") else 2
        return int(size[0]) // by, int(size[1]) // by

    def _sums(self, planes: torch.Tensor, kernels: torch.Tensor, registers: Registers) -> torch.Tensor:
        """Products and the terms of the zero points. Sums of products are exact in double precision."""
        border, channels, points = kernels.shape[-1] // 2, planes.shape[1], registers.zero_points
        padded = functional.pad(planes.double(), (border,) * 4, value=float(registers.pad_value))
        sums = functional.conv2d(padded, kernels, groups=self.op.groups).long()
        of_pixels = functional.conv2d(padded, torch.ones_like(kernels[:1, :1]).expand(channels, -1, -1, -1),
                                      groups=channels).long()  # fmt: skip
        of_x = points.arg_x * of_pixels >> points.shr_x
        of_w = points.arg_w * kernels.sum(dim=(2, 3)).long() >> points.shr_w
        if not self.depthwise:
            of_x = of_x.sum(dim=1, keepdim=True)
        constant = points.arg_add * (1 if self.depthwise else channels)
        return sums + of_x + of_w.sum(dim=1)[:, None, None] + constant


def _instead(values: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """The exact values, with the gradient of the others."""
    return values + (exact - values).detach() if values.requires_grad else exact


def _check(inputs: int, outputs: int, kernel: int, stride: int, depthwise: bool) -> None:
    wrong = ""
    if kernel not in (1, 3):
        wrong = f"`kernel_size` cannot be {kernel}"
    elif stride not in (1, 2):
        wrong = f"`stride` cannot be {stride}"
    elif not 1 <= inputs <= 1024 or outputs < 1:
        wrong = f"{inputs} channels to {outputs}"
    elif depthwise and (kernel != 3 or stride != 1 or inputs != outputs):
        wrong = f"depthwise, a kernel of {kernel}, a stride of {stride}, {inputs} channels to {outputs}"
    if wrong:
        raise UnsupportedError(
            wrong,
            rule="kernels of 1 or 3, strides of 1 or 2, up to 1024 channels; depthwise: 3, 1, outputs as inputs",
            remedy="give the stride to the next layer of 1x1" if depthwise and stride == 2 else "",
        )


class GlobalAverage(nn.Module):
    """The mean of each channel: a layer of the CPU, in floats."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return values.mean(dim=(2, 3))


class Linear(nn.Linear):
    """A fully connected layer of the CPU, in floats."""
