"""Turns the weights of a trained checkpoint into whole numbers, by the rules of ai8x-training's tools.

Two generations of rules are in use. Since 2021 every layer has a shift, a power of two chosen from a quantile of its
weights and biases together. Before that one factor was taken, chosen by a clipping method, and layers had no shifts.
Arithmetic is that of single precision, as in those tools: results are the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import ConfigError, ModelFileError, Problem, Where

QUANTILE = "QUANTILE"
METHODS = (QUANTILE, "SCALE", "MAX", "AVGMAX", "AVG", "STDDEV")  # all but the first: of 2020
DEFAULT_BITS = 8
DEFAULT_SCALE = 0.85
DEFAULT_DEVIATIONS = 2.0
WEIGHT_BITS = (1, 2, 4, 8)
_DATA_FACTOR = np.float32(128)  # of values; biases are kept on the scale of sums, so that the network can be evaluated
_LOWEST_SHIFT, _HIGHEST_SHIFT = -7, 23  # less the bits of the weights

Single = NDArray[np.float32]
State = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Rule:
    """How the factor of a layer is found."""

    method: str = QUANTILE
    scale: float = DEFAULT_SCALE  # of SCALE
    deviations: float = DEFAULT_DEVIATIONS  # of STDDEV

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ConfigError(f"there is no clipping method '{self.method}'", rule=f"one of {', '.join(METHODS)}")
        for name, value in (("scale", self.scale), ("number of standard deviations", self.deviations)):
            if not (np.isfinite(value) and value > 0):
                raise ConfigError(f"the {name} is {value}", rule="a number above 0")


@dataclass(frozen=True)
class QuantisedLayer:
    """What became of one layer's weights."""

    name: str
    bits: int
    factor: float
    output_shift: int | None  # None: this rule has none
    clipped: int  # weights and biases that did not fit
    count: int

    def as_json(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Quantised:
    """A checkpoint with whole numbers."""

    tree: dict[str, Any]
    layers: tuple[QuantisedLayer, ...]


def state_of(tree: Any, file: str) -> dict[str, NDArray[Any]]:
    """The tensors of a checkpoint by name. ModelFileError where it has none."""
    state = tree.get("state_dict") if isinstance(tree, dict) else None
    if not isinstance(state, dict):
        raise ModelFileError("this file is not a checkpoint: it has no `state_dict`", where=Where(file=file))
    return {key: value for key, value in state.items() if isinstance(key, str) and isinstance(value, np.ndarray)}


def quantise(tree: Any, rule: Rule, *, bits: Sequence[int | None] = (), file: str = "") -> Quantised:
    """`bits`: of the layers in their order, where they are prescribed; layers behind the last one then stay.

    ModelFileError names all tensors that cannot be quantised.
    """
    state = state_of(tree, file)
    problems = [problem for key, value in state.items() if (problem := _refusal(file, key, value))]
    names = [key for key in state if key.endswith(".weight")]
    if not names and not problems:
        problems.append(Problem("the checkpoint contains no weights", Where(file=file)))
    if problems:
        raise ModelFileError(problems)
    changed = {key: _housekeeping(key, value) for key, value in state.items() if not _dropped(key)}
    layers: list[QuantisedLayer] = []
    for at, key in enumerate(names[: len(bits)] if bits else names):
        layer_bits = _bits(state, key, bits[at] if bits else None, rule, file)
        settings = _Settings(rule, layer_bits, first=at == 0)
        tensors, layer = _quantised(state, key, settings)
        changed |= tensors
        layers.append(layer)
    return Quantised({**tree, "state_dict": changed, "extras": _extras(tree, rule)}, tuple(layers))


@dataclass(frozen=True)
class _Settings:
    """Of one layer."""

    rule: Rule
    bits: int
    first: bool  # whether it reads the input


def _quantised(state: State, key: str, settings: _Settings) -> tuple[dict[str, NDArray[Any]], QuantisedLayer]:
    """The new tensors of a layer, and what to tell of it."""
    operation = key.removesuffix(".weight")
    weights, bias = state[key].astype(np.float32), state.get(f"{operation}.bias")
    bias = None if bias is None else bias.astype(np.float32)
    prefix = layer_name(key)
    if settings.rule.method != QUANTILE:
        return _of_2020(key, weights, bias, settings)
    quantile = state.get(f"{prefix}.shift_quantile")
    both = weights.reshape(-1) if bias is None else np.concatenate((weights.reshape(-1), bias.reshape(-1)))
    power = highest_shift(both, 1.0 if quantile is None else float(quantile.reshape(-1)[0]), settings.bits)
    factor = np.float32(2.0 ** (settings.bits - 1 + power))
    whole, clipped = _whole(weights * factor, settings.bits, lambda values: np.floor(values + np.float32(0.5)))
    tensors: dict[str, NDArray[Any]] = {key: whole, f"{prefix}.output_shift": _number(-power)}
    if not state.get(f"{prefix}.weight_bits", np.zeros(1)).any():
        tensors[f"{prefix}.weight_bits"] = _number(settings.bits)
    if bias is not None:
        added, more = _whole(bias * factor, settings.bits, lambda values: np.floor(values + np.float32(0.5)))
        # The accelerator takes biases of small weights for smaller ones.
        tensors[f"{operation}.bias"] = added * np.float32(2.0 ** (settings.bits - 8)) * _DATA_FACTOR
        tensors[f"{prefix}.bias_bits"] = _number(settings.bits)
        clipped += more
    return tensors, QuantisedLayer(prefix, settings.bits, float(factor), -power, clipped, both.size)


def _of_2020(
    key: str, weights: Single, bias: Single | None, settings: _Settings
) -> tuple[dict[str, NDArray[Any]], QuantisedLayer]:
    power = settings.bits - 1
    if settings.first:
        power -= 1  # pictures were from -0.5 to 0.5 in training
    factor = np.float32(2.0**power) * np.float32(_SATURATION[settings.rule.method](weights, settings.rule))
    whole, clipped = _whole(weights * factor, settings.bits, np.round)
    tensors: dict[str, NDArray[Any]] = {key: whole}
    count = weights.size
    if bias is not None:
        added, more = _whole(bias * factor, settings.bits, np.round)
        tensors[f"{key.removesuffix('weight')}bias"] = added * _DATA_FACTOR
        clipped += more
        count += bias.size
    return tensors, QuantisedLayer(layer_name(key), settings.bits, float(factor), None, clipped, count)


def layer_name(key: str) -> str:
    """`conv1` of `conv1.op.weight`, and `fc` of `fc.weight`."""
    parts = key.rsplit(".", 2)
    return parts[0]


def highest_shift(values: Single, quantile: float, bits: int) -> int:
    """The power of two by which values may grow so that this share of them stays below one."""
    reach = np.quantile(np.abs(values), np.float32(quantile)).astype(np.float32)
    with np.errstate(divide="ignore"):
        power = np.floor(np.log2(np.float32(1) / reach))
    return int(np.clip(power, _LOWEST_SHIFT - bits, _HIGHEST_SHIFT - bits))


def _whole(values: Single, bits: int, rounded: Callable[[Single], Single]) -> tuple[Single, int]:
    """Whole numbers of so many bits, and how many values did not fit. Ends are whole: either order gives the same."""
    lowest, highest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    whole = rounded(values)
    clipped = np.clip(whole, lowest, highest) + np.float32(0)  # no negative zeros
    return clipped.astype(np.float32), int(np.count_nonzero(whole != clipped))


def _largest(weights: Single, rule: Rule) -> float:
    del rule
    return float(np.abs(weights).max())


def _mean_of_largest(weights: Single, rule: Rule) -> float:
    """The mean over the outputs of their smallest weights, or of their largest, whichever is farther from zero."""
    del rule
    rows = weights.reshape(len(weights), -1).astype(np.float64)
    return float(max(abs(rows.min(axis=1).mean()), abs(rows.max(axis=1).mean())))


def _deviations(weights: Single, rule: Rule) -> float:
    """So many standard deviations around the mean, where weights reach as far."""
    values = weights.astype(np.float64)
    reach = rule.deviations * (values.std(ddof=1) if values.size > 1 else 0.0)
    return float(max(abs(max(values.min(), values.mean() - reach)), abs(min(values.max(), values.mean() + reach))))


_SATURATION: Mapping[str, Callable[[Single, Rule], float]] = {
    "SCALE": lambda _, rule: rule.scale,
    "MAX": _largest,
    "AVGMAX": _mean_of_largest,
    "AVG": _mean_of_largest,  # the document of 2020 has this name as well, and says no more of it
    "STDDEV": _deviations,
}


def _bits(state: State, key: str, prescribed: int | None, rule: Rule, file: str) -> int:
    """Those that are prescribed, else those of the checkpoint, else 8."""
    stored = state.get(f"{layer_name(key)}.weight_bits") if rule.method == QUANTILE else None
    held = int(stored.reshape(-1)[0]) if stored is not None and stored.size else 0
    bits = prescribed if prescribed is not None else held or DEFAULT_BITS
    if bits not in WEIGHT_BITS:
        raise ModelFileError(
            f"weights of {bits} bits",
            where=Where(file=file, value=key),
            rule=f"one of {', '.join(map(str, WEIGHT_BITS))}",
            remedy="give `quantization` of the layer in the description",
        )
    return bits


def _refusal(file: str, key: str, value: NDArray[Any]) -> Problem | None:
    place = Where(file=file, value=key)
    kind = key.rpartition(".")[2]
    if kind in ("w_zero_point", "b_zero_point") and value.any():
        return Problem("the zero point is not zero", place, rule="the accelerator has none")
    if kind == "running_var" or (kind == "weight" and value.ndim == 1):
        return Problem("the batch normalisation is not part of the weights yet", place, remedy="--fuse-batch-norm")
    if kind not in ("weight", "bias"):
        return None
    if value.dtype.kind != "f":
        return Problem(f"the values are of {value.dtype}", place, rule="unquantised weights from training")
    if not value.size or not np.isfinite(value).all():
        return Problem("there are no values" if not value.size else "some values are not finite", place)
    return None


def _dropped(key: str) -> bool:
    return key.rpartition(".")[2] in ("w_zero_point", "b_zero_point", "base_b_q")


def _housekeeping(key: str, value: NDArray[Any]) -> NDArray[Any]:
    """What training keeps beside weights: whoever evaluates the result finds the shifts as they are here."""
    kind = key.rpartition(".")[2]
    if kind in ("adjust_output_shift", "quantize_activation"):
        return _number(kind == "quantize_activation")
    return value


def _extras(tree: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    extras = tree.get("extras")
    told: dict[str, Any] = {"clipping_method": "MAX_BIT_SHIFT" if rule.method == QUANTILE else rule.method}
    if rule.method == "SCALE":
        told["clipping_scale"] = rule.scale
    if rule.method == "STDDEV":
        told["clipping_nstds"] = rule.deviations
    return {**(extras if isinstance(extras, dict) else {}), **told}


def _number(value: float) -> Single:
    return np.array([value], np.float32)
