"""Fourier transforms and complex numbers, whose parts are tensors of their own (importers/complex_parts.py)."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.fourier import check_length, complex_transform, magnitude, real_transform, transform_table
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.importers.tflite.custom_options import NamedOptions
from buildtool.importers.tflite.registry import handler
from buildtool.ir.operator import Array


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


@handler("AudioSpectrogram")
def spectrogram(step: Step) -> Tensor:
    """x[samples, channels] to [channels, frames, frequencies]: products with a table that contains the window."""
    options = NamedOptions(step)
    x = step.check_rank(step.input(0), 2)
    size, hop = options.integer("window_size"), options.integer("stride")
    if size < 2 or hop < 1:
        step.malformed(f"windows of {size} elements every {hop}")
    length = 1 << (size - 1).bit_length()
    check_length(step, size, length)
    turns = np.arange(size) * (2 * np.pi / size)
    table = transform_table(size, length, False, True)[:, 0] * (0.5 - 0.5 * np.cos(turns))[:, None, None]
    filters = table.transpose(2, 1, 0).reshape(-1, 1, size, 1).astype(np.float32)
    samples, channels = x.shape
    picture = step.reshape(step.transpose(x, (1, 0)), (channels, 1, samples, 1))
    window = {"strides": (1, hop), "pads": (0, 0, 0, 0), "dilations": (1, 1)} | NO_ACTIVATION
    y = step.emit("conv2d", picture, step.constant(filters), groups=1, **window)
    real, imaginary = step.emit_all("split", y, axis=3, sizes=(length // 2 + 1,) * 2)
    power = magnitude(step, real, imaginary, options.flag("magnitude_squared", True))
    return step.reshape(power, (channels, y.shape[2], length // 2 + 1))


@handler("Mfcc")
def cepstrum(step: Step) -> Tensor:
    """Inputs: powers [channels, frames, frequencies], the sample rate. The cosine transform of mel bands."""
    options = NamedOptions(step)
    x, rate = step.check_rank(step.input(0), 3), step.known_number(1, "sample rate")
    count = step.size(x, 2)
    low, high = options.real("lower_frequency_limit"), options.real("upper_frequency_limit")
    bands, kept = options.integer("filterbank_channel_count"), options.integer("dct_coefficient_count")
    if (
        not isinstance(count, int)
        or count < 2
        or not 0 <= low < high
        or not 1 <= kept <= bands
        or not 0 < rate < np.inf
    ):
        step.malformed(f"{kept} of {bands} bands between {low} and {high} Hz of {count} frequencies at {rate} Hz")
    step.check_table(count, bands)
    step.check_table(bands, kept)
    weights = step.constant(_mel_bands(count, rate, low, high, bands).astype(np.float32))
    loud = step.emit("matmul", step.emit("sqrt", x), weights)
    least = step.constant(np.array(1e-12, np.float32))
    places = np.outer(np.arange(bands) + 0.5, np.arange(kept)) * (np.pi / bands)
    cosines = step.constant((np.cos(places) * np.sqrt(2 / bands)).astype(np.float32))
    return step.emit("matmul", step.emit("log", step.emit("maximum", loud, least)), cosines)


def _mel_bands(count: int, rate: float, low: float, high: float, bands: int) -> Array:
    """[frequencies, bands]: triangles between the centres of the bands beside each, on the scale of mel."""
    width = 0.5 * rate / (count - 1)
    lowest, highest = 1127 * np.log1p(low / 700), 1127 * np.log1p(high / 700)
    edges = lowest + (highest - lowest) / (bands + 1) * np.arange(bands + 2)
    frequencies = np.arange(count)
    mels = 1127 * np.log1p(frequencies * width / 700)[:, None]
    rising = (mels - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mels) / (edges[2:] - edges[1:-1])
    heard = (frequencies >= int(1.5 + low / width)) & (frequencies <= int(high / width))
    return np.asarray(np.clip(np.minimum(rising, falling), 0, None) * heard[:, None])
