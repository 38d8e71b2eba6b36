"""depth_to_space: channels become blocks of the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import number, require_one_of, require_rank
from buildtool.ops._types import moved


@dataclass(frozen=True)
class DepthToSpace(Operator):
    """Input x[N,H,W,C] of any element type; output [N, H*block, W*block, C/block/block].

    Channel c of element (y, x) of a block is channel (y*block + x)*C' + c of the input in mode DCR, and
    (c*block + y)*block + x in mode CRD; C' is the number of channels of the output.

    `mode` is DCR or CRD.
    """

    name: ClassVar[str] = "depth_to_space"
    keeps_numbers: ClassVar[bool] = True

    block: int
    mode: str

    def check(self) -> None:
        require_one_of("mode", self.mode, ("DCR", "CRD"))
        if self.block < 1:
            raise OperatorError(f"'block' is {self.block}, which is not positive")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_rank(x, 4, "the input [N, H, W, C]")
        channels = number(x.shape[3], "the number of channels")
        if channels % (self.block * self.block):
            raise OperatorError(f"{channels} channels are not a multiple of {self.block} x {self.block}")
        shape = (x.shape[0], x.shape[1] * self.block, x.shape[2] * self.block, channels // (self.block * self.block))
        return (moved(x, shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        block, (batch, height, width, channels) = self.block, x.shape
        depth = channels // (block * block)
        parts = (block, block, depth) if self.mode == "DCR" else (depth, block, block)
        order = (0, 1, 3, 2, 4, 5) if self.mode == "DCR" else (0, 1, 4, 2, 5, 3)
        y = x.reshape(batch, height, width, *parts).transpose(order)
        return (y.reshape(batch, height * block, width * block, depth),)
