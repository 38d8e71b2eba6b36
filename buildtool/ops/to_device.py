"""to_device: y = x, copied from the host to the device whose region this is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import TensorType


@dataclass(frozen=True)
class ToDevice(Operator):
    """Input x of any type. A border of a device_region."""

    name: ClassVar[str] = "to_device"
    is_view: ClassVar[bool] = True

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        return (x,)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        return (inputs[0].copy(),)
