"""What reports tell of a model."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from buildtool.targets.micro import costs, short_packing
from buildtool.targets.micro.budget import Choice, Search
from buildtool.targets.micro.network import (
    Conv,
    ConvShort,
    CurveShort,
    Defined,
    Dense,
    Gather,
    Keep,
    Layer,
    Lstm,
    Network,
    Softmax,
    SoftmaxShort,
    SvdfFilters,
    SvdfTimes,
    Table,
)
from buildtool.targets.micro.packing import interleaved, packed
from buildtool.targets.micro.processors import Processor
from buildtool.targets.protocol import Figure, FirmwareModel


def of_model(network: Network, search: Search, processor: Processor) -> FirmwareModel:
    """Constants in flash, memory, and what less memory would cost. The bands of a layer are one row."""
    kernel_set, found = processor.sets[0], search.found
    assert found is not None
    rows: dict[Layer, dict[str, Any]] = {}
    for layer, (_, used) in zip(network.layers, found.plan.timeline, strict=True):
        origin = network.origin(layer)
        row = rows.setdefault(origin, _row(origin, kernel_set))
        if layer is not origin:
            row["bands"] = row.get("bands", 0) + (not isinstance(layer, Keep))
        row["ram_bytes"] = max(row["ram_bytes"], used)
        row["macs"] += layer.macs
        row["estimated_instructions"] += round(costs.instructions(layer, kernel_set))
    return FirmwareModel(
        network.name,
        network.macs,
        sum(row["constant_bytes"] for row in rows.values()),
        dict(sorted(Counter(layer.kind for layer in rows).items())),
        (Figure("arena_bytes", "RAM of tensors and work buffers", found.plan.size, "bytes"),),
        {
            "arena_bytes": found.plan.size,
            "kernels": kernel_set,
            "estimated_instructions": found.instructions,
            "layers": list(rows.values()),
            "bands": [asdict(stretch) for stretch in found.stretches],
            "budgets": [_offer(offer) for offer in search.offers],
        },
    )


def _row(layer: Layer, kernel_set: str) -> dict[str, Any]:
    return {
        "layer": layer.name,
        "operation": layer.kind,
        "output": list(layer.output.shape),
        "macs": 0,
        "constant_bytes": constant_bytes(layer, kernel_set),
        "ram_bytes": 0,
        "estimated_instructions": 0,
    }


def _offer(offer: Choice) -> dict[str, Any]:
    return {
        "ram_bytes": offer.plan.size,
        "estimated_instructions": offer.instructions,
        "bands": [asdict(stretch) for stretch in offer.stretches],
    }


def constant_bytes(layer: Layer, kernel_set: str) -> int:
    """Bytes of flash that the constants of a layer take up."""
    if isinstance(layer, (Conv, Dense)):
        return packed(layer, kernel_set).bytes
    if isinstance(layer, Lstm):
        return sum(array.nbytes for array in interleaved(layer, kernel_set))
    if isinstance(layer, SvdfFilters):
        return layer.weights.nbytes + 4 * len(layer.weights)
    if isinstance(layer, SvdfTimes):
        return layer.times.nbytes + layer.bias.nbytes
    if isinstance(layer, Gather):
        return layer.places.nbytes
    if isinstance(layer, Defined):
        return sum(array.nbytes for array in layer.function.arrays)
    if isinstance(layer, ConvShort):
        return short_packing.packed(layer).bytes
    if isinstance(layer, CurveShort | SoftmaxShort):
        return sum(array.nbytes for array in short_packing.tables(layer))
    if isinstance(layer, Table):
        return layer.table.nbytes
    return layer.exponentials.nbytes if isinstance(layer, Softmax) else 0
