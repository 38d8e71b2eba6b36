"""Fourier transforms and complex numbers, whose parts are tensors of their own (importers/complex_parts.py)."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.fourier import complex_transform, magnitude, real_transform
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler


@handler("RFFT2D")
def of_real(step: Step) -> tuple[Tensor, ...]:
    """Along the last two axes; converters write transforms along the last one with a single row."""
    x = step.input(0)
    lengths = step.known_ints(1, "fft_length")
    if x.rank < 2 or len(lengths) != 2:
        step.malformed(f"{len(lengths)} lengths of transforms of a tensor of rank {x.rank}")
    parts = real_transform(step, x, lengths[1])
    if x.shape[-2] == lengths[0] == 1:
        return parts
    turn = (*range(x.rank - 2), x.rank - 1, x.rank - 2)
    turned = [step.transpose(part, turn) for part in parts]
    return tuple(step.transpose(part, turn) for part in complex_transform(step, turned, lengths[0], False))


@handler("COMPLEX_ABS")
def absolute(step: Step) -> Tensor:
    return magnitude(step, step.input(0), step.input(1))


@handler("REAL", "IMAG")
def part(step: Step) -> Tensor:
    return step.input(0 if step.node.op == "REAL" else 1)
