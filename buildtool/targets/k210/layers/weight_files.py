"""Weights from files that TensorLayer writes: `.npz` (a list of arrays, or arrays with names) and `.h5`."""

from __future__ import annotations

import difflib
import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from buildtool import archives
from buildtool.errors import ConfigError, LatheError, ModelFileError, Problem, Where
from buildtool.importers.keras.hdf5 import Hdf5
from buildtool.ir.operator import Array
from buildtool.targets.k210.layers import pickled
from buildtool.targets.k210.layers.layer import Slot

BY_NAMES, IN_ORDER = "names", "order"
_LIST = "params"  # what TensorLayer calls a list in a .npz
_MOST = 1 << 30  # bytes of all arrays: far more than the chip's memory
_HDF5 = b"\x89HDF\r\n\x1a\n"
#: What earlier versions of TensorLayer, and Keras, call an array.
_ALIASES = {
    "filters": ("w_conv2d", "w_depthwise2d", "kernel", "depthwise_kernel"),
    "weights": ("w", "kernel"),
    "biases": ("b_conv2d", "b_depthwise2d", "b", "bias"),
    "moving_var": ("moving_variance",),
}
_KERAS = {"beta": "gamma", "gamma": "beta"}


def load(slots: Sequence[Slot], file: Path, model: str) -> tuple[str, dict[Slot, Array]]:
    """How arrays were found (BY_NAMES or IN_ORDER), and the arrays. ModelFileError lists all that is wrong."""
    where = Where(file=str(file), model=model)
    try:
        data = file.read_bytes()
    except OSError as problem:
        raise ConfigError(f"the weights cannot be read: {problem.strerror}", where=where) from None
    if data.startswith(_HDF5):
        found: Mapping[str, Array] | list[Array] = _hdf5(data, where)
    elif data.startswith(b"PK"):
        found = _npz(data, where)
    else:
        raise ModelFileError(
            "this is not a weight file",
            where=where,
            rule="a .npz (save_npz, save_npz_dict) or a .h5 (save_weights) of TensorLayer",
            remedy="save the weights with model.save_weights(file, format='npz_dict')",
        )
    if isinstance(found, list):
        return IN_ORDER, in_order(slots, found, where)
    named = _named(slots, found)
    if len(named) == len(slots):
        return BY_NAMES, _checked(slots, [named[slot] for slot in slots], where)
    if named:
        raise ModelFileError(_missing(slots, named, found, where))
    return IN_ORDER, in_order(slots, list(found.values()), where)


def in_order(slots: Sequence[Slot], arrays: Sequence[Array], where: Where) -> dict[Slot, Array]:
    """One array for each slot."""
    if len(arrays) != len(slots):
        shapes = ", ".join(f"{slot.name} {list(slot.shape)}" for slot in slots[:8])
        raise ModelFileError(
            f"there are {len(arrays)} arrays",
            where=where,
            rule=f"the model has {len(slots)}: {shapes}{', ...' if len(slots) > 8 else ''}",
            remedy="describe the network that the weights were trained with, layer by layer; Conv2d(bias=False) has "
            "no biases",
        )
    return _checked(slots, arrays, where)


def in_order_of_keras(slots: Sequence[Slot]) -> list[Slot]:
    """gamma in front of beta."""
    known = {(slot.layer, slot.role): slot for slot in slots}
    return [known[slot.layer, _KERAS.get(slot.role, slot.role)] for slot in slots]


def _checked(slots: Sequence[Slot], arrays: Sequence[Array], where: Where) -> dict[Slot, Array]:
    found: dict[Slot, Array] = {}
    problems = []
    for slot, given in zip(slots, arrays, strict=True):
        array = np.asarray(given)
        place = Where(file=where.file, model=where.model, node=slot.layer, value=slot.name)
        if len(slot.shape) == 1 and array.size == slot.shape[0]:
            array = array.reshape(-1)  # TensorLayer keeps statistics of pictures as [1, 1, 1, channels]
        if array.dtype.kind not in "fiu":
            problems.append(Problem(f"it is an array of {array.dtype}", place, "weights are numeric"))
        elif array.shape != slot.shape:
            rule = f"the layer has {list(slot.shape)}"
            remedy = "is it the network that the weights were trained with, in the same order?"
            problems.append(Problem(f"the array has the shape {list(array.shape)}", place, rule, remedy))
        elif not np.isfinite(array).all():
            problems.append(Problem("it contains NaN or infinity", place, "weights are finite"))
        else:
            found[slot] = np.asarray(array, np.float32)
    if problems:
        raise ModelFileError(problems)
    return found


# -- names -------------------------------------------------------------------------------------------------------------
def _named(slots: Sequence[Slot], arrays: Mapping[str, Array]) -> dict[Slot, Array]:
    """Those that the file has by a name."""
    plain = {_plain(name): array for name, array in arrays.items()}
    found = {}
    for slot in slots:
        for role in (slot.role, *_ALIASES.get(slot.role, ())):
            if (name := f"{slot.layer}/{role}".lower()) in plain:
                found[slot] = plain[name]
                break
    return found


def _plain(name: str) -> str:
    """As `layer/role`: TensorFlow numbers the outputs of what holds a variable."""
    return name.removesuffix(":0").lower()


def _missing(
    slots: Sequence[Slot], named: Mapping[Slot, Array], arrays: Mapping[str, Array], where: Where
) -> list[Problem]:
    problems = []
    for slot in slots:
        if slot in named:
            continue
        near = difflib.get_close_matches(slot.name, [_plain(name) for name in arrays], n=1)
        remedy = f"did you mean '{near[0]}'? Use that name." if near else "name the layers as in TensorLayer"
        place = Where(file=where.file, model=where.model, node=slot.layer, value=slot.name)
        problems.append(Problem(f"there is no '{slot.name}' {list(slot.shape)}", place, remedy=remedy))
    return problems


# -- files -------------------------------------------------------------------------------------------------------------
def _npz(data: bytes, where: Where) -> dict[str, Array] | list[Array]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            archives.verify(archive, len(data))
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > _MOST:
                raise ValueError(f"its arrays have more than {_MOST} bytes")
            content = {entry.filename.removesuffix(".npy"): archive.read(entry) for entry in entries}
        if list(content) == [_LIST]:
            return _list(content[_LIST])
        return {name: _one(part) for name, part in content.items()}
    except Exception as problem:  # NumPy, zipfile and pickle let through whatever a damaged file leads them into
        raise ModelFileError(
            f"the .npz cannot be read: {type(problem).__name__}: {problem}",
            where=where,
            remedy="save the weights again",
        ) from problem


def _list(content: bytes) -> list[Array]:
    """Arrays of one shape are stacked by NumPy, others pickled."""
    try:
        return list(_one(content))
    except ValueError:
        return pickled.read(io.BytesIO(content))


def _one(content: bytes) -> Array:
    source = io.BytesIO(content)
    version = np.lib.format.read_magic(source)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = reader(source)
    if math.prod(shape) * dtype.itemsize > len(content) or dtype.hasobject:
        raise ValueError(f"an array of {dtype} {list(shape)} in {len(content)} bytes")
    array: Array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    return array


def _hdf5(data: bytes, where: Where) -> dict[str, Array]:
    """`layer_names` of the file names groups, `weight_names` of a group its datasets."""
    try:
        file = Hdf5(io.BytesIO(data), where)
        found: dict[str, Array] = {}
        for layer in file.root.texts("layer_names"):
            group = file.root.group(layer)
            for name in group.texts("weight_names") if group is not None else ():
                dataset = group.dataset(name) if group is not None else None
                if dataset is not None:
                    found[name] = dataset.array()
        file.close()
    except LatheError as problem:
        told = [Problem(one.what, one.where, one.rule, "save the weights again") for one in problem.problems]
        raise ModelFileError(told) from problem
    if not found:
        raise ModelFileError(
            "the file has no weights",
            where=where,
            rule="its 'layer_names' name groups, whose 'weight_names' name arrays",
            remedy="save them with TensorLayer's model.save_weights(file)",
        )
    return found
