"""Random numbers. Without a seed, each node has one that follows from its name: every run gives the same numbers."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.noise import normal, uniform
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.tensors import dtype_of_code
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType


@handler("RandomNormal", "RandomNormalLike")
def random_normal(step: Step) -> Tensor:
    shape, dtype = _form(step)
    return _scaled(step, normal(step, shape, _seed(step)), step.real("scale", 1.0), step.real("mean", 0.0), dtype)


@handler("RandomUniform", "RandomUniformLike")
def random_uniform(step: Step) -> Tensor:
    shape, dtype = _form(step)
    low, high = step.real("low", 0.0), step.real("high", 1.0)
    return _scaled(step, uniform(step, shape, _seed(step)), high - low, low, dtype)


@handler("Bernoulli")
def bernoulli(step: Step) -> Tensor:
    """1 with the probability that the input states."""
    x = step.input(0)
    wanted = dtype_of_code(step.integer("dtype"), step.where) if step.has("dtype") else x.dtype
    chances = x if x.dtype is DType.F32 else step.emit("cast", x, to=DType.F32)
    return step.emit("cast", step.emit("less", uniform(step, x.shape, _seed(step)), chances), to=wanted)


def _form(step: Step) -> tuple[Sequence[Dim], DType]:
    stated = dtype_of_code(step.integer("dtype"), step.where) if step.has("dtype") else None
    if not step.node.op.endswith("Like"):
        return step.integers("shape"), stated or DType.F32
    x = step.input(0)
    dtype = stated or x.dtype
    if not dtype.is_float:
        step.malformed(f"random numbers of type {dtype.value}")
    return x.shape, dtype


def _seed(step: Step) -> int:
    """A number of the seed, which is a float, or of the name."""
    if step.has("seed"):
        return int.from_bytes(struct.pack("<f", step.real("seed")), "little")
    return zlib.crc32(step.node.name.encode())


def _scaled(step: Step, x: Tensor, factor: float, shift: float, dtype: DType) -> Tensor:
    if factor != 1:
        x = step.emit("mul", x, step.constant(np.array(factor, np.float32)))
    if shift:
        x = step.emit("add", x, step.constant(np.array(shift, np.float32)), **NO_ACTIVATION)
    return x if dtype is DType.F32 else step.emit("cast", x, to=dtype)
