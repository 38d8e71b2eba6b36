"""What the pooling operators share: attributes, checks and the shape of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from buildtool.ir.operator import Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import extent, require_ints, require_rank, window_count
from buildtool.ops._types import plain


@dataclass(frozen=True, kw_only=True)
class PoolOperator(Operator):
    """A window that moves over the two spatial axes of x[N,H,W,C]; pads are top, left, bottom, right.

    With `ceil_mode`, a last window that hangs over the end counts too, provided that it starts before the padding
    behind.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    dilations: tuple[int, ...] = (1, 1)
    ceil_mode: bool = False

    def check(self) -> None:
        require_ints("kernel", self.kernel, 2, 1)
        require_ints("strides", self.strides, 2, 1)
        require_ints("pads", self.pads, 4, 0)
        require_ints("dilations", self.dilations, 2, 1)
        for side, pad in enumerate(self.pads):
            span = extent(self.kernel[side % 2], self.dilations[side % 2])
            if pad >= span:
                raise OperatorError(f"'pads' holds {pad}, which is not below the {span} elements that a window spans")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_rank(x, 4, "the input of a pooling [N, H, W, C]")
        sides = tuple(
            window_count(
                x.shape[1 + axis],
                (self.pads[axis], self.pads[axis + 2]),
                extent(self.kernel[axis], self.dilations[axis]),
                self.strides[axis],
                f"the output's {side}",
                self.ceil_mode,
            )
            for axis, side in enumerate(("height", "width"))
        )
        return (plain(x, (x.shape[0], *sides, x.shape[3])),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if perm == tuple(range(len(perm))) else None

    def output_size(self, size: tuple[int, int]) -> tuple[int, int]:
        """Height and width of the result for an input of this height and width."""
        result = []
        for axis in (0, 1):
            before, after = self.pads[axis], self.pads[axis + 2]
            room = size[axis] + before + after - extent(self.kernel[axis], self.dilations[axis])
            count = room // self.strides[axis] + 1
            if self.ceil_mode:
                count = min(-(-room // self.strides[axis]) + 1, -(-(size[axis] + before) // self.strides[axis]))
            result.append(count)
        return result[0], result[1]

    def overhang(self, size: tuple[int, int], output: tuple[int, int]) -> tuple[int, int]:
        """How many rows and columns behind the padding the last windows reach (0 without `ceil_mode`)."""
        result = []
        for axis in (0, 1):
            reach = (output[axis] - 1) * self.strides[axis] + extent(self.kernel[axis], self.dilations[axis])
            result.append(max(0, reach - size[axis] - self.pads[axis] - self.pads[axis + 2]))
        return result[0], result[1]
