"""Policies of quantisation-aware training: the YAML files of ai8x-training."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from buildtool.errors import ConfigError, Problem, Where
from buildtool.training.rules import WEIGHT_BITS
from buildtool.wording import did_you_mean
from buildtool.yaml_marks import place_of, plain_data, read_yaml

_WIDE = 16  # bits that weights of the K210 may have


@dataclass(frozen=True)
class Policy:
    """When quantisation begins, and what it does to each layer."""

    start_epoch: int = 10
    weight_bits: int = 8
    shift_quantile: float = 1.0  # the share of the weights that the shift keeps below one
    outlier_removal_z_score: float = 8.0  # weights farther from the mean, in standard deviations, are cut off
    overrides: Mapping[str, int] = field(default_factory=dict)  # bits, by the name of a layer

    def bits_of(self, layer: str) -> int:
        return self.overrides.get(layer, self.weight_bits)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 7 else None


def _bits(value: Any) -> int | None:
    found = _whole(value)
    return found if found in (*WEIGHT_BITS, _WIDE) else None


def _positive(value: Any) -> float | None:
    try:
        found = float(value) if isinstance(value, str) else 0.0
    except ValueError:
        return None
    return found if 0 < found < math.inf else None


def _share(value: Any) -> float | None:
    found = _positive(value)
    return found if found is not None and found <= 1 else None


_BITS_RULE = "1, 2, 4 or 8; for the K210 8 or 16"
_KEYS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "start_epoch": (_whole, "an integer from 0 on"),
    "weight_bits": (_bits, _BITS_RULE),
    "shift_quantile": (_share, "a number above 0, at most 1"),
    "outlier_removal_z_score": (_positive, "a number above 0"),
    "overrides": (lambda value: value if isinstance(value, dict) else None, "layers by name, each with `weight_bits`"),
}


def read(file: Path) -> Policy:
    """The policy of a file. ConfigError names everything that is wrong in it."""
    document = read_yaml(file, environment={})
    if document.problems:
        raise ConfigError(list(document.problems))
    data = plain_data(document.root)
    problems: list[Problem] = []
    if not isinstance(data, dict):
        raise ConfigError("a policy is a mapping", where=Where(file=str(file)), rule=f"keys: {', '.join(_KEYS)}")

    def refuse(location: tuple[str, ...], what: str, rule: str, remedy: str = "") -> None:
        problems.append(Problem(what, place_of(document.root, location), rule, remedy))

    found: dict[str, Any] = {}
    for key, value in data.items():
        if key not in _KEYS:
            refuse((key,), f"a policy has no key '{key}'", f"keys: {', '.join(_KEYS)}", did_you_mean(key, _KEYS))
            continue
        found[key] = _KEYS[key][0](value)
        if found[key] is None:
            refuse((key,), f"`{key}` cannot be {'empty' if value is None else repr(value)}", _KEYS[key][1])
    bits: dict[str, int] = {}
    for layer, settings in (found.get("overrides") or {}).items():
        own = _bits(settings.get("weight_bits")) if isinstance(settings, dict) and len(settings) == 1 else None
        if own is None:
            refuse(("overrides", layer), f"the override of '{layer}' is not understood", f"`weight_bits`: {_BITS_RULE}")
        else:
            bits[layer] = own
    if problems:
        raise ConfigError(problems)
    return Policy(**{**found, "overrides": bits})


def text(bits: Mapping[str, int], start_epoch: int, shift_quantile: float, size: int) -> str:
    """The file of a policy that a search found."""
    lines = [
        f"# {size} bytes of weights and biases. Found by `lathe train search`.",
        f"start_epoch: {start_epoch}",
        f"weight_bits: {max(bits.values())}",
        f"shift_quantile: {shift_quantile}",
        "overrides:",
        *(f"  {layer}:\n    weight_bits: {count}" for layer, count in bits.items()),
    ]
    return "\n".join(lines) + "\n"


def check_layers(policy: Policy, layers: Sequence[str], file: str) -> None:
    """ConfigError where a policy names a layer that the network does not have."""
    problems = [
        Problem(
            f"the network has no layer '{layer}'",
            Where(file=file, value="overrides"),
            f"its layers with weights: {', '.join(layers)}",
            did_you_mean(layer, layers),
        )
        for layer in policy.overrides
        if layer not in layers
    ]
    if problems:
        raise ConfigError(problems)
