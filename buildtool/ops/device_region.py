"""device_region: a part of a graph that a device runs in one go, a GPU or DSP; machines without one run it as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, Body, Operator, OperatorError, RegionType
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import require_one_of


@dataclass(frozen=True, kw_only=True)
class DeviceRegion(Operator):
    """Inputs: for a DSP, the program that the part becomes there, constant bytes (native/hexagon/part_program.h); for a
    GPU none. The region reads what is around it, through `to_device`; its outputs come from `from_device`.

    `memory`: what tensors live in on the device, if they fit: image or buffer. `storage`: how many bits numbers have
    there, f32 or f16. `arithmetic`: f32, or f16 where the device can. `winograd`: the largest tile of Winograd's
    convolutions, 0 for none. `opencl_queue_window_size`: the most commands in the device's queue; 0: any number.
    `kernel_microseconds`: longer kernels are cut into parts of about this length; 0: none are.
    """

    name: ClassVar[str] = "device_region"
    arity: ClassVar[tuple[int, int | None]] = (0, 1)
    outputs: ClassVar[int | None] = None
    regions: ClassVar[int] = 1
    gives_as_stored: ClassVar[bool] = True

    memory: str = "image"
    storage: str = "f32"
    arithmetic: str = "f32"
    winograd: int = 0
    opencl_queue_window_size: int = 0
    kernel_microseconds: int = 0

    def check(self) -> None:
        require_one_of("memory", self.memory, ("image", "buffer"))
        require_one_of("storage", self.storage, ("f32", "f16"))
        require_one_of("arithmetic", self.arithmetic, ("f32", "f16"))
        if self.winograd not in (0, 2, 4):
            raise OperatorError("'winograd' is 0, 2 or 4")
        if self.opencl_queue_window_size < 0 or self.kernel_microseconds < 0:
            raise OperatorError("'opencl_queue_window_size' and 'kernel_microseconds' are not negative")

    def infer_node(self, inputs: Sequence[TensorType], regions: Sequence[RegionType]) -> tuple[TensorType, ...]:
        self.operands(inputs)
        (body,) = regions
        if body.inputs:
            raise OperatorError("the region has inputs, but no values for them")
        return body.outputs

    def reference_node(self, inputs: Sequence[Array], bodies: Sequence[Body]) -> tuple[Array, ...]:
        (body,) = bodies
        return tuple(body.run(()))
