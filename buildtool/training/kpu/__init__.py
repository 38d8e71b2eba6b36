"""Layers of the K210 in training: the KPU's bytes, from the definition that its simulator uses."""

from buildtool.training.kpu.joining import Add, Concat
from buildtool.training.kpu.layers import Conv2d, GlobalAverage, Linear

__all__ = ["Add", "Concat", "Conv2d", "GlobalAverage", "Linear"]
