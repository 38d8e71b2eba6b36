"""What one layer says of itself, with the defaults of what it does not say. Nothing is shared between layers."""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.targets.max7800x.description.keys import OPERATIONS
from buildtool.targets.max7800x.description.sections import Section
from buildtool.targets.max7800x.network import Eltwise, Operation, Pool, Size

DEFAULT_KERNEL = {"conv1d": (9,), "conv2d": (3, 3), "convtranspose2d": (3, 3), "linear": (1, 1), "none": (1, 1)}


@dataclass(frozen=True)
class Chosen:
    """A layer on its own; what it takes from other layers, from weights and from the input is still open."""

    section: Section
    operation: Operation
    eltwise: Eltwise | None
    operands: int
    kernel_size: Size
    pad: Size
    stride: Size
    dilation: Size
    output_pad: Size
    pool: Pool | None
    index: int = 0  # in the accelerator
    # by number in the accelerator, or INPUT, BUFFER and STOP of network.py; None: as the layers stand
    sources: tuple[int, ...] | None = None
    next_layer: int | None = None
    weight_source: int | None = None
    simulated_next: int | None = None

    @property
    def has_kernel(self) -> bool:
        return self.operation != "none"

    @property
    def has_own_weights(self) -> bool:
        """Whether the next weights of the checkpoint are its."""
        return self.has_kernel and self.weight_source is None and not self.section.get("bypass", False)


def choose(section: Section) -> Chosen:
    """The layer of a section."""
    work = section.get("operation", OPERATIONS["conv2d"])
    in_flight: Eltwise | None = section.get("eltwise")
    eltwise = in_flight or work.eltwise
    flat = work.operation == "conv1d"
    kernel = section.get("kernel_size", DEFAULT_KERNEL[work.operation])
    transposed = work.operation == "convtranspose2d"
    default_pad = 1 if work.operation in ("conv1d", "conv2d", "convtranspose2d") else 0
    output_pad = section.get("output_pad", int(transposed))
    return Chosen(
        section,
        work.operation,
        eltwise,
        section.get("operands", 2 if eltwise else 1),
        kernel_size=(kernel[0], 1) if flat or len(kernel) == 1 else (kernel[0], kernel[1]),
        pad=_both(section.get("pad", default_pad), 0 if flat else None),
        stride=(2, 2) if transposed else _narrow(section.get("stride", (1, 1)), flat=flat),
        dilation=_narrow(section.get("dilation", (1, 1)), flat=flat),
        output_pad=_both(output_pad, None),
        pool=_pool(section, flat=flat),
    )


def _both(value: int, second: int | None) -> Size:
    return (value, value if second is None else second)


def _narrow(size: Size, *, flat: bool) -> Size:
    """In one dimension there is one column."""
    return (size[0], 1) if flat else size


def _pool(section: Section, *, flat: bool) -> Pool | None:
    size = section.get("max_pool") or section.get("avg_pool")
    stride = section.get("pool_stride", (1, 1))
    if size is None and stride == (1, 1):
        return None
    return Pool(
        "average" if "avg_pool" in section and "max_pool" not in section else "max",
        _narrow(size or (1, 1), flat=flat),
        _narrow(stride, flat=flat),
        _narrow(section.get("pool_dilation", (1, 1)), flat=flat),
    )


def in_one_dimension(pool: Pool) -> Pool:
    """A pool over data of one column."""
    return Pool(
        pool.kind,
        _narrow(pool.size, flat=True),
        _narrow(pool.stride, flat=True),
        _narrow(pool.dilation, flat=True),
    )
