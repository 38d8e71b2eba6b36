"""What a search may choose: arguments of the function that makes a network, and the bits of its layers.

An architecture in a model file names them: `models = [{"name": "net", "search": {"width": [8, 16], "depth": [1, 2]}}]`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from buildtool.errors import ConfigError, Where
from buildtool.training.rules import WEIGHT_BITS

Choices = Mapping[str, tuple[Any, ...]]
_RULE = '`"search": {"width": [8, 16, 32], "depth": [1, 2, 3]}`: arguments of the function, each with its values'
_MUTATED = 0.2  # of what a candidate consists of, changes from one generation to the next


@dataclass(frozen=True)
class Candidate:
    """A network of the space. Equal candidates give equal results."""

    arguments: Mapping[str, Any]
    bits: Mapping[str, int] = field(default_factory=dict)  # of layers, by their names

    @property
    def key(self) -> str:
        return json.dumps([dict(sorted(self.arguments.items())), dict(sorted(self.bits.items()))])


def read(entry: Mapping[str, Any], where: Where) -> Choices:
    """The space of an architecture of a model file; empty where it names none."""
    space = entry.get("search", {})
    if not isinstance(space, Mapping):
        raise ConfigError(f"`search` cannot be {space!r}", where=where, rule=_RULE)
    for name, values in space.items():
        good = isinstance(values, list | tuple) and len(values) > 0
        if not good or not all(isinstance(value, bool | int | float | str) for value in values):
            raise ConfigError(f"`search` cannot have {values!r} for '{name}'", where=where, rule=_RULE)
        if len(set(values)) != len(values):
            raise ConfigError(f"`search` names a value of '{name}' twice: {values!r}", where=where)
    return {str(name): tuple(values) for name, values in space.items()}


def bits_of(text: str) -> tuple[int, ...]:
    """`8,4,2`: the bits that a search may choose."""
    try:
        found = tuple(int(word) for word in text.split(","))
    except ValueError:
        found = ()
    if not found or any(bits not in WEIGHT_BITS for bits in found) or len(set(found)) != len(found):
        raise ConfigError(f"--weight-bits cannot be '{text}'", rule="some of 8, 4, 2 and 1, such as 8,4,2")
    return tuple(sorted(found, reverse=True))


def drawn(choices: Choices, rng: np.random.Generator) -> dict[str, Any]:
    """Arguments at random."""
    return {name: values[int(rng.integers(len(values)))] for name, values in choices.items()}


def drawn_bits(
    layers: Sequence[str], known: Mapping[str, int], allowed: Sequence[int], rng: np.random.Generator
) -> dict[str, int]:
    """Bits of every layer: those that are known, others at random."""
    return {layer: known[layer] if layer in known else int(rng.choice(allowed)) for layer in layers}


def child(one: Candidate, other: Candidate, choices: Choices, allowed: Sequence[int], rng: np.random.Generator) -> Any:
    """Arguments and known bits that come from either parent; some of them change."""
    arguments = {
        name: drawn({name: values}, rng)[name]
        if rng.random() < _MUTATED
        else (one if rng.random() < 0.5 else other).arguments[name]
        for name, values in choices.items()
    }
    bits: dict[str, int] = {}
    for layer in sorted({*one.bits, *other.bits}):
        parent = one if (rng.random() < 0.5 and layer in one.bits) or layer not in other.bits else other
        bits[layer] = int(rng.choice(allowed)) if rng.random() < _MUTATED else parent.bits[layer]
    return arguments, bits


@dataclass(frozen=True)
class Option:
    """A layer with so many bits: what it costs."""

    bits: int
    size: int  # bytes
    loss: float


def cheapest(layers: Mapping[str, Sequence[Option]], budget: int, keep: int = 1) -> list[dict[str, int]]:
    """Bits for every layer with the least sum of losses whose bytes are at most the budget: exact, by dynamic
    programming over all sums of bytes. With `keep`, also the next best of other sizes. Empty where nothing fits.
    """
    front: list[tuple[int, float, tuple[int, ...]]] = [(0, 0.0, ())]
    least = [min(option.size for option in options) for options in layers.values()]
    rest = sum(least)
    for options, own in zip(layers.values(), least, strict=True):
        rest -= own
        grown = sorted(
            (size + option.size, loss + option.loss, (*chosen, option.bits))
            for size, loss, chosen in front
            for option in options
            if size + option.size + rest <= budget
        )
        front = []
        for state in grown:
            if not front or state[1] < front[-1][1]:
                front.append(state)
    best = sorted(front, key=lambda state: (state[1], state[0]))[:keep]
    return [dict(zip(layers, chosen, strict=True)) for _, _, chosen in best]
