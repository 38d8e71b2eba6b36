"""separable_conv2d: a depthwise convolution, an activation, and a 1x1 convolution of the result, in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.dims import Dim
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._conv import ConvOperator
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d


@dataclass(frozen=True, kw_only=True)
class SeparableConv2d(ConvOperator):
    """Inputs x[N,H,W,C], w[O,1,1,C], b[O], depthwise filter d[KH,KW,C], its bias e[C], r?.

    `strides`, `dilations` (2 numbers each), `pads` (4: top, left, bottom, right) and `depthwise_activation` are of the
    depthwise convolution of x with d and e. Its result goes through a 1x1 convolution with w and b. The residual r has
    the shape of the output, [N,OH,OW,O], and is added in front of `activation`.
    """

    name: ClassVar[str] = "separable_conv2d"
    arity: ClassVar[tuple[int, int | None]] = (5, 6)

    depthwise_activation: str = "none"
    depthwise_activation_alpha: float = 0.0
    depthwise_activation_beta: float = 0.0

    def check(self) -> None:
        super().check()
        self.depthwise.check()

    @property
    def depthwise(self) -> DwConv2d:
        """The first of the two convolutions."""
        return DwConv2d(
            strides=self.strides,
            pads=self.pads,
            dilations=self.dilations,
            activation=self.depthwise_activation,
            activation_alpha=self.depthwise_activation_alpha,
            activation_beta=self.depthwise_activation_beta,
        )

    @property
    def pointwise(self) -> Conv2d:
        """The second one."""
        return Conv2d(
            activation=self.activation,
            activation_alpha=self.activation_alpha,
            activation_beta=self.activation_beta,
        )

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        self.checked_operands(inputs, 4)
        x, w, b, d, e, *residual = inputs
        if w.shape[1:3] != (1, 1):
            raise OperatorError(f"w is {w.shape[1]}x{w.shape[2]}, which is not 1x1")
        return self.pointwise.infer([*self.depthwise.infer([x, d, e]), w, b, *residual])

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, b, d, e, *residual = inputs
        return self.pointwise.reference(*self.depthwise.reference(x, d, e), w, b, *residual)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        x, w, _, d, e = inputs[:5]
        between = self.depthwise.infer([x, d, e])
        return self.depthwise.macs([x, d], between) + self.pointwise.macs([between[0], w], outputs)
