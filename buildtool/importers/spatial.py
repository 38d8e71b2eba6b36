"""What convolutions, pools and resizes share: channels-last wrapping, one-dimensional forms, paddings.

The graph's spatial operators have two spatial axes (convolutions also three), channels last. Tensors of frameworks with
channels first are transposed on the way in, and [N, C, L] becomes [N, 1, L, C], so that everything here has one entry
for each of two or more axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim, maximum

#: Attributes are always written in full; importers never fuse.
NO_ACTIVATION: dict[str, AttrValue] = {"activation": "none", "activation_alpha": 0.0, "activation_beta": 0.0}


def spatial_rank(step: Step, tensor: Tensor, most: int = 2) -> int:
    """How many spatial axes the tensor has: 1 to `most`."""
    if tensor.rank < 3:
        step.malformed(f"its input has rank {tensor.rank}, not batch, channels and spatial axes")
    if tensor.rank - 2 > most:
        step.unsupported(f"its input has {tensor.rank - 2} spatial axes", f"up to {most} spatial axes are supported")
    return tensor.rank - 2


def channels(step: Step, tensor: Tensor, axis: int = 1) -> int:
    """The number of channels, which is never a run-time dimension."""
    count = step.size(tensor, axis)
    if not isinstance(count, int) or count < 1:
        step.unsupported(f"the number of channels is {count}", "fix the channels in the input shapes")
    return count


def to_channels_last(step: Step, tensor: Tensor) -> Tensor:
    """[N, C, H, W] -> [N, H, W, C], for any number of spatial axes; [N, C, L] -> [N, 1, L, C]."""
    if tensor.rank < 3:
        step.malformed(f"its input has rank {tensor.rank}, not batch, channels and spatial axes")
    moved = step.transpose(tensor, (0, *range(2, tensor.rank), 1))
    if tensor.rank > 3:
        return moved
    batch, length, count = moved.shape
    return step.reshape(moved, (batch, 1, length, count))


def from_channels_last(step: Step, tensor: Tensor, rank: int) -> Tensor:
    """The way back to a tensor of the source's rank."""
    if rank == 3:
        batch, _, length, count = tensor.shape
        tensor = step.reshape(tensor, (batch, length, count))
    return step.transpose(tensor, (0, rank - 1, *range(1, rank - 1)))


def channels_first(step: Step, tensor: Tensor) -> Tensor:
    """[N, ..., C] -> [N, C, ...]."""
    return step.transpose(tensor, (0, tensor.rank - 1, *range(1, tensor.rank - 1)))


def channels_last(step: Step, tensor: Tensor) -> Tensor:
    """[N, C, ...] -> [N, ..., C]."""
    return step.transpose(tensor, (0, *range(2, tensor.rank), 1))


def lifted(values: Sequence[int], fill: int) -> tuple[int, ...]:
    """One entry per spatial axis, for at least two axes."""
    return (fill, *values) if len(values) == 1 else tuple(values)


def per_axis(step: Step, name: str, rank: int, default: int = 1) -> tuple[int, ...]:
    """An attribute with one positive number per spatial axis, for at least two axes."""
    values = step.integers(name, [default] * rank)
    if len(values) != rank or any(value < 1 for value in values):
        step.malformed(f"the attribute '{name}' is {list(values)}, not {rank} positive numbers")
    return lifted(values, 1)


def spatial_sizes(tensor: Tensor) -> tuple[Dim, ...]:
    """The spatial sizes of a source tensor [N, C, ...], for at least two axes."""
    return (1, tensor.shape[2]) if tensor.rank == 3 else tensor.shape[2:]


def same_pads(
    step: Step,
    sizes: Sequence[Dim],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    more_behind: bool = True,
) -> tuple[Dim, ...]:
    """Paddings that give ceil(size / stride) windows; where they are odd, the larger half stands behind or before.

    They depend on sizes where the stride is above 1: `windows.windowed` takes those of run-time sizes.
    """
    before: list[Dim] = []
    after: list[Dim] = []
    for size, width, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        extent = (width - 1) * dilation + 1
        if stride == 1:
            total: Dim = extent - 1
        elif isinstance(size, int):
            total = max((-(-size // stride) - 1) * stride + extent - size, 0)
        else:  # the last window begins at the last multiple of the stride
            total = maximum((extent - 1) - (size + (stride - 1)) % stride, 0)
        small, large = total // 2, (total + 1) // 2
        before.append(small if more_behind else large)
        after.append(large if more_behind else small)
    return (*before, *after)


def fixed_pads(step: Step, pads: AttrValue) -> tuple[int, ...]:
    """The paddings of an operator that takes none of run-time sizes."""
    fixed = tuple(pad for pad in pads if isinstance(pad, int)) if isinstance(pads, tuple) else ()
    if fixed != pads:
        step.unsupported(
            "paddings that depend on a run-time size, with a stride", "export the model with explicit pads"
        )
    return fixed
