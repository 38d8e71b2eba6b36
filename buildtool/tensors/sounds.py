"""Sounds as arrays of samples and channels, from WAV files."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

from buildtool.errors import RunError, Where
from buildtool.tensors.recipe import Array, Recipe
from buildtool.wording import near_files

SUFFIXES = (".wav",)
_CONVERT = "convert it: sox {file} -b 16 -e signed-integer converted.wav"
_MOST_NUMBERS = 1 << 25  # samples of all channels, in double precision: 256 MiB


def sound(file: Path, recipe: Recipe) -> Array:
    """The samples of a file, from -1 to 1, in the length of the recipe; all channels."""
    where = Where(file=str(file))
    try:
        with wave.open(str(file), "rb") as reader:
            rate, channels, width = reader.getframerate(), reader.getnchannels(), reader.getsampwidth()
            there = min(reader.getnframes(), file.stat().st_size // (channels * width))  # the header may say more
            count = there if recipe.length is None else recipe.length
            recipe.refuse_many(count * channels, file, "give its length in samples: --length N", _MOST_NUMBERS)
            data = reader.readframes(min(count, there))
    except FileNotFoundError as problem:
        raise RunError(
            "this file does not exist", where=where, remedy=near_files(file) or "correct the path"
        ) from problem
    except (wave.Error, EOFError, ValueError, RuntimeError) as problem:
        what = str(problem) or "it ends too early"
        raise RunError(
            f"this is not a WAV file: {what}",
            where=where,
            rule="a WAV file with integer samples (PCM)",
            remedy=_CONVERT.format(file=file.name),
        ) from problem
    if width > 4:
        raise RunError(
            f"the audio has samples of {8 * width} bits",
            where=where,
            rule="8, 16, 24 or 32 bits",
            remedy=_CONVERT.format(file=file.name),
        )
    if recipe.rate is not None and rate != recipe.rate:
        raise RunError(
            f"the audio has {rate} samples per second",
            where=where,
            rule=f"--rate {recipe.rate}",
            remedy=f"convert it: sox {file.name} -r {recipe.rate} converted.wav",
        )
    frame = channels * width
    samples = _samples(data[: len(data) // frame * frame], width).reshape(-1, channels)
    return samples if recipe.length in (None, len(samples)) else _of_length(samples, recipe.length)


def _samples(data: bytes, width: int) -> Array:
    """WAV has unsigned numbers of 8 bits, and signed ones of 16, 24 and 32."""
    if width == 1:
        return (np.frombuffer(data, np.uint8).astype(np.float64) - 128.0) / 128.0
    wide = np.zeros((len(data) // width, 4), np.uint8)
    wide[:, 4 - width :] = np.frombuffer(data, np.uint8).reshape(-1, width)  # the upper bytes, so that signs stay
    signed: Array = wide.view("<i4")[:, 0]
    return signed.astype(np.float64) / 2.0**31


def _of_length(samples: Array, length: int) -> Array:
    missing = max(0, length - len(samples))
    return np.pad(samples[:length], ((0, missing), (0, 0)))
