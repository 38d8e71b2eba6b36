"""pointwise_dwconv2d: a 1x1 convolution, an activation, and a depthwise convolution of the result, in one."""

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
class PointwiseDwConv2d(ConvOperator):
    """Inputs x[N,H,W,I], w[C,1,1,I], b[C], depthwise filter d[KH,KW,C], its bias e[C].

    The 1x1 convolution of x with w and b goes through `pointwise_activation`, and then through the depthwise
    convolution with d and e, of which `strides`, `dilations` (2 numbers each), `pads` (4: top, left, bottom, right) and
    `activation` are.
    """

    name: ClassVar[str] = "pointwise_dwconv2d"
    arity: ClassVar[tuple[int, int | None]] = (5, 5)

    pointwise_activation: str = "none"
    pointwise_activation_alpha: float = 0.0
    pointwise_activation_beta: float = 0.0

    def check(self) -> None:
        super().check()
        self.pointwise.check()

    @property
    def pointwise(self) -> Conv2d:
        """The first of the two convolutions."""
        return Conv2d(
            activation=self.pointwise_activation,
            activation_alpha=self.pointwise_activation_alpha,
            activation_beta=self.pointwise_activation_beta,
        )

    @property
    def depthwise(self) -> DwConv2d:
        """The second one."""
        return DwConv2d(
            strides=self.strides,
            pads=self.pads,
            dilations=self.dilations,
            activation=self.activation,
            activation_alpha=self.activation_alpha,
            activation_beta=self.activation_beta,
        )

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        self.checked_operands(inputs, 4)
        x, w, b, d, e = inputs
        if w.shape[1:3] != (1, 1):
            raise OperatorError(f"w is {w.shape[1]}x{w.shape[2]}, which is not 1x1")
        return self.depthwise.infer([*self.pointwise.infer([x, w, b]), d, e])

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, b, d, e = inputs
        return self.depthwise.reference(*self.pointwise.reference(x, w, b), d, e)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        x, w, b, d, _ = inputs
        between = self.pointwise.infer([x, w, b])
        return self.pointwise.macs([x, w], between) + self.depthwise.macs([between[0], d], outputs)
