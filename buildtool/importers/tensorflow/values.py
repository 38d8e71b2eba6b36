"""What the operators of TensorFlow have in common: orders of axes, windows, element types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import same_pads
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.tensors import dtype_of_code
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType

_LAST, _FIRST = ("NHWC", "NDHWC", "NWC"), ("NCHW", "NCDHW", "NCW")


def element_type(step: Step, attribute: str, default: int | None = None) -> DType:
    """The element type that an attribute names."""
    return dtype_of_code(step.integer(attribute, default), step.where)


@dataclass(frozen=True)
class Picture:
    """Where a spatial operator has its axes: its input and output, its lists of strides and the like."""

    step: Step
    rank: int
    first: bool  # channels stand before the spatial axes

    @classmethod
    def of(cls, step: Step, tensor: Tensor, rank: int) -> Picture:
        """By the attribute `data_format`."""
        stated = step.text("data_format", "NHWC")
        if stated not in (*_LAST, *_FIRST):
            step.unsupported(f"the data format {stated}", "use NHWC or NCHW")
        if tensor.rank != rank:
            step.malformed(f"its input has rank {tensor.rank}, not {rank}")
        return cls(step, rank, stated in _FIRST)

    def last(self, tensor: Tensor) -> Tensor:
        """The tensor with its channels last."""
        return self.step.transpose(tensor, (0, *range(2, self.rank), 1)) if self.first else tensor

    def back(self, tensor: Tensor) -> Tensor:
        """The way back to the order of the operator."""
        return self.step.transpose(tensor, (0, self.rank - 1, *range(1, self.rank - 1))) if self.first else tensor

    def spatial(self, name: str, values: Sequence[int]) -> tuple[int, ...]:
        """What a list with an entry for each axis says of the spatial ones: positive numbers, and 1 for the others."""
        if len(values) == 1:
            sides = (values[0],) * (self.rank - 2)
            values = (1, 1, *sides) if self.first else (1, *sides, 1)
        if len(values) != self.rank or min(values) < 1:
            self.step.malformed(f"'{name}' is {list(values)}, not {self.rank} positive numbers")
        inner = tuple(values[2:] if self.first else values[1:-1])
        if any(value != 1 for value in (values[0], values[1] if self.first else values[-1])):
            self.step.unsupported(f"'{name}' is {list(values)}", "windows over images or channels are not supported")
        return inner

    def listed(self, name: str) -> tuple[int, ...]:
        """The same of an attribute, with 1 where it is not stated."""
        return self.spatial(name, self.step.integers(name, (1,) * self.rank))

    def pads(
        self, sizes: Sequence[Dim], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
    ) -> tuple[Dim, ...]:
        """What stands before all spatial axes, and what behind them."""
        padding = self.step.text("padding")
        if padding == "SAME":
            return same_pads(self.step, sizes, kernel, strides, dilations)
        return self.explicit_pads(padding)

    def explicit_pads(self, padding: str) -> tuple[int, ...]:
        """Those that do not depend on sizes."""
        count = self.rank - 2
        if padding == "VALID":
            return (0,) * (2 * count)
        stated = self.step.integers("explicit_paddings", ())
        if padding != "EXPLICIT" or len(stated) != 2 * self.rank or min(stated) < 0:
            self.step.malformed(f"the padding is '{padding}' with {list(stated)}")
        inner = stated[4:] if self.first else stated[2:-2]
        return (*inner[::2], *inner[1::2])
