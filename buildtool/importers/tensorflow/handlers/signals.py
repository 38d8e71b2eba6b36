"""Fourier transforms and complex numbers, whose parts are tensors of their own (importers/complex_parts.py)."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.composed import angle_of
from buildtool.importers.fourier import complex_transform, inverse_real_transform, magnitude, real_transform
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.complex_operators import FROM_COMPLEX, TO_COMPLEX
from buildtool.importers.tensorflow.registry import handler
from buildtool.importers.tensorflow.values import element_type
from buildtool.ir.types import DType


@handler("RFFT")
def of_real(step: Step) -> tuple[Tensor, ...]:
    return real_transform(step, step.input(0), step.known_int(1, "fft_length"))


@handler("IRFFT")
def to_real(step: Step) -> Tensor:
    return inverse_real_transform(step, _parts(step), step.known_int(2, "fft_length"))


@handler("FFT", "IFFT")
def of_complex(step: Step) -> tuple[Tensor, ...]:
    parts = _parts(step)
    size = step.size(parts[0], -1)
    if not isinstance(size, int):
        step.unsupported(f"a transform along an axis of {size} elements", "fix the input shapes")
    return complex_transform(step, parts, size, step.node.op == "IFFT")


@handler("ComplexAbs")
def absolute(step: Step) -> Tensor:
    return magnitude(step, *_parts(step))


@handler("Angle")
def angle(step: Step) -> Tensor:
    real, imaginary = _parts(step)
    return angle_of(step, imaginary, real)


@handler("Real", "Imag")
def part(step: Step) -> Tensor:
    return _parts(step)[0 if step.node.op == "Real" else 1]


@handler("Complex")
def joined(step: Step) -> tuple[Tensor, ...]:
    return _parts(step)


@handler("Conj")
def conjugate(step: Step) -> tuple[Tensor, ...]:
    real, imaginary = _parts(step)
    return real, step.emit("neg", imaginary)


@handler(TO_COMPLEX)
def as_complex(step: Step) -> tuple[Tensor, ...]:
    x = step.input(0)
    x = x if x.dtype is DType.F32 else step.emit("cast", x, to=DType.F32)
    return x, step.emit("mul", x, step.constant(np.array(0, np.float32)))


@handler(FROM_COMPLEX)
def as_real(step: Step) -> Tensor:
    x, wanted = step.input(0), element_type(step, "DstT")
    return x if x.dtype is wanted else step.emit("cast", x, to=wanted)


@handler("Mul of complex numbers")
def product(step: Step) -> tuple[Tensor, ...]:
    return _product(step, step.input(0), step.input(1), step.input(2), step.input(3))


@handler("Square of complex numbers")
def square(step: Step) -> tuple[Tensor, ...]:
    return _product(step, *_parts(step), *_parts(step))


@handler("Div of complex numbers", "RealDiv of complex numbers")
def quotient(step: Step) -> tuple[Tensor, ...]:
    c, d = step.input(2), step.input(3)
    size = step.emit("add", step.emit("mul", c, c), step.emit("mul", d, d), **NO_ACTIVATION)
    parts = _product(step, *_parts(step), c, step.emit("neg", d))
    return tuple(step.emit("div", part, size) for part in parts)


@handler("Exp of complex numbers")
def exponential(step: Step) -> tuple[Tensor, ...]:
    real, imaginary = _parts(step)
    size = step.emit("exp", real)
    return tuple(step.emit("mul", size, step.emit(turn, imaginary)) for turn in ("cos", "sin"))


def _product(step: Step, a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, ...]:
    real = step.emit("sub", step.emit("mul", a, c), step.emit("mul", b, d))
    return real, step.emit("add", step.emit("mul", a, d), step.emit("mul", b, c), **NO_ACTIVATION)


def _parts(step: Step) -> tuple[Tensor, Tensor]:
    return step.input(0), step.input(1)
