"""What convolutions, pools and resizes share: channels-last wrapping, one-dimensional forms, paddings.

The graph's spatial operators have two spatial axes (convolutions also three). A tensor [N, C, L] becomes [N, 1, L, C]
on the way in, so that everything here has one entry for each of two or more axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim

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
    count = tensor.shape[axis]
    if not isinstance(count, int) or count < 1:
        step.unsupported(f"the number of channels is {count}", "fix the channels in the input shapes")
    return count


def to_channels_last(step: Step, tensor: Tensor) -> Tensor:
    """[N, C, H, W] -> [N, H, W, C], for any number of spatial axes; [N, C, L] -> [N, 1, L, C]."""
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


def explicit_pads(step: Step, rank: int) -> tuple[int, ...]:
    """The attribute `pads`: the amounts before all axes, then those behind them."""
    pads = step.integers("pads", [0] * (2 * rank))
    if len(pads) != 2 * rank:
        step.malformed(f"the attribute 'pads' has {len(pads)} numbers, not {2 * rank}")
    if any(pad < 0 for pad in pads):
        step.unsupported("negative pads", "crop with a Slice instead")
    return (*lifted(pads[:rank], 0), *lifted(pads[rank:], 0))


def pads_of(
    step: Step, tensor: Tensor, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[int, ...]:
    """The paddings of a convolution or pool, whichever way the node states them."""
    mode = step.text("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        return explicit_pads(step, tensor.rank - 2)
    if mode == "VALID":
        return (0,) * (2 * len(kernel))
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        step.malformed(f"the attribute 'auto_pad' is '{mode}'")
    before, after = [], []
    for size, width, stride, dilation in zip(spatial_sizes(tensor), kernel, strides, dilations, strict=True):
        extent = (width - 1) * dilation + 1
        if stride == 1:
            total = extent - 1
        elif isinstance(size, int):
            total = max((-(-size // stride) - 1) * stride + extent - size, 0)
        else:
            step.unsupported("auto_pad with a run-time size and a stride", "export the model with explicit pads")
        small, large = total // 2, total - total // 2
        before.append(small if mode == "SAME_UPPER" else large)
        after.append(large if mode == "SAME_UPPER" else small)
    return (*before, *after)
