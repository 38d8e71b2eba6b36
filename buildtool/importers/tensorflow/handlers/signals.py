"""Fourier transforms and complex numbers, whose parts are tensors of their own (importers/complex_parts.py)."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.composed import angle_of
from buildtool.importers.fourier import complex_transform, inverse_real_transform, magnitude, real_transform
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler


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


def _parts(step: Step) -> tuple[Tensor, Tensor]:
    return step.input(0), step.input(1)
