"""Code under a limit of flash: layers share kernels, or have kernels that are compiled for their constants.

Estimates come from code.json, which `python -m tests.bench.micro.code` measures: bytes of kernels, of layers with
kernels of their own, of generated loops by the length of their text, and the instructions that a kernel of its own
saves by product and by element of the output.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.targets.micro.emitting.calls import kernel_of
from buildtool.targets.micro.network import Conv, Defined, Depthwise, DepthwiseNibbles, Layer, Network
from buildtool.targets.micro.processors import PROCESSORS, Processor

#: Kernels that layers may have for themselves.
OWN = ("conv_s8", "depthwise_s8")

_UNMEASURED = 1500  # bytes of a kernel that tests.bench.micro.code does not measure


@dataclass(frozen=True)
class Choice:
    """Layers with code of their own, and what they cost: estimates."""

    own: frozenset[Layer]
    bytes: int  # of code and constants
    smallest: int  # with shared code only
    saved: int  # instructions


def choose(network: Network, processor: Processor, constants: int, limit: int | None) -> Choice | None:
    """The largest saving that was found within a limit; None: not even shared code fits. No limit: shared code."""
    candidates = [layer for layer in network.layers if _may_own(network, layer, processor)]
    smallest = _bytes(network, processor, constants, frozenset())
    best = Choice(frozenset(), smallest, smallest, 0)
    if limit is None:
        return best
    for order in (_by_price, _by_kernel):
        own: set[Layer] = set()
        for group in order(candidates, processor):
            trial = frozenset((*own, *group))
            size = _bytes(network, processor, constants, trial)
            if size > limit:
                continue
            own |= trial
            saved = round(sum(_saved(layer, processor) for layer in own))
            if saved > best.saved:
                best = Choice(frozenset(own), size, smallest, saved)
    return best if smallest <= limit else None


def kind(layer: Layer) -> str:
    """Kernels are faster for some windows already."""
    if not isinstance(layer, Conv):
        return layer.kind
    window = "x".join(str(size) for size in layer.window.kernel)
    special = "3x3" if isinstance(layer, Depthwise) else "1x1"
    return f"{layer.kind} {special}" if window == special else layer.kind


def smallest(network: Network, processor: Processor, constants: int) -> int:
    return _bytes(network, processor, constants, frozenset())


def _by_price(layers: Iterable[Layer], processor: Processor) -> list[list[Layer]]:
    """One after the other, what saves most for a byte first."""
    known = sorted(layers, key=lambda layer: -_saved(layer, processor) / _own_bytes(layer, processor))
    return [[layer] for layer in known]


def _by_kernel(layers: Iterable[Layer], processor: Processor) -> list[list[Layer]]:
    """All layers of a kernel at once, which then is not shared at all; then the others."""
    groups: dict[str, list[Layer]] = {}
    known = list(layers)
    for layer in known:
        groups.setdefault(kernel_of(layer, processor.sets[0]), []).append(layer)
    whole = sorted(groups.values(), key=lambda group: -sum(_saved(layer, processor) for layer in group))
    return [*whole, *_by_price(known, processor)]


def _may_own(network: Network, layer: Layer, processor: Processor) -> bool:
    """The bands of a layer share its constants: they share code."""
    banding = network.banding
    plain = layer not in banding.origins and layer not in banding.twins and not isinstance(layer, DepthwiseNibbles)
    kernel = "" if isinstance(layer, Defined) else kernel_of(layer, processor.sets[0])
    return plain and kernel in OWN and _saved(layer, processor) > 0


def _bytes(network: Network, processor: Processor, constants: int, own: frozenset[Layer]) -> int:
    table = _table(processor)
    shared = {
        kernel_of(layer, processor.sets[0])
        for layer in network.layers
        if layer not in own and not isinstance(layer, Defined)
    }
    found = constants + sum(table["kernels"].get(kernel, _UNMEASURED) for kernel in shared)
    found += sum(_own_bytes(layer, processor) for layer in own)
    found += sum(table["call"] for layer in network.layers if layer not in own)
    loops = [len(layer.function.text) for layer in network.layers if isinstance(layer, Defined)]
    return round(float(found + table["loops"] * sum(loops)))


def _own_bytes(layer: Layer, processor: Processor) -> int:
    return int(_table(processor)["own"][kernel_of(layer, processor.sets[0])])


def _saved(layer: Layer, processor: Processor) -> float:
    by_product, by_element = _table(processor)["saved"].get(kind(layer), (0.0, 0.0))
    return float(by_product * layer.macs + by_element * layer.output.elements)


def _table(processor: Processor) -> Mapping[str, Any]:
    """Of a processor; where no compiler is, that of one with the same kernels."""
    tables = _tables()
    same = next(each.name for each in PROCESSORS.values() if each.sets == processor.sets and each.name in tables)
    found: Mapping[str, Any] = tables.get(processor.name, tables[same])
    return found


@functools.cache
def _tables() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("code.json").read_text())
    return found
