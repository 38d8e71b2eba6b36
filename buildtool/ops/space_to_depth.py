"""space_to_depth: blocks of the picture become channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import require_one_of, require_rank
from buildtool.ops._types import moved


@dataclass(frozen=True)
class SpaceToDepth(Operator):
    """Input x[N,H,W,C] of any element type; output [N, H/block, W/block, C*block*block].

    Channel c of element (y, x) of a block becomes channel (y*block + x)*C + c in mode DCR, and (c*block + y)*block + x
    in mode CRD.

    `mode` is DCR or CRD.
    """

    name: ClassVar[str] = "space_to_depth"
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
        for dim in x.shape[1:3]:
            if isinstance(dim, int) and dim % self.block:
                raise OperatorError(f"a side of {dim} elements is not a multiple of {self.block}")
        block = self.block
        shape = (x.shape[0], x.shape[1] // block, x.shape[2] // block, x.shape[3] * (block * block))
        return (moved(x, shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        block, (batch, height, width, channels) = self.block, x.shape
        parts = x.reshape(batch, height // block, block, width // block, block, channels)
        order = (0, 1, 3, 2, 4, 5) if self.mode == "DCR" else (0, 1, 3, 5, 2, 4)
        return (parts.transpose(order).reshape(batch, height // block, width // block, channels * block * block),)
