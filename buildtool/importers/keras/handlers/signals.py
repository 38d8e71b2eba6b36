"""Spectra of sounds as convolutions whose filters are waves, and the contrast of pictures."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import (
    array,
    channels_last,
    floating,
    is_channels_first,
    number,
    only,
    plus,
    weight,
    whole,
)
from buildtool.importers.spatial import NO_ACTIVATION, fixed_pads, same_pads
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import Dim
from buildtool.ir.operator import Array

_LEAST = 1e-7  # what Keras takes instead of 0
_MOST_NUMBERS = 2**24  # of a table
_MEL = 1127.0, 700.0  # of the scale: factor, and the frequency from which it is no longer straight


# -- spectrograms with weights of their own ----------------------------------------------------------------------------
@handler("STFTSpectrogram")
def spectrogram(step: Step) -> Tensor:
    """Each channel for itself. The filters are weights [frame, 1, frequencies], which may have been trained."""
    x, mode = floating(step, only(step)), step.text("mode", "log")
    if x.rank != 3:
        step.malformed(f"its input has rank {x.rank}, not 3")
    x = x if is_channels_first(step) else step.transpose(x, (0, 2, 1))
    match mode:
        case "real" | "imag":
            y = _waves(step, x, mode)
        case "stft":
            y = step.emit("concat", _waves(step, x, "real"), _waves(step, x, "imag"), axis=3)
        case "psd" | "magnitude" | "log":
            y = _strength(step, x, mode)
        case _:
            step.unsupported(f"the mode '{mode}'", "use real, imag, stft, psd, magnitude or log")
    if step.integer("expand_dims", 0):
        return y if is_channels_first(step) else step.transpose(y, (0, 2, 3, 1))
    batch, depth, count, waves = y.shape
    flat = step.reshape(step.transpose(y, (0, 1, 3, 2)), (batch, depth * waves, count))
    return flat if is_channels_first(step) else step.transpose(flat, (0, 2, 1))


def _strength(step: Step, x: Tensor, mode: str) -> Tensor:
    """How much of each frequency there is; those between the ends stand for two."""
    real, imaginary = _waves(step, x, "real"), _waves(step, x, "imag")
    power = plus(step, step.emit("mul", real, real), step.emit("mul", imaginary, imaginary))
    if mode == "psd":
        waves = power.shape[3]
        if not isinstance(waves, int):
            step.malformed("its filters have no size")
        twice = np.full(waves, 2.0)
        twice[[0, -1]] = 1.0
        return step.emit("mul", power, array(step, twice))
    y = step.emit("sqrt", step.emit("maximum", power, array(step, _LEAST)))
    return y if mode == "magnitude" else step.emit("log", step.emit("maximum", y, array(step, _LEAST)))


def _waves(step: Step, x: Tensor, part: str) -> Tensor:
    """[N, C, frames, frequencies] of [N, C, length]."""
    kernel = weight(step, f"{part}_kernel")
    if kernel.rank != 3 or kernel.shape[1] != 1 or not isinstance(kernel.shape[0], int):
        step.malformed(f"its filters have the shape {list(kernel.shape)}")
    hop = whole(step, "frame_step") or kernel.shape[0] // 2
    if hop < 1:
        step.malformed(f"a frame every {hop} elements")
    length = x.shape[2]
    pads: tuple[int, ...] = (0, 0, 0, 0)
    if step.text("padding", "valid") == "same":
        pads = fixed_pads(step, same_pads(step, (1, length), (1, kernel.shape[0]), (1, hop), (1, 1)))
    filters = step.reshape(step.transpose(kernel, (2, 1, 0)), (kernel.shape[2], 1, kernel.shape[0], 1))
    return _filtered(step, x, filters, hop, pads)


def _filtered(step: Step, x: Tensor, filters: Tensor, hop: int, pads: tuple[int, ...]) -> Tensor:
    batch, depth, length = x.shape
    picture = step.reshape(x, (batch * depth, 1, length, 1))
    window: dict[str, AttrValue] = {"strides": (1, hop), "pads": pads, "dilations": (1, 1), "groups": 1}
    y = step.emit("conv2d", picture, filters, **window, **NO_ACTIVATION)
    return step.reshape(y, (batch, depth, y.shape[2], y.shape[3]))


# -- spectrograms on the scale of mel ----------------------------------------------------------------------------------
@handler("MelSpectrogram")
def mel_spectrogram(step: Step) -> Tensor:
    """The sound is continued by its mirror image, so that frames stand around their places."""
    x, rank = floating(step, only(step)), only(step).rank
    length, hop = whole(step, "fft_length", 2048), whole(step, "sequence_stride", 512)
    frame, waves = whole(step, "sequence_length") or length, length // 2 + 1
    if rank not in (1, 2) or not 1 <= frame <= length or hop < 1 or length * waves > _MOST_NUMBERS:
        step.malformed(f"frames of {frame} elements every {hop} of an input {list(x.shape)}, in {length} places")
    batch: Dim = x.shape[0] if rank == 2 else 1
    x = step.reshape(x, (batch, 1, x.shape[-1]))
    x = step.emit("pad", x, before=(0, 0, length // 2), after=(0, 0, length // 2), mode="reflect", value=0.0)
    filters = step.constant(_table(step, length, frame).astype(np.float32))
    real, imaginary = step.emit_all("split", _filtered(step, x, filters, hop, (0,) * 4), axis=3, sizes=(waves, waves))
    y = plus(step, step.emit("mul", real, real), step.emit("mul", imaginary, imaginary))
    power = number(step, "mag_exp", 2.0) / 2
    if power != 1:
        y = step.emit("sqrt", y) if power == 0.5 else step.emit("pow", y, array(step, power))
    y = step.emit("matmul", y, step.constant(_mel_table(step, waves).astype(np.float32)))
    if step.integer("power_to_db", 1):
        y = _decibels(step, y)
    _, _, count, bands = y.shape
    y = step.transpose(step.reshape(y, (batch, count, bands)), (0, 2, 1))
    return y if rank == 2 else step.reshape(y, (bands, count))


def _table(step: Step, length: int, frame: int) -> Array:
    """[2 * frequencies, 1, places, 1]: the waves under the window, which is in the middle of the places."""
    turns = np.arange(frame) * (2 * np.pi / frame)
    match step.text("window", "hann"):
        case "hann":
            window = 0.5 - 0.5 * np.cos(turns)
        case "hamming":
            window = 0.54 - 0.46 * np.cos(turns)
        case other:
            step.unsupported(f"the window '{other}'", "use hann or hamming")
    before = (length - frame) // 2
    whole_window = np.pad(window, (before, length - frame - before))
    angles = (np.outer(np.arange(length // 2 + 1), np.arange(length)) % length) * (2 * np.pi / length)
    waves = np.concatenate([np.cos(angles), -np.sin(angles)]) * whole_window
    return np.asarray(waves[:, None, :, None])


def _mel_table(step: Step, waves: int) -> Array:
    """[frequencies, bands]: triangles of even width on the scale of mel, without the lowest frequency."""
    bands, rate = whole(step, "num_mel_bins", 128), number(step, "sampling_rate", 16000)
    low, high = number(step, "min_freq", 20.0), number(step, "max_freq", rate / 2)
    factor, straight = _MEL
    if (
        not 1 <= bands * waves <= _MOST_NUMBERS
        or not 0 < rate < math.inf
        or high == math.inf
        or not -straight < low < high
    ):
        step.malformed(f"{bands} bands between {low} and {high} Hz at {rate} Hz")
    scale = factor * np.log(1 + np.linspace(0, rate / 2, waves)[1:, None] / straight)
    first, last = (factor * float(np.log(1 + edge / straight)) for edge in (low, high))
    edges = np.linspace(first, last, bands + 2)
    rising = (scale - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - scale) / (edges[2:] - edges[1:-1])
    return np.pad(np.maximum(0, np.minimum(rising, falling)), ((1, 0), (0, 0)))


def _decibels(step: Step, y: Tensor) -> Tensor:
    """Beside the reference, and not further below the loudest number than the layer allows."""
    least = number(step, "min_power", 1e-10)
    reference = max(abs(number(step, "ref_power", 1.0)), least)
    loud = step.emit("log", step.emit("maximum", y, array(step, least)))
    y = plus(step, step.emit("mul", loud, array(step, 10 / np.log(10))), array(step, -10 * np.log10(reference)))
    floor = step.emit("reduce_max", y, axes=tuple(range(y.rank)), keepdims=True)
    return step.emit("maximum", y, plus(step, floor, array(step, -number(step, "top_db", 80.0))))


# -- pictures ----------------------------------------------------------------------------------------------------------
@handler("AutoContrast")
def contrast(step: Step) -> Tensor:
    """Each channel is stretched over the whole range; one that is the same everywhere stays as it is."""
    x = channels_last(step, floating(step, only(step)), 2)
    bounds = step.attribute("value_range")
    numbers = [item for item in bounds if isinstance(item, int | float)] if isinstance(bounds, tuple) else [0, 255]
    if len(numbers) != 2:
        step.malformed("its 'value_range' does not have two numbers")
    low, high = (step.emit(op, x, axes=(1, 2), keepdims=True) for op in ("reduce_min", "reduce_max"))
    span = step.emit("sub", high, low)
    wide = numbers[1] - numbers[0]
    share = step.emit("div", step.emit("sub", x, low), span)
    stretched = plus(step, step.emit("mul", share, array(step, wide)), array(step, numbers[0]))
    y = step.emit("where", step.emit("less", array(step, 0.0), span), stretched, x)
    return step.transpose(y, (0, 3, 1, 2)) if is_channels_first(step) else y
