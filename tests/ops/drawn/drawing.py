"""Draws different things of one kind, the same ones every time."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

Item = TypeVar("Item")


class _NoConstants(HypothesisProvider):
    """Draws no numbers that hypothesis read in our modules, which are others after every import."""

    def _maybe_draw_constant(self, *_: object, **__: object) -> None:
        return None


AVAILABLE_PROVIDERS["no-constants"] = _NoConstants


def distinct(name: str, strategy: st.SearchStrategy[Item], count: int, key: Callable[[Item], str]) -> list[Item]:
    """So many of them, of which no two have one key; `name` says which."""
    found: dict[str, Item] = {}

    def collect(item: Item) -> None:
        if len(found) < count:
            found.setdefault(key(item), item)

    for attempt in range(20):  # hypothesis likes to draw once more what it has drawn before
        if len(found) == count:
            break
        options = settings(
            backend="no-constants",
            max_examples=count,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        seed(zlib.crc32(f"{name} {attempt}".encode()))(options(given(strategy)(collect)))()
    return list(found.values())
