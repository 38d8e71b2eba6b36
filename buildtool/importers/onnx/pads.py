"""The paddings of convolutions and pools, whichever way a node states them."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import lifted, same_pads, spatial_sizes
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim


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
) -> tuple[Dim, ...]:
    """`pads`, or what `auto_pad` asks for."""
    mode = step.text("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        return explicit_pads(step, tensor.rank - 2)
    if mode == "VALID":
        return (0,) * (2 * len(kernel))
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        step.malformed(f"the attribute 'auto_pad' is '{mode}'")
    return same_pads(step, spatial_sizes(tensor), kernel, strides, dilations, more_behind=mode == "SAME_UPPER")
