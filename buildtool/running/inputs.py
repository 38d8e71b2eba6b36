"""What a model is fed: files of the user, or random numbers that are the same on every machine."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from buildtool.errors import RunError, Where
from buildtool.ir.types import DType
from buildtool.running.metrics import Array
from buildtool.tensors.files import is_media, is_picture, saved, tensor
from buildtool.tensors.recipe import Recipe
from buildtool.wording import did_you_mean, near_files

NPY_MAGIC = b"\x93NUMPY"
ZIP_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True)
class TensorSpec:
    """An input or output as the deployment file declares it; `shape` is in the order of `data_format`.

    Where sizes may vary, `shape` holds their upper and `least` their lower bounds.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    data_format: str = "NONE"
    value_range: tuple[float, float] = (-1.0, 1.0)
    source_name: str = ""  # in the source model, where it differs from the name that users see
    source_format: str = ""  # in which the source model has it, where that is known
    least: tuple[int, ...] = ()  # empty: no size varies

    def admits(self, shape: Sequence[int]) -> bool:
        """Whether an array of this shape lies inside the bounds of sizes that may vary."""
        sizes = zip(shape, self.least, self.shape, strict=False)
        return len(shape) == len(self.least) and all(low <= size <= high for size, low, high in sizes)


def random_inputs(specs: Sequence[TensorSpec], seed: int) -> dict[str, Array]:
    """Numbers inside the declared ranges. Each input has a stream of its own, so that order does not matter."""
    return {spec.name: _random(spec, seed) for spec in specs}


def _random(spec: TensorSpec, seed: int) -> Array:
    generator = np.random.default_rng([seed, zlib.crc32(spec.name.encode())])
    low, high = spec.value_range
    if spec.dtype is DType.BOOL:
        return generator.integers(0, 2, spec.shape).astype(np.bool_)
    if spec.dtype.is_integer:
        least, most = _integer_limits(spec.dtype)
        first, last = max(int(np.ceil(low)), least), min(int(np.floor(high)), most)
        return generator.integers(first, max(first, last), spec.shape, endpoint=True).astype(spec.dtype.numpy)
    return generator.uniform(low, high, spec.shape).astype(spec.dtype.numpy)


def _integer_limits(dtype: DType) -> tuple[int, int]:
    bits = 8 * dtype.itemsize
    return (0, 2**bits - 1) if dtype.value.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def read_array(file: Path, spec: TensorSpec) -> Array:
    """A tensor from a .npy file, a picture, a sound, or raw little-endian numbers. Shapes may differ by ones only."""
    where = Where(file=str(file), value=spec.name)
    if not file.exists():
        raise RunError(
            "this file does not exist",
            where=where,
            rule="relative paths on the command line start at the current folder",
            remedy=near_files(file) or "correct the path",
        )
    if is_media(file):
        return fit(_from_media(file, spec, where), spec, where)
    data = file.read_bytes()
    if data.startswith(NPY_MAGIC):
        array = saved(file)
    elif data.startswith(ZIP_MAGIC):
        raise RunError(
            "this is an .npz or another archive, and not one array",
            where=where,
            rule=f"the data of an input is a .npy, an image, audio, or {spec.dtype.value} numbers without a header",
            remedy="write the array with numpy.save: np.save('FILE.npy', np.load('FILE.npz')['NAME'])",
        )
    else:
        expected = int(np.prod(spec.shape)) * spec.dtype.itemsize
        if len(data) != expected or spec.dtype is DType.BF16:
            raise RunError(
                f"a raw file of {len(data)} bytes does not fit {spec.dtype.value}{list(spec.shape)} ({expected} bytes)",
                where=where,
                remedy="write the array with numpy.save, which keeps type and shape",
            )
        array = np.frombuffer(data, spec.dtype.numpy.newbyteorder("<"))
    return fit(array, spec, where)


def _from_media(file: Path, spec: TensorSpec, where: Where) -> Array:
    """A picture in the size of the tensor, its 0 to 255 spread over the range of real numbers; or a sound."""
    low, high = spec.value_range
    spread = not spec.dtype.is_integer and low < high
    mean, scale = (-255.0 * low / (high - low), (high - low) / 255.0) if spread else (0.0, 1.0)
    dtype = spec.dtype.numpy.name
    if not is_picture(file):
        loudness = 32768.0 if spec.dtype is DType.S16 else 1.0
        return tensor([file], Recipe(length=int(np.prod(spec.shape)), scale=(loudness,), dtype=dtype))
    layout = spec.data_format
    depth = {"NHWC": 3, "NCHW": 1}.get(layout, 0)
    if len(spec.shape) != 4 or not depth or spec.shape[0] != 1 or spec.shape[depth] not in (1, 3):
        raise RunError(
            f"an image does not fit '{spec.name}', which is {list(spec.shape)} ({spec.data_format})",
            where=where,
            rule="a tensor for an image has a batch of 1, 1 or 3 channels, and the format NHWC or NCHW",
            remedy="convert it to an array: lathe tensor",
        )
    height, width = spec.shape[1:3] if layout == "NHWC" else spec.shape[2:]
    channels = "grey" if spec.shape[depth] == 1 else "RGB"
    recipe = Recipe((height, width), channels=channels, mean=(mean,), scale=(scale,), layout=layout, dtype=dtype)
    return tensor([file], recipe)


def fit(array: Array, spec: TensorSpec, where: Where = Where()) -> Array:  # noqa: B008 (frozen)
    """The array in the type and shape of the tensor; RunError where it does not fit.

    Dimensions of size one may be left out, and a flat array is taken as it is. Sizes that may vary stay what they are.
    """
    shape = array.shape if spec.admits(array.shape) else spec.shape
    flat = array.ndim == 1 and array.size == np.prod(shape)
    if not flat and without_ones(array.shape) != without_ones(shape):
        raise RunError(
            f"shape {list(array.shape)} does not fit '{spec.name}', which is {list(spec.shape)} ({spec.data_format})",
            where=where,
            rule="dimensions of size 1 may be left out; all others are those that the deployment file declares",
            remedy=_other_order(array, spec) or "resize or reshape it; `lathe tensor` converts images and audio",
        )
    if not np.can_cast(array.dtype, spec.dtype.numpy, "same_kind"):
        raise RunError(
            f"type {array.dtype} does not fit '{spec.name}', which is {spec.dtype.numpy}",
            where=where,
            remedy=f"convert it: array.astype('{spec.dtype.numpy}')",
        )
    return np.ascontiguousarray(array, spec.dtype.numpy).reshape(shape)


def _other_order(array: Array, spec: TensorSpec) -> str:
    """The remedy where the array fits in the other order of axes; empty where it does not."""
    turned = {"NCHW": (0, 3, 1, 2), "NHWC": (0, 2, 3, 1)}.get(spec.data_format)
    if turned is None or array.ndim != 4 or tuple(array.shape[axis] for axis in turned) != spec.shape:
        return ""
    return f"it fits as {spec.data_format}: array.transpose{turned}"


def without_ones(shape: Sequence[int]) -> list[int]:
    """The sizes that matter: arrays whose shapes differ in ones hold the same elements in the same order."""
    return [size for size in shape if size != 1]


def check_names(given: Mapping[str, object], specs: Sequence[TensorSpec], what: str = "input") -> None:
    """RunError where `given` names a tensor that there is not."""
    known = [spec.name for spec in specs]
    for name in given:
        if name not in known:
            raise RunError(
                f"the model has no {what} '{name}'",
                rule=f"its {what}s: {', '.join(known)}",
                remedy=did_you_mean(name, known) or f"name one of its {what}s",
            )
