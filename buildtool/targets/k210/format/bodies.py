"""Which body each number of a layer has."""

from __future__ import annotations

from buildtool.targets.k210.format.cpu_layers import (
    Add,
    AvgPool,
    ChannelwiseDequant,
    Concat,
    Dequantize,
    Flatten,
    FullyConnected,
    Gap,
    L2Norm,
    Logistic,
    QAdd,
    QConcat,
    QFlatten,
    QMaxPool,
    QResizeNn,
    Quantize,
    Requantize,
    ResizeNn,
    Softmax,
)
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, RemovePadding, Upload
from buildtool.targets.k210.format.layer import Layer, LayerType

BODIES: dict[LayerType, type[Layer]] = {
    kind.TYPE: kind
    for kind in (
        Add, QAdd, Gap, QMaxPool, AvgPool, Quantize, Dequantize, Requantize, L2Norm, Softmax, Concat, QConcat,
        FullyConnected, Flatten, QFlatten, ResizeNn, QResizeNn, ChannelwiseDequant, Logistic, Conv, AddPadding,
        RemovePadding, Upload,
    )
}  # fmt: skip
