"""The weights that a description is built with: quantised checkpoints of PyTorch, and arrays of tests.

Either is a sequence of `Parameters`, one for each layer with weights, in the order in which layers take them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import ModelFileError, Problem, Where
from buildtool.targets.max7800x.checkpoints import torch_archive

BIAS_SHIFT = 7  # a stored bias counts 128 times
_NPY_MAGIC = b"\x93NUMPY"


@dataclass(frozen=True)
class Parameters:
    """What one layer multiplies by and adds, as a file holds it."""

    name: str  # of the weights in the file
    weights: NDArray[np.int64]  # [out, in / groups, ...]; of a transposed convolution turned and in this order
    bias: NDArray[np.int64] | None = None  # as the accelerator stores it
    output_shift: int = 0
    bits: int | None = None  # None: what the weights need


@dataclass(frozen=True)
class Weights:
    """All parameters of a file."""

    file: str
    parameters: tuple[Parameters, ...]
    arch: str = ""  # that the file is for; empty where it does not say
    of_tests: bool = False  # whether weights are random numbers, which are cut to the bits that are asked for


def is_arrays(path: Path) -> bool:
    """Whether a file holds arrays of NumPy, or none at all."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_NPY_MAGIC)) in (_NPY_MAGIC, b"")
    except OSError:
        return False


def read(path: Path, *, bias: Path | None = None, needed: range | None = None) -> Weights:
    """The weights of a checkpoint, or of a file of arrays with the biases of another. ModelFileError says why not.

    `needed`: the numbers of the parameters that are taken. What is wrong with others does not matter, and their arrays
    may be empty.
    """
    if is_arrays(path):
        return _of_tests(path, bias)
    return _of_checkpoint(path, torch_archive.read(path), needed)


def arrays(path: Path) -> tuple[NDArray[Any], ...]:
    """The arrays of a file that numpy.save was called for once or several times."""
    found: list[NDArray[Any]] = []
    where = Where(file=str(path))
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            while stream.tell() < size:
                found.append(np.lib.format.read_array(stream, allow_pickle=False))
    except OSError as error:
        raise ModelFileError(f"cannot read the file: {error.strerror}", where=where) from None
    except Exception as error:  # its reader lets through whatever a damaged header leads it into
        raise ModelFileError(f"this is not a NumPy array: {error}", where=where) from None
    if any(array.dtype.kind not in "iub" for array in found):
        raise ModelFileError("the file does not contain integers", where=where, rule="arrays of numpy.save, as int64")
    return tuple(found)


def _of_tests(path: Path, bias: Path | None) -> Weights:
    stored = arrays(path)
    weights = tuple(stored[0]) if len(stored) == 1 else stored
    biases = arrays(bias) if bias is not None else ()
    return Weights(
        str(path),
        tuple(
            Parameters(
                f"[{at}]",
                np.asarray(array, np.int64),
                np.asarray(biases[at], np.int64).reshape(-1) if at < len(biases) else None,
            )
            for at, array in enumerate(weights)
            if np.ndim(array) >= 2
        ),
        of_tests=True,
    )


def _of_checkpoint(path: Path, tree: Any, needed: range | None) -> Weights:
    where = Where(file=str(path))
    state = tree.get("state_dict") if isinstance(tree, dict) else None
    if not isinstance(state, dict):
        raise ModelFileError(
            "this file is not a checkpoint: it has no `state_dict`",
            where=where,
            remedy="pass the checkpoint that training and quantisation wrote",
        )
    arch = tree.get("arch")
    named = {key: value for key, value in state.items() if isinstance(key, str) and isinstance(value, np.ndarray)}
    problems: list[tuple[int, Problem]] = []
    found = tuple(_parameters(path, named, problems))
    wrong = [problem for number, problem in problems if needed is None or number in needed]
    if wrong:
        raise ModelFileError(wrong)
    if not found:
        raise ModelFileError("the checkpoint contains no weights", where=where)
    return Weights(str(path), found, arch if isinstance(arch, str) else "")


def _parameters(
    path: Path, state: Mapping[str, NDArray[Any]], problems: list[tuple[int, Problem]]
) -> Iterator[Parameters]:
    """The parameters, and what is wrong with each, by its number. A batch normalisation is part of the one before."""
    count = 0
    for key, weights in state.items():
        stem, _, kind = key.rpartition(".")
        if kind != "weight" or not stem:
            continue
        # `conv1.op.weight` belongs to `conv1`, which has the shift; so does `fc.weight` to `fc`
        parts = stem.rsplit(".", 1)
        layer = parts[0]
        where = Where(file=str(path), value=key)
        if weights.ndim == 1 and parts[-1].startswith("bn"):
            problem = Problem(
                "the batch normalisation is not part of the weights yet",
                where,
                rule="the accelerator has convolutions only",
                remedy=f"{_QUANTISE} --fuse-batch-norm",
            )
            problems.append((max(count - 1, 0), problem))
            continue
        if weights.ndim < 2 or weights.ndim > 4:
            problems.append((count, Problem(f"weights have {weights.ndim} dimensions", where, rule="2 to 4")))
            yield Parameters(key, np.empty(0, np.int64))
        elif what := _not_quantised(weights):
            rule = "quantised weights are integers from -128 to 127"
            problems.append((count, Problem(what, where, rule=rule, remedy=_QUANTISE)))
            yield Parameters(key, np.empty(0, np.int64))
        else:
            yield _one(state, key, layer)
        count += 1


_QUANTISE = "quantise it first: lathe quantize FILE --scheme max7800x"


def _not_quantised(weights: NDArray[Any]) -> str:
    """Why weights cannot be those of a quantised checkpoint; empty where they can."""
    if weights.size == 0:
        return "there are no weights"
    if not np.isfinite(weights).all() or np.any(weights != np.floor(weights)):
        return "the weights are not integers: the checkpoint is not quantised"
    if weights.min() < -128 or weights.max() > 127:
        return f"the weights range from {weights.min():g} to {weights.max():g}"
    return ""


def _one(state: Mapping[str, NDArray[Any]], key: str, layer: str) -> Parameters:
    weights = state[key].astype(np.int64)
    bits = _number(state, f"{layer}.weight_bits")
    stored = state.get(f"{key.removesuffix('weight')}bias")
    bias = None
    if stored is not None:
        # where weights are all zero they have no bits
        bias = np.floor(stored.astype(np.float64) / 2 ** ((bits or 8) - 1)).astype(np.int64).reshape(-1)
    if bits == 0 or (bits is None and not weights.any()):
        bits = 8 if weights.any() else 1
    return Parameters(key, weights, bias, _number(state, f"{layer}.output_shift") or 0, bits)


def _number(state: Mapping[str, NDArray[Any]], key: str) -> int | None:
    value = state.get(key)
    if value is None or value.size != 1 or not np.isfinite(value).all():
        return None
    return int(value.reshape(-1)[0])
