"""Resizes of images."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.resizing import bilinear, nearest
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import real, stored


@handler("RESIZE_BILINEAR")
def resize_bilinear(step: Step) -> Tensor:
    return stored(step, bilinear(step, real(step, 0)))


@handler("RESIZE_NEAREST_NEIGHBOR")
def resize_nearest(step: Step) -> Tensor:
    return nearest(step, step.input(0))
