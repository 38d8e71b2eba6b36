"""Emits the nodes that compute, when the model runs, a tensor whose elements depend on run-time dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from buildtool.importers.ratios import Ratio
from buildtool.ir.dims import UNBOUNDED, DimExpr, Symbol, symbols
from buildtool.ir.operator import Array, AttrValue
from buildtool.ir.types import DType
from buildtool.ops.dimensions import MOST, TYPES

_Tensor = TypeVar("_Tensor")


class Maker(Protocol[_Tensor]):
    """What emits nodes and makes constants."""

    def one(self, op: str, *inputs: _Tensor, **attributes: AttrValue) -> _Tensor:
        """The output of a new node."""

    def constant(self, content: Array) -> _Tensor:
        """A tensor with known content."""


def symbols_in(known: Array) -> set[Symbol]:
    """The symbols that the elements depend on."""
    tops = (item.numerator if isinstance(item, Ratio) else item for item in known.reshape(-1))
    return {symbol for item in tops if isinstance(item, DimExpr) for symbol in symbols(item)}


def computed(known: Array, dtype: DType, maker: Maker[_Tensor]) -> _Tensor:
    """The tensor with this content: an array of numbers, dimensions and fractions of dimensions."""
    items = known.reshape(-1)
    if any(isinstance(item, Ratio) for item in items):
        tops = np.empty(known.shape, object)
        tops.reshape(-1)[:] = [item.numerator if isinstance(item, Ratio) else item for item in items]
        bottoms = [item.denominator if isinstance(item, Ratio) else 1 for item in items]
        divisors = maker.constant(np.array(bottoms, dtype.numpy).reshape(known.shape))
        return maker.one("div", computed(tops, dtype, maker), divisors)
    different = list(dict.fromkeys(items))
    sizes = [item for item in different if _is_size(item)]
    others = [item for item in different if not _is_size(item)]
    to = dtype if dtype in TYPES else DType.F32 if dtype is DType.F16 else DType.S64
    chunks = [tuple(sizes[start : start + MOST]) for start in range(0, len(sizes), MOST)]
    parts = [maker.one("dimensions", dims=chunk, to=to) for chunk in chunks]
    if others:
        parts.append(maker.constant(np.array(others, object).astype(to.numpy)))
    result = parts[0] if len(parts) == 1 else maker.one("concat", *parts, axis=0)
    result = result if to is dtype else maker.one("cast", result, to=dtype)
    return _arranged(result, [*sizes, *others], known, maker)


def _is_size(item: Any) -> bool:
    return isinstance(item, DimExpr) or (isinstance(item, int) and 0 <= item <= UNBOUNDED)


def _arranged(listed: _Tensor, items: Sequence[Any], known: Array, maker: Maker[_Tensor]) -> _Tensor:
    """The elements of a list, where the array has them."""
    wanted = list(known.reshape(-1))
    if items != wanted:
        places = {item: place for place, item in enumerate(items)}
        listed = maker.one("gather", listed, maker.constant(np.array([places[item] for item in wanted])), axis=0)
    return listed if known.ndim == 1 else maker.one("reshape", listed, shape=tuple(known.shape))
