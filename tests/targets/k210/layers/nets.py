"""Networks as TensorLayer's users describe them, with drawn weights, and TensorLayer's files of these."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np

from buildtool.ir.operator import Array
from buildtool.targets.k210 import layers as tl
from buildtool.targets.k210.layers.layer import Slot


def branched() -> tl.Model:
    """Every kind of layer, and several outputs."""
    x = tl.Input((None, 20, 16, 3), name="picture")
    y = tl.Conv2d(8, (3, 3), (2, 2), bias=False, name="conv")(x)
    y = tl.BatchNorm(act="relu6", name="norm")(y)
    y = tl.BatchNorm(act="relu", name="norm2")(tl.DepthwiseConv2d((3, 3), name="depth")(y))
    one = tl.Conv2d(8, (1, 1), padding="VALID", act="leaky_relu", name="one")(y)
    other = tl.Activation("leaky_relu", 0.1)(tl.Conv2d(8, (1, 1), name="other")(y))
    joined = tl.Concat()([tl.Add(act="relu", name="sum")(one, other), one])
    pooled = tl.MaxPool2d((2, 2), (2, 2), name="pooled")(joined)
    wide = tl.UpSampling2d((2, 2))(pooled)
    means = tl.MeanPool2d((3, 3), (2, 2))(tl.ZeroPad2d(((1, 0), (0, 1)))(wide))
    flat = tl.Dropout(0.8)(tl.Flatten()(means))
    probabilities = tl.Dense(10, act="softmax", name="probabilities")(flat)
    pixel = tl.Reshape((-1, 1, 1, 16))(tl.GlobalMeanPool2d()(pooled))
    scores = tl.Flatten(name="scores")(tl.Conv2d(4, (1, 1), name="scorer")(pixel))
    largest = tl.GlobalMaxPool2d(name="largest")(pooled)
    return tl.Model(x, [probabilities, scores, largest, pooled], "branched")


def drawn(slots: tuple[Slot, ...], seed: int = 0) -> list[Array]:
    """Weights that keep the spread of numbers."""
    rng = np.random.default_rng(seed)
    arrays = []
    for slot in slots:
        if slot.role in ("moving_var", "gamma"):
            array = rng.uniform(0.5, 1.5, slot.shape)
        else:
            fan = np.prod(slot.shape[:-1]) if len(slot.shape) > 1 else 20.0
            array = rng.normal(0, np.sqrt(2 / fan), slot.shape)
        arrays.append(array.astype(np.float32))
    return arrays


def pictures(count: int, shape: tuple[int, ...] = (20, 16, 3), seed: int = 1) -> Array:
    return np.random.default_rng(seed).uniform(0, 1, (count, *shape)).astype(np.float32)


# -- files as TensorLayer writes them ----------------------------------------------------------------------------------
def write_list(file: Path, arrays: list[Array]) -> None:
    """`save_npz`: a list, which NumPy pickles where shapes differ."""
    whole = np.empty(len(arrays), object)
    whole[:] = arrays
    np.savez(file, params=whole)


def write_names(file: Path, slots: tuple[Slot, ...], arrays: list[Array]) -> None:
    """`save_npz_dict`."""
    save(file, {f"{slot.name}:0": array for slot, array in zip(slots, arrays, strict=True)})


def save(file: Path, arrays: Mapping[str, Array]) -> None:
    np.savez(file, **arrays)  # type: ignore[arg-type]  # what NumPy calls its own argument is not among the names


def write_hdf5(file: Path, layers: tuple[str, ...], slots: tuple[Slot, ...], arrays: list[Array]) -> None:
    """`save_weights`: layers without weights are groups, too."""
    with h5py.File(file, "w") as made:
        made.attrs["layer_names"] = [name.encode() for name in layers]
        for name in layers:
            group = made.create_group(name)
            mine = [(f"{slot.name}:0", array) for slot, array in zip(slots, arrays, strict=True) if slot.layer == name]
            group.attrs["weight_names"] = [weight.encode() for weight, _ in mine]
            for weight, array in mine:
                group.create_dataset(weight, data=array)
