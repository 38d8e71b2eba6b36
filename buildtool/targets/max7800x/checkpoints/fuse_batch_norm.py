"""Takes the batch normalisation of a trained checkpoint into the weights and biases in front of it.

In training a normalised layer gives a quarter of what its normalisation says, so that values stay within one: a quarter
of gamma and beta belongs to the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import ModelFileError, Problem, Where
from buildtool.targets.max7800x.checkpoints.quantise_checkpoint import State, state_of

_SHARE = 0.25
_EPSILON = 1e-20
_STATISTICS = ("running_mean", "running_var")
_OWN = (*_STATISTICS, "weight", "bias", "num_batches_tracked")


@dataclass(frozen=True)
class Fused:
    """A checkpoint without batch normalisation."""

    tree: dict[str, Any]
    layers: tuple[str, ...]  # that had one


def fuse(tree: Any, *, arch: str = "", file: str = "") -> Fused:
    """`arch`: the name of the architecture without normalisation, where it has another.

    ModelFileError names every normalisation that belongs to no weights, or does not fit them.
    """
    state = state_of(tree, file)
    norms = [key.removesuffix(".running_mean") for key in state if key.endswith(".running_mean")]
    changed: dict[str, NDArray[Any]] = {}
    problems: list[Problem] = []
    for norm in norms:
        layer = norm.rpartition(".")[0]
        key = _weights_of(state, layer, norm)
        if problem := _refusal(state, norm, key):
            problems.append(Problem(problem, Where(file=file, value=norm)))
        else:
            changed |= _fused(state, norm, key)
    if problems:
        raise ModelFileError(problems)
    gone = {f"{norm}.{name}" for norm in norms for name in _OWN}
    kept: dict[str, NDArray[Any]] = {}
    for key, value in state.items():
        if key in gone:
            continue
        kept[key] = changed.get(key, value)
        bias = f"{key.removesuffix('weight')}bias"
        if key.endswith(".weight") and bias in changed:  # the order of the tensors separates layers
            kept[bias] = changed[bias]
    result = {**tree, "state_dict": kept}
    if arch:
        result["arch"] = arch
    return Fused(result, tuple(norm.rpartition(".")[0] for norm in norms))


def _weights_of(state: State, layer: str, norm: str) -> str:
    """Their name: `conv1.op.weight` for `conv1.bn`; empty where there is none."""
    prefix = f"{layer}." if layer else ""
    names = [
        key
        for key in state
        if key.startswith(prefix) and key.endswith(".weight") and not key.startswith(f"{norm}.")
        and key.removeprefix(prefix).count(".") <= 1 and state[key].ndim > 1
    ]  # fmt: skip
    return names[0] if len(names) == 1 else ""


def _refusal(state: State, norm: str, key: str) -> str:
    if not key:
        return "the weights of this normalisation are ambiguous"
    if any(f"{norm}.{name}" not in state for name in _STATISTICS):
        return "the mean or the variance is missing"
    tensors = [state[f"{norm}.{name}"] for name in (*_STATISTICS, "weight", "bias") if f"{norm}.{name}" in state]
    channels = tensors[0].size
    if any(tensor.shape != (channels,) or not np.isfinite(tensor).all() for tensor in tensors):
        return "its values are not finite, or not one per channel"
    if (state[f"{norm}.running_var"] < 0).any():
        return "a variance is negative"
    if channels not in state[key].shape[:2]:
        return f"it has {channels} channels, and its weights are {' x '.join(map(str, state[key].shape))}"
    return ""


def _fused(state: State, norm: str, key: str) -> dict[str, NDArray[Any]]:
    """The weights and the bias after fusion."""
    weights = state[key].astype(np.float32)
    mean, variance = (state[f"{norm}.{name}"].astype(np.float32) for name in _STATISTICS)
    gamma = state.get(f"{norm}.weight", np.ones_like(mean)).astype(np.float32)
    beta = state.get(f"{norm}.bias", np.zeros_like(mean)).astype(np.float32)
    bias_key = f"{key.removesuffix('weight')}bias"
    bias = state.get(bias_key, np.zeros_like(mean)).astype(np.float32)
    factor = np.float32(_SHARE) * gamma / np.sqrt(variance + np.float32(_EPSILON))
    # Weights of transposed convolutions have the outputs second; where both numbers are the same, they come first.
    axis = 0 if weights.shape[0] == mean.size else 1
    along = [-1 if at == axis else 1 for at in range(weights.ndim)]
    return {
        key: weights * factor.reshape(along),
        bias_key: (bias - mean) * factor + np.float32(_SHARE) * beta,
    }
