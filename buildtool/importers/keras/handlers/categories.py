"""Layers that turn numbers into categories, and categories into rows of a table."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import as_places, marked
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import array, floating, only
from buildtool.importers.step import Step
from buildtool.ir.types import DType

_MODES = ("int", "one_hot", "multi_hot", "count")


@handler("CategoryEncoding")
def category_encoding(step: Step) -> Tensor:
    return _encoded(
        step, as_places(step, only(step)), step.integer("num_tokens"), step.text("output_mode", "multi_hot")
    )


@handler("Discretization")
def discretization(step: Step) -> Tensor:
    """The category is how many of the bounds are no greater than the number."""
    x = floating(step, only(step))
    stated = step.attribute("bin_boundaries")
    bounds = [number for number in stated if isinstance(number, int | float)] if isinstance(stated, tuple) else []
    if not isinstance(stated, tuple) or not bounds or len(bounds) < len(stated):
        step.malformed("its 'bin_boundaries' are not a list of numbers")
    wide = step.reshape(x, (*x.shape, 1))
    passed = step.emit("less_equal", step.constant(np.array(bounds, x.dtype.numpy)), wide)
    counted = step.emit("reduce_sum", step.emit("cast", passed, to=DType.S32), axes=(x.rank,), keepdims=False)
    mode = step.text("output_mode", "int")
    if mode == "int":
        return counted if step.opset >= 3 else step.emit("cast", counted, to=DType.S64)
    return _encoded(step, counted, len(bounds) + 1, mode)


def _encoded(step: Step, places: Tensor, depth: int, mode: str) -> Tensor:
    """`multi_hot` and `count` take the numbers of a row together."""
    if mode not in _MODES or step.integer("sparse", 0):
        step.unsupported(f"the output mode '{mode}', or a sparse result", f"use one of {', '.join(_MODES)}")
    if not 1 <= depth < 2**24:
        step.malformed(f"{depth} categories")
    if mode == "one_hot" and places.rank > 1 and places.shape[-1] == 1:
        places = step.reshape(places, places.shape[:-1])
    y = marked(step, places, depth, array(step, 1.0), array(step, 0.0), -1)
    if mode == "one_hot":
        return y
    if places.rank < 2:
        step.unsupported(f"'{mode}' of single numbers", "use one_hot, which is the same")
    return step.emit("reduce_sum" if mode == "count" else "reduce_max", y, axes=(places.rank - 1,), keepdims=False)
